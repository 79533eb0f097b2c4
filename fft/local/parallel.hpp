// SPDX-License-Identifier: MIT
#pragma once
#include <omp.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>

#include "fft/kernel/types.hpp"

namespace papfft::fft {

/// Told how far a computation is, 0 < fraction <= 1: called by OpenMP workers as they complete pieces, each fraction once,
/// from several threads at once and not always in rising order. Must be safe for that, and short.
using Progress = std::function<void(double fraction)>;

/// Counts completed work and reports it. An exception cannot leave an OpenMP region: the first one that a piece of work
/// or the callback throws is kept, and thrown by `finish`.
class ProgressCounter {
 public:
  ProgressCounter(const Progress& progress, std::size_t total) : progress_(progress), total_(total) {}

  /// Runs work() and then counts `units` of the total as done. After a failure nothing more is run.
  template <typename Work>
  void run(std::size_t units, const Work& work) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      work();
      if (!progress_) return;
      const std::size_t done = done_.fetch_add(units, std::memory_order_relaxed) + units;
      progress_(static_cast<double>(done) / static_cast<double>(total_));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  void finish() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const Progress& progress_;
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Calls body(vector, work space) for every vector of a batch, in parallel; the work space has work_size elements, is
/// aligned and one thread's own. `work` is enlarged if need be. Throws what a body or progress throws.
template <typename Complex, typename Body>
void for_each_vector(std::size_t batch, std::size_t work_size, Buffer<Complex>& work,
                     const Progress& progress, const Body& body) {
  const std::size_t pitch = Buffer<Complex>::whole_lines(work_size);
  const int threads = batch <= 1 || omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
  const bool one_thread = threads == 1;
  const std::size_t total = static_cast<std::size_t>(threads) * pitch;
  if (work.size() < total) work = Buffer<Complex>(total);
  if (one_thread && !progress) {  // even a region of one thread takes longer than a short transform
    for (std::size_t v = 0; v < batch; ++v) body(v, work.data());
    return;
  }
  ProgressCounter counter(progress, batch);
#pragma omp parallel for num_threads(threads) schedule(static) if (!one_thread)
  for (std::size_t v = 0; v < batch; ++v) {
    const auto thread = static_cast<std::size_t>(one_thread ? 0 : omp_get_thread_num());
    counter.run(1, [&] { body(v, work.data() + thread * pitch); });
  }
  counter.finish();
}

}  // namespace papfft::fft
