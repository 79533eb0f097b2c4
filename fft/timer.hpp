// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>

namespace papfft::fft {

/// Where the time of a parallel transform went, on this rank, summed over its vectors.
struct PhaseTimes {
  double split_s = 0;    ///< root only
  double scatter_s = 0;  ///< with the wait for the others
  double compute_s = 0;
  double gather_s = 0;
  double assemble_s = 0;              ///< root only
  std::uint64_t bytes_scattered = 0;  ///< over links: what the root sends
  std::uint64_t bytes_gathered = 0;   ///< over links: what the root receives
};

/// Adds the time of its own life to a sum.
class Timer {
 public:
  explicit Timer(double& sum_s) : sum_s_(sum_s) {}
  ~Timer() { sum_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& sum_s_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace papfft::fft
