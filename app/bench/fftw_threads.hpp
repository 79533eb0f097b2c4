// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>

namespace papfft::app {

/// A peer to compare with: FFTW in one process, planned by FFTW_MEASURE, with all threads of the machine (libfftw3_threads,
/// part of libfftw3-dev on Debian). Forward, out of place, unscaled.
///
/// While it lives, this process may run on every core, also where a launcher has bound it to some.
template <typename T>
class FftwThreads {
 public:
  using Complex = std::complex<T>;

  /// Whether this program was built with it.
  [[nodiscard]] static bool is_available();

  /// Plans: takes seconds for long vectors. @param real  samples; else complex
  /// @throws std::invalid_argument  not available, or FFTW cannot plan this
  FftwThreads(std::size_t length, bool real);
  ~FftwThreads();
  FftwThreads(const FftwThreads&) = delete;
  FftwThreads& operator=(const FftwThreads&) = delete;

  [[nodiscard]] int threads() const;
  /// Samples, T if real, and bins; to be written and read.
  [[nodiscard]] void* in();
  [[nodiscard]] const Complex* out() const;
  void execute();

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace papfft::app
