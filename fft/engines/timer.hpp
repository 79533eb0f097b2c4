// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>

#include "fft/engines/shared_transform.hpp"

namespace papfft::fft {

/// Where the time of a parallel transform went, on this rank, summed over its vectors.
struct PhaseTimes {
  double split_s = 0;    ///< root only
  double scatter_s = 0;  ///< with the wait for the others
  double compute_s = 0;
  double gather_s = 0;
  double assemble_s = 0;              ///< root only
  std::uint64_t bytes_scattered = 0;  ///< what the root sends to other ranks
  std::uint64_t bytes_gathered = 0;   ///< what it receives from them
};

/// Adds the time of its own life to a sum, and tells an observer of it.
class Timer {
 public:
  /// @param observer  nullptr: nobody. @param phase  its name for the observer
  explicit Timer(double& sum_s, ParallelObserver* observer = nullptr, const char* phase = "")
      : sum_s_(sum_s), observer_(observer), phase_(phase) {}
  ~Timer() {
    sum_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (observer_ != nullptr) observer_->phase_ends(phase_, start_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& sum_s_;
  ParallelObserver* observer_;
  const char* phase_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Tells an observer of a rank that serves tasks: what it does beside computing them, and how long it waits in between, as a
/// phase "wait".
class Pauses {
 public:
  using Clock = std::chrono::steady_clock;

  /// It waits from now on. @param observer  nullptr: nobody; else must outlive this object
  explicit Pauses(ParallelObserver* observer) : observer_(observer) {}
  /// It computes, from now on.
  void end() {
    wait_until(Clock::now());
    computes_ = true;
  }
  /// It waits again, from now on.
  void begin() {
    computes_ = false;
    begin_ = Clock::now();
  }
  /// It has done something else, until now; perhaps in the midst of computing.
  void interrupted(const char* phase, Clock::time_point since) {
    if (!computes_) wait_until(since);
    if (observer_ != nullptr) observer_->phase_ends(phase, since);
    if (!computes_) begin();
  }

 private:
  void wait_until(Clock::time_point end) {
    constexpr auto kLeast = std::chrono::microseconds(10);  // what is shorter is no waiting
    if (observer_ != nullptr && end - begin_ > kLeast) observer_->phase_lasted("wait", begin_, end);
  }

  ParallelObserver* observer_;
  bool computes_ = false;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace papfft::fft
