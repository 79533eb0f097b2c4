// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/types.hpp"

namespace papfft::fft {

/// What does a transform in this process. (How ranks share one is another question: fft/engines.)
///   fftw    one FFTW plan on one thread
///   pieces  complex only: Split into 8 or 16 pieces, an FFTW plan for each, interleave; threads share the pieces
///   own     PowerOfTwoFft, PowerOfTwoRealFft; threads share the tiles of long complex vectors
enum class LocalKernel { fftw, pieces, own };

[[nodiscard]] std::string_view to_string(LocalKernel kernel) noexcept;
[[nodiscard]] std::string_view to_string(PlanKind kind) noexcept;

[[nodiscard]] inline PlanKind complex_kind(Direction direction) noexcept {
  return direction == Direction::forward ? PlanKind::complex_forward : PlanKind::complex_inverse;
}

/// Into how many pieces `LocalKernel::pieces` cuts a vector; 1: none.
[[nodiscard]] std::size_t pieces_of(std::size_t length) noexcept;

/// The kernels that can do this transform.
[[nodiscard]] std::vector<LocalKernel> possible_kernels(PlanKind kind, std::size_t length);

/// The built-in rule, by length and this processor's instruction set; see README.md for the measurements behind it.
[[nodiscard]] LocalKernel default_kernel(PlanKind kind, std::size_t length);

class Tuning;

/// What `tuning` remembers, if this program can do it; else the default.
template <typename T>
[[nodiscard]] LocalKernel tuned_kernel(const Tuning& tuning, PlanKind kind, std::size_t length);

/// The kernel for a transform: see Rigor. With Rigor::measure the candidates are timed at the first call for a transform, on
/// omp_get_max_threads() threads; later calls in this process get the same answer.
template <typename T>
[[nodiscard]] LocalKernel choose_kernel(PlanKind kind, std::size_t length, Rigor rigor);

/// One kernel's transform of data of its own, to be run again and again for measurements; FFTW's plans by FFTW_MEASURE.
/// @throws std::invalid_argument  the kernel cannot do it
template <typename T>
[[nodiscard]] std::function<void()> repeatable_transform(LocalKernel kernel, PlanKind kind,
                                                         std::size_t length);

/// Seconds that `calls` runs take.
[[nodiscard]] double seconds_of(const std::function<void()>& run, std::size_t calls);
/// How many runs take `seconds` or more.
[[nodiscard]] std::size_t calls_within(const std::function<void()>& run, double seconds);

/// How long one transform takes.
struct KernelTime {
  LocalKernel kernel;
  double seconds;  // the least of several repetitions
};

/// Times all possible kernels on omp_get_max_threads() threads, in turns.
/// @param least_s  for about how long each kernel is run, planning aside
template <typename T>
[[nodiscard]] std::vector<KernelTime> time_kernels(PlanKind kind, std::size_t length, double least_s);

/// The one that took least time.
[[nodiscard]] LocalKernel fastest(const std::vector<KernelTime>& times);

}  // namespace papfft::fft
