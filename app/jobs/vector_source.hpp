// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/io/errors.hpp"
#include "app/io/source.hpp"
#include "app/jobs/row_reader.hpp"
#include "fft/engines/stream_fft.hpp"

namespace papfft::app {

/// Vectors of one length, one after another: from memory, or from an input that is read while they are worked on. It lives at
/// the root.
///
/// An input that cannot be read to its end ends there: the vectors before count, as they may have taken days to come.
template <typename Sample>
class VectorSource {
 public:
  /// Vectors one after another in memory.
  struct Run {
    fft::Offer<Sample> offer;  ///< the first
    std::size_t rows = 0;
  };
  /// Whether somebody wants the source to end.
  using Stop = std::function<bool()>;

  VectorSource(std::vector<Sample> samples, std::uint64_t length, Stop stop)
      : length_(length), stop_(std::move(stop)), samples_(std::move(samples)), all_(samples_) {}
  /// @param samples  somebody else's, which must outlive this object
  VectorSource(std::span<const Sample> samples, std::uint64_t length, Stop stop)
      : length_(length), stop_(std::move(stop)), all_(samples) {}
  /// @param first  vectors before this one are passed over; the input must have them
  VectorSource(std::shared_ptr<io::Source> input, std::uint64_t length, std::uint64_t first, Stop stop)
      : length_(length), stop_(std::move(stop)), reader_(std::in_place, std::move(input), length, first) {}

  /// The next vectors, at least one if there is any.
  /// @param patience  how long to wait for one, before the offer is `later`. @param most  no more vectors than so many
  Run next_run(std::chrono::milliseconds patience, std::size_t most) {
    using Offer = fft::Offer<Sample>;
    if (stop_() || failure_) return {Offer::end()};
    if (!reader_) {
      const std::uint64_t rows = std::min<std::uint64_t>(most, all_.size() / length_ - given_);
      if (rows == 0) return {Offer::end()};
      return {Offer::of(all_.data() + std::exchange(given_, given_ + rows) * length_, true), rows};
    }
    typename RowReader<Sample>::Next next;
    try {
      next = reader_->next(patience, most);
    } catch (const io::DataError&) {
      failure_ = std::current_exception();
    }
    if (next.state == RowReader<Sample>::State::later) return {Offer::later()};
    if (next.state == RowReader<Sample>::State::end) {
      ended_ = true;
      return {Offer::end()};
    }
    return {Offer::of(next.row), next.count};
  }

  fft::Offer<Sample> next(std::chrono::milliseconds patience) {
    const fft::Offer<Sample> offer = next_run(patience, 1).offer;
    if (keeps_first_ && reader_ && samples_.empty() && offer.vector != nullptr) {
      samples_.assign(offer.vector, offer.vector + length_);
    }
    return offer;
  }

  /// From now on next() keeps a copy of the first vector that is read.
  void keep_first() { keeps_first_ = true; }
  /// nullptr: none was kept, or the samples are somebody else's. The samples of a source in memory follow one another from here on.
  [[nodiscard]] const Sample* first() const { return samples_.empty() ? nullptr : samples_.data(); }

  /// The input has ended, or could not be read on: nobody has stopped it.
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }
  /// Samples that did not fill a vector, and those that are no finite numbers: of an input that is read.
  [[nodiscard]] std::uint64_t left_over() const { return reader_ ? reader_->left_over().size() : 0; }
  [[nodiscard]] std::uint64_t non_finite() const { return reader_ ? reader_->non_finite() : 0; }

 private:
  std::uint64_t length_;
  Stop stop_;
  std::vector<Sample> samples_;  // all, or the first vector
  std::span<const Sample> all_;  // of a source in memory
  std::uint64_t given_ = 0;      // vectors of these
  bool keeps_first_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::optional<RowReader<Sample>> reader_;
};

}  // namespace papfft::app
