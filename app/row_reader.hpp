// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "app/io/source.hpp"

namespace papfft::app {

/// Rows of one length, read a few ahead by a thread of its own: a slow pipe then holds up nobody who could go on with what
/// has come. Memory: a few rows, however long the input is.
template <typename Sample>
class RowReader {
 public:
  enum class State : std::uint8_t { row, later, end };
  struct Next {
    State state = State::end;
    const Sample* row = nullptr;  ///< valid until asked again
  };

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
  /// @throws io::DataError, once the rows before have been taken
  Next next(std::chrono::milliseconds patience = {}) {
    Body& b = body_;
    std::unique_lock lock(b.mutex);
    if (holds_) {
      holds_ = false;
      ++b.taken;
      b.changed.notify_all();
    }
    const auto settled = [&] { return b.taken < b.filled || b.ended; };
    if (!b.changed.wait_for(lock, patience, settled)) return {State::later, nullptr};
    if (b.taken == b.filled) {
      if (b.error) std::rethrow_exception(b.error);
      return {State::end, nullptr};
    }
    holds_ = true;
    return {State::row, b.rows[b.taken % kAhead].data()};
  }

  /// At the end: the samples that did not fill a row.
  [[nodiscard]] std::span<const Sample> left_over() const {
    const std::lock_guard lock(body_.mutex);
    return std::span<const Sample>(body_.rows[body_.filled % kAhead]).first(body_.left_over);
  }
  /// In the rows read so far.
  [[nodiscard]] std::uint64_t non_finite() const {
    const std::lock_guard lock(body_.mutex);
    return body_.non_finite;
  }

 private:
  static constexpr std::size_t kAhead = 4;

  struct Body {
    Body(std::shared_ptr<io::Source> source_in, std::uint64_t row_length) : source(std::move(source_in)) {
      for (auto& row : rows) row.resize(row_length);
    }

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
      const std::uint64_t length = rows[0].size();
      for (std::uint64_t row = source->info().any_order ? first : 0;; ++row) {
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return abandoned || filled - taken < kAhead; });
          if (abandoned) return;
        }
        std::vector<Sample>& to = rows[filled % kAhead];  // only this thread changes `filled`
        const std::size_t got = source->read<Sample>(row * length, to);
        const std::uint64_t bad = io::count_non_finite<Sample>(std::span<const Sample>(to).first(got));
        if (got < length && row < first && !source->given_up()) {
          throw io::DataError(
              source->name(),
              fmt::format("holds {} rows, and {} are done already: it is not the same as before", row,
                          first));
        }
        std::unique_lock lock(mutex);
        if (got < length) {
          left_over = row < first ? 0 : got;
          lock.unlock();
          // Was that all, or is something wrong with the rest?
          if (!source->given_up()) {
            (void)source->template read<Sample>(row * length + got, std::span(to).subspan(got, 1));
          }
          return;
        }
        if (row < first) continue;
        non_finite += bad;
        ++filled;
        changed.notify_all();
      }
    }

    std::shared_ptr<io::Source> source;
    std::array<std::vector<Sample>, kAhead> rows;
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

  Body body_;
  bool holds_ = false;  // the caller has a row
  std::thread thread_;
};

}  // namespace papfft::app
