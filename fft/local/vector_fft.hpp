// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/power_of_two.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/local_kernel.hpp"

namespace papfft::fft {

/// One complex transform after another of one length, on the calling thread, by our own kernels or one FFTW plan. Unscaled.
/// Owns no work space: safe to use from several threads at once. The data may have any alignment, which does not show in the
/// numbers; work space must be at a cache line's boundary (Buffer).
template <typename T>
class ComplexVectorFft {
 public:
  using Complex = std::complex<T>;

  /// @param kernel  own or fftw; `rigor` is for FFTW's plan
  /// @throws std::invalid_argument  the kernel cannot do this length
  ComplexVectorFft(std::size_t length, Direction direction, LocalKernel kernel, Rigor rigor);
  /// The chosen kernel (choose_kernel), but never in pieces.
  ComplexVectorFft(std::size_t length, Direction direction, Rigor rigor);

  /// In elements.
  [[nodiscard]] std::size_t work_size() const noexcept;
  /// n -> n. The same buffer, or disjoint ones.
  void execute(const Complex* in, Complex* out, Complex* work) const noexcept;

 private:
  std::size_t length_;
  Direction direction_;
  std::shared_ptr<const PowerOfTwoFft<T>> own_;
  std::shared_ptr<const FftwPlan<T>> plan_;
};

/// The same for real data.
template <typename T>
class RealVectorFft {
 public:
  using Complex = std::complex<T>;

  RealVectorFft(std::size_t length, Direction direction, LocalKernel kernel, Rigor rigor);
  RealVectorFft(std::size_t length, Direction direction, Rigor rigor);

  [[nodiscard]] LocalKernel kernel() const noexcept { return own_ ? LocalKernel::own : LocalKernel::fftw; }
  [[nodiscard]] std::size_t work_size() const noexcept;
  /// For Direction::forward: n samples -> n/2+1 bins. Disjoint.
  void forward(const T* in, Complex* out, Complex* work) const noexcept;
  /// For Direction::inverse: n/2+1 bins -> n samples, n times as large. Disjoint. The imaginary parts of X[0] and, for even n,
  /// X[n/2] are ignored.
  void inverse(const Complex* in, T* out, Complex* work) const noexcept;

 private:
  std::size_t length_;
  std::optional<PowerOfTwoRealFft<T>> own_;
  std::shared_ptr<const FftwPlan<T>> plan_;
};

}  // namespace papfft::fft
