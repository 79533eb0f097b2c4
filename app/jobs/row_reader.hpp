// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "app/io/source.hpp"

namespace papfft::app {

/// Rows of one length, read ahead by a thread of its own: a slow pipe then holds up nobody who could go on with what has
/// come. A file's short rows are read many at a time, a pipe's are given as they come. Memory: four rows, or 1 MiB of short
/// ones, however long the input is.
template <typename Sample>
class RowReader {
 public:
  enum class State : std::uint8_t { row, later, end };
  struct Next {
    State state = State::end;
    const Sample* row = nullptr;  ///< the first; valid until asked again
    std::size_t count = 0;        ///< rows, one after another in memory
  };

  /// No run has more rows than this.
  [[nodiscard]] static std::size_t longest_run(std::uint64_t row_length) {
    constexpr std::size_t kBytes = std::size_t{1} << 18;
    return std::max<std::size_t>(1, kBytes / sizeof(Sample) / row_length);
  }

  /// @param first  rows before this one are passed over; the input must have them
  RowReader(std::shared_ptr<io::Source> source, std::uint64_t row_length, std::uint64_t first)
      : body_(std::move(source), row_length), thread_([this, first] { body_.run(first); }) {}

  ~RowReader() {
    {
      const std::lock_guard lock(body_.mutex);
      body_.abandoned = true;
    }
    body_.changed.notify_all();
    body_.source->give_up();
    thread_.join();
  }
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;

  /// @param patience  so long it waits for a row, before it says `later`
  /// @param most      rows wanted; fewer come if there are no more yet, or these would be longer than the longest run
  /// @throws io::DataError, once the rows before have been taken
  Next next(std::chrono::milliseconds patience = {}, std::size_t most = 1) {
    const State state = look(patience);
    if (state != State::row) return {state};
    const std::size_t count = std::min<std::size_t>(most, held_ - given_);
    return {state, body_.at(first_ + std::exchange(given_, given_ + count)), count};
  }

  /// At the end: the samples that did not fill a row.
  [[nodiscard]] std::span<const Sample> left_over() const {
    const std::lock_guard lock(body_.mutex);
    return {body_.at(body_.filled), body_.left_over};
  }
  /// In the rows read so far.
  [[nodiscard]] std::uint64_t non_finite() const {
    const std::lock_guard lock(body_.mutex);
    return body_.non_finite;
  }

 private:
  static constexpr std::size_t kRuns = 4;

  /// A ring of rows; row k has the place k modulo its capacity.
  struct Body {
    Body(std::shared_ptr<io::Source> source_in, std::uint64_t row_length)
        : source(std::move(source_in)),
          length(row_length),
          run_length(longest_run(row_length)),
          capacity(kRuns * run_length),
          storage(samples_for(capacity, length)) {
      void* begin = storage.data();
      std::size_t space = storage.size() * sizeof(Sample);
      ring = static_cast<Sample*>(std::align(kAlignedBytes, 1, begin, space));
    }

    [[nodiscard]] static std::size_t samples_for(std::uint64_t rows, std::uint64_t length) {
      constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(Sample) / 2;
      if (length > kMost / rows) throw std::bad_alloc();
      return rows * length + kAlignedBytes / sizeof(Sample);
    }

    [[nodiscard]] Sample* at(std::uint64_t row) const { return ring + row % capacity * length; }
    /// From this row on, in one piece.
    [[nodiscard]] std::uint64_t until_wrap(std::uint64_t row) const { return capacity - row % capacity; }

    void run(std::uint64_t first) noexcept {
      try {
        read(first);
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      ended = true;
      changed.notify_all();
    }

    void read(std::uint64_t first) {
      const bool any_order = source->info().any_order;
      std::uint64_t at_once = any_order ? run_length : 1;
      for (std::uint64_t row = any_order ? first : 0;;) {
        std::uint64_t wanted = 0;
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return abandoned || capacity - (filled - taken) >= at_once; });
          if (abandoned) return;
          wanted = std::min(at_once, until_wrap(filled));
        }
        const std::span<Sample> to(at(filled), wanted * length);  // only this thread changes `filled`
        std::size_t got = 0;
        try {
          got = source->read<Sample>(row * length, to);
        } catch (const io::DataError&) {
          if (at_once == 1) throw;
          at_once = 1;  // the rows before what is wrong shall come
          continue;
        }
        const std::uint64_t rows = got / length;
        const std::uint64_t bad =
            io::count_non_finite<Sample>(std::span<const Sample>(to).first(rows * length));
        if (rows < wanted && row + rows < first && !source->given_up()) {
          throw io::DataError(
              source->name(),
              fmt::format("holds {} rows, and {} are done already: it is not the same as before", row + rows,
                          first));
        }
        row += rows;
        std::unique_lock lock(mutex);
        if (row > first) {
          non_finite += bad;
          filled += rows;
          changed.notify_all();
        }
        if (rows == wanted) continue;
        left_over = row < first ? 0 : got % length;
        lock.unlock();
        // Was that all, or is something wrong with the rest?
        if (!source->given_up()) {
          (void)source->template read<Sample>((row - rows) * length + got, to.subspan(got, 1));
        }
        return;
      }
    }

    static constexpr std::size_t kAlignedBytes = 64;  // what transforms like best
    std::shared_ptr<io::Source> source;
    std::uint64_t length;
    std::uint64_t run_length;
    std::uint64_t capacity;
    std::vector<Sample> storage;
    Sample* ring = nullptr;
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t filled = 0;
    std::uint64_t taken = 0;
    std::uint64_t left_over = 0;
    std::uint64_t non_finite = 0;
    bool ended = false;
    bool abandoned = false;
    std::exception_ptr error;
  };

  /// Whether there is a row that was not given yet.
  State look(std::chrono::milliseconds patience) {
    if (given_ < held_) return State::row;
    Body& b = body_;
    std::unique_lock lock(b.mutex);
    if (held_ > 0) {
      b.taken += std::exchange(held_, 0);
      b.changed.notify_all();
    }
    const auto settled = [&] { return b.taken < b.filled || b.ended; };
    if (!b.changed.wait_for(lock, patience, settled)) return State::later;
    if (b.taken == b.filled) {
      if (b.error) std::rethrow_exception(b.error);
      return State::end;
    }
    first_ = b.taken;
    given_ = 0;
    held_ = std::min({b.filled - b.taken, b.run_length, b.until_wrap(b.taken)});
    return State::row;
  }

  Body body_;
  std::uint64_t first_ = 0;  // row of those that the caller has
  std::uint64_t held_ = 0;   // how many these are
  std::uint64_t given_ = 0;  // of these
  std::thread thread_;
};

}  // namespace papfft::app
