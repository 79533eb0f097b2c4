// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/local.hpp"
#include "fft/local/vector_fft.hpp"

namespace papfft::fft {

/// w_2M^q, q = 0..M/2, as products out of two short tables: a whole one would be half as long as what it is for.
template <typename T>
class PackedRoots {
 public:
  explicit PackedRoots(std::size_t block_length);

  [[nodiscard]] std::complex<T> operator[](std::size_t q) const noexcept {
    const std::complex<double> a = coarse_[q / kFine];
    const std::complex<double> b = fine_[q % kFine];
    return {static_cast<T>(a.real() * b.real() - a.imag() * b.imag()),
            static_cast<T>(a.real() * b.imag() + a.imag() * b.real())};
  }

 private:
  static constexpr std::size_t kFine = 512;

  Buffer<std::complex<double>> coarse_;  // w_2M^(q kFine)
  Buffer<std::complex<double>> fine_;
};

/// With z[k] = v[2k] + i v[2k+1], k < M: from the transform of z to the bins of v as PackedRealFft has them, in place. Parallel.
/// @param spectrum  Shape: M. @param roots  of M
template <typename T>
void unfold_packed_spectrum(std::span<std::complex<T>> spectrum, const PackedRoots<T>& roots);

/// The inverse of unfold_packed_spectrum: from the bins of v to the transform of z. Parallel.
/// @param bins, spectrum  Shape: M. The same, or disjoint
template <typename T>
void fold_packed_spectrum(std::span<const std::complex<T>> bins, std::complex<T>* spectrum,
                          const PackedRoots<T>& roots);

/// Rank 0's part of a distributed real transform (RealSplit, RealMerge): a real transform of length 2M whose samples and
/// bins are both packed into M complex numbers.
///
///   samples  element n:  v[n] + i v[n+M]
///   bins     element 0:  V[0] + i V[M] (both are real)     element q > 0:  V[q]
///
/// Forward: V[q] = sum_n v[n] exp(-2 pi i nq/2M), unscaled. Inverse: makes M v from V, as LocalFft's inverse makes M y
/// (half of the usual unscaled inverse's 2M v). One complex transform of length M and two passes over memory. Work
/// space, determinism and threads as LocalFft.
template <typename T>
class PackedRealFft {
 public:
  using Complex = std::complex<T>;

  /// @throws std::invalid_argument  block_length (M) is 0, or too long for FFTW
  PackedRealFft(std::size_t block_length, Direction direction, Rigor rigor = Rigor::estimate);
  /// @param fft  of M complex numbers, in this direction
  PackedRealFft(LocalFft<T> fft, Direction direction);

  /// @param in, out  Shape: M. The same buffer, or disjoint ones.
  /// @param progress Optional; as LocalFft::execute
  void execute(const Complex* in, Complex* out, const Progress& progress = {});

 private:
  std::size_t block_length_;
  Direction direction_;
  LocalFft<T> fft_;
  PackedRoots<T> roots_;
  Buffer<Complex> work_;
};

/// Batches of real transforms of any length n, even or odd, one vector per thread at a time: spectrogram frames, vectors
/// too short to be distributed, lengths that RealSplit cannot split. Unscaled. Deterministic as LocalFft.
template <typename T>
class RealFft {
 public:
  using Complex = std::complex<T>;

  /// @throws std::invalid_argument  length is 0, or too long for FFTW
  explicit RealFft(std::size_t length, Rigor rigor = Rigor::estimate);
  /// By a given kernel; `rigor` is then for FFTW's plans alone.
  /// @throws std::invalid_argument  also: the kernel cannot do this length
  RealFft(std::size_t length, LocalKernel kernel, Rigor rigor);

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] std::size_t bins() const noexcept { return length_ / 2 + 1; }
  /// Of the forward transforms.
  [[nodiscard]] LocalKernel kernel() const noexcept { return forward_.kernel(); }

  /// @param in       Shape: batch x n
  /// @param out      Shape: batch x (n/2+1): X[0..n/2]. Disjoint from in.
  /// @param progress Optional; called once per vector. What it throws is thrown on.
  void forward(const T* in, Complex* out, std::size_t batch = 1, const Progress& progress = {});
  /// The unscaled inverse: forward and then inverse multiplies by n. Imaginary parts of X[0] and X[n/2] are ignored.
  /// @param in       Shape: batch x (n/2+1)
  /// @param out      Shape: batch x n. Disjoint from in.
  void inverse(const Complex* in, T* out, std::size_t batch = 1, const Progress& progress = {});

 private:
  std::size_t length_;
  RealVectorFft<T> forward_;
  RealVectorFft<T> inverse_;
  Buffer<Complex> work_;
};

}  // namespace papfft::fft
