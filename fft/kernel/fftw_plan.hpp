// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

// FFTW's own opaque plans, named here so that no user of this library needs <fftw3.h>.
struct fftw_plan_s;
struct fftwf_plan_s;

namespace papfft::fft {

/// How an algorithm is chosen: between kernels (local_kernel.hpp), and by FFTW among its own.
///   estimate  by size and processor type alone: the same numbers in every run
///   tuned     as remembered by `papfft tune` for this user and processor, else as `estimate`. Nothing is timed: the same
///             numbers in every run, until the user tunes again
///   measure   by timing candidates now (seconds for 2^20): another run may choose otherwise and differ in the last bits
enum class Rigor { estimate, tuned, measure };

enum class PlanKind { complex_forward, complex_inverse, real_forward, real_inverse };

/// One out-of-place, unscaled FFTW plan for a single contiguous vector, on one thread. Plans are cached: asking twice
/// gives the same plan. Executing is safe from several threads at once; so is making, FFTW's planner being locked.
///
/// All pointers must be aligned (`is_aligned`): FFTW takes other code paths, with other rounding, for data that are not.
template <typename T>
class FftwPlan {
 public:
  using Complex = std::complex<T>;

  /// @throws std::invalid_argument  length is 0 or does not fit an int
  /// @throws std::runtime_error     FFTW cannot plan this
  [[nodiscard]] static std::shared_ptr<const FftwPlan> get(PlanKind kind, std::size_t length, Rigor rigor);

  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;
  ~FftwPlan();

  [[nodiscard]] static bool is_aligned(const void* pointer) noexcept;

  /// complex_forward, complex_inverse: n -> n, n = the plan's length. `in` keeps its values.
  void execute(const Complex* in, Complex* out) const noexcept;
  /// real_forward: n -> n/2+1. `in` keeps its values.
  void execute(const T* in, Complex* out) const noexcept;
  /// real_inverse: n/2+1 -> n. Destroys `in`.
  void execute(Complex* in, T* out) const noexcept;

 private:
  using Handle = std::conditional_t<std::is_same_v<T, float>, fftwf_plan_s, fftw_plan_s>*;
  explicit FftwPlan(Handle handle) : handle_(handle) {}

  Handle handle_;
};

/// What FFTW has learnt by `Rigor::measure`, as text; to be sent to ranks or kept in a file.
template <typename T>
[[nodiscard]] std::string export_wisdom();

/// Adds wisdom, for plans with `Rigor::measure` made from now on. @throws std::invalid_argument  not FFTW's wisdom
template <typename T>
void import_wisdom(const std::string& wisdom);

}  // namespace papfft::fft
