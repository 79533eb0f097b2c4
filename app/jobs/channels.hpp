// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/io/source.hpp"
#include "app/jobs/input_options.hpp"

namespace papfft::app {

/// Signals that are read side by side: the rows of .npy files, the channels of a sound, or several files.
class Channels {
 public:
  Channels() = default;
  /// @param paths  opened one after another as `input` says
  /// @param apart  each channel of a sound by itself, instead of their mean (unless input.channel names one)
  /// @throws io::DataError, UsageError
  Channels(const InputOptions& input, const std::vector<std::string>& paths, bool apart);

  [[nodiscard]] std::size_t size() const { return channels_.size(); }
  /// "a.wav", "a.wav and b.wav"
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_complex() const;       ///< any of them
  [[nodiscard]] bool any_order() const;        ///< false: one is a pipe
  [[nodiscard]] bool two_dimensional() const;  ///< a file has rows, if only one
  /// Of the longest; nothing: some length is known at its end only.
  [[nodiscard]] std::optional<std::uint64_t> length() const;
  [[nodiscard]] bool equally_long() const;
  /// 0: unknown. @throws UsageError  the files differ
  [[nodiscard]] double sample_rate_hz() const;

  /// Ends all pipes here and now, from any thread (io::Source).
  void give_up() const noexcept {
    for (const Channel& channel : channels_) channel.source->give_up();
  }
  [[nodiscard]] bool given_up() const noexcept {
    return std::ranges::any_of(channels_, [](const Channel& c) { return c.source->given_up(); });
  }

  /// Reads samples of one channel from `first` on; zeros beyond its end.
  /// @return how many there were. @throws io::DataError
  template <typename Sample>
  std::size_t read(std::size_t channel, std::uint64_t first, std::span<Sample> out) {
    const Channel& from = channels_[channel];
    std::span<Sample> there = out;
    if (from.length) {
      const std::uint64_t left = *from.length - std::min(first, *from.length);
      there = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(left, out.size())));
    }
    const std::size_t got = there.empty() ? 0 : from.source->read(from.offset + first, there);
    std::ranges::fill(out.subspan(got), Sample{});
    return got;
  }

 private:
  struct Channel {
    std::shared_ptr<io::Source> source;
    std::uint64_t offset = 0;  // samples of the source before it
    std::optional<std::uint64_t> length;
  };
  void add(const InputOptions& input, const std::string& path, bool apart);

  std::vector<Channel> channels_;
  std::string name_;
};

}  // namespace papfft::app
