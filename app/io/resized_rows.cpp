// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>
#include <vector>

#include "app/io/source.hpp"

namespace papfft::app::io {
namespace {

class ResizedRows final : public Source {
 public:
  ResizedRows(std::shared_ptr<Source> source, SignalInfo info)
      : Source(source->name(), std::move(info)), source_(std::move(source)) {}

  void give_up() noexcept override { source_->give_up(); }
  [[nodiscard]] bool given_up() const noexcept override { return source_->given_up(); }

 private:
  std::size_t read_components(std::uint64_t first, Components out) override {
    return read_samples(out, [&](auto samples) { return read_rows(first, samples); });
  }

  template <typename Sample>
  std::size_t read_rows(std::uint64_t first, std::span<Sample> out) {
    const std::uint64_t length = *info().length;
    const std::uint64_t stored = *source_->info().length;
    std::size_t done = 0;
    while (done < out.size()) {
      const std::uint64_t row = (first + done) / length;
      const std::uint64_t begin = (first + done) % length;
      const std::span<Sample> part = out.subspan(
          done, static_cast<std::size_t>(std::min<std::uint64_t>(length - begin, out.size() - done)));
      const auto there =
          static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), stored - std::min(begin, stored)));
      const std::size_t got = source_->read<Sample>(row * stored + begin, part.first(there));
      if (got < there) return done + got;  // the input ends
      std::ranges::fill(part.subspan(there), Sample{});
      done += part.size();
      if (!info().any_order && begin + part.size() == length && length < stored) {
        pass_over<Sample>(row * stored + length, stored - length);
      }
    }
    return done;
  }

  /// What a pipe has and nobody wants.
  template <typename Sample>
  void pass_over(std::uint64_t first, std::uint64_t count) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 16U;
    std::vector<Sample> rest(std::min(kMost, count));
    for (std::uint64_t done = 0; done < count;) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kMost, count - done));
      const std::size_t got = source_->read<Sample>(first + done, std::span(rest).first(wanted));
      if (got == 0) return;
      done += got;
    }
  }

  std::shared_ptr<Source> source_;
};

}  // namespace

std::unique_ptr<Source> resize_rows(std::shared_ptr<Source> source, std::uint64_t length) {
  SignalInfo info = source->info();
  info.length = length;
  if (!info.shape.empty()) info.shape.back() = length;
  return std::make_unique<ResizedRows>(std::move(source), std::move(info));
}

}  // namespace papfft::app::io
