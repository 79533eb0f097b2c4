// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "app/io/row_files.hpp"

namespace papfft::app {

/// Rows written by a thread of its own, while the next are computed. Memory: two runs of rows; who is faster than the files
/// has to wait.
template <typename Sample>
class RowWriter {
 public:
  /// @param files  must outlive this object, and is its own until finish()
  /// @param run    rows handed over at a time, at most
  RowWriter(io::RowFiles<Sample>& files, std::uint64_t row_length, std::size_t run) : files_(files) {
    for (auto& rows : runs_) rows.resize(run * row_length);
    thread_ = std::thread([this] { write_all(); });
  }
  /// What was not written yet will not be.
  ~RowWriter() {
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  /// For the next run of rows; waits until there is some. @throws io::OutputError  what has been written before could not be
  [[nodiscard]] Sample* room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || passed_ - written_ < runs_.size(); });
    if (error_) std::rethrow_exception(error_);
    return place(passed_).data();
  }
  /// The first `rows` rows that lie in room() are to be written.
  void pass(std::size_t rows) {
    const std::lock_guard lock(mutex_);
    counts_[passed_ % counts_.size()] = rows;
    ++passed_;
    changed_.notify_all();
  }
  /// Until all is written. @throws io::OutputError
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || passed_ == written_; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  [[nodiscard]] std::vector<Sample>& place(std::uint64_t run) { return runs_[run % runs_.size()]; }

  void write_all() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return abandoned_ || written_ < passed_; });
      if (abandoned_) return;
      const std::size_t rows = counts_[written_ % counts_.size()];
      lock.unlock();
      std::exception_ptr error;
      try {
        files_.write(place(written_).data(), rows);  // only this thread changes `written_`
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      error_ = error;
      ++written_;
      changed_.notify_all();
      if (error_) return;
    }
  }

  io::RowFiles<Sample>& files_;
  std::array<std::vector<Sample>, 2> runs_;
  std::array<std::size_t, 2> counts_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t passed_ = 0;  // runs
  std::uint64_t written_ = 0;
  bool abandoned_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace papfft::app
