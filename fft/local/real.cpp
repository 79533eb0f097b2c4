// SPDX-License-Identifier: MIT
#include "fft/local/real.hpp"

#include <omp.h>

#include <algorithm>

#include "fft/kernel/twiddle.hpp"

namespace papfft::fft {
namespace {

/// Below this many elements a pass is shorter than waking the threads.
constexpr std::size_t kParallelElements = 4096;

}  // namespace

template <typename T>
PackedRoots<T>::PackedRoots(std::size_t block_length)
    : coarse_(block_length / 2 / kFine + 1), fine_(std::min(kFine, block_length / 2 + 1)) {
  for (std::size_t q = 0; q < coarse_.size(); ++q) coarse_[q] = twiddle<double>(q * kFine, 2 * block_length);
  for (std::size_t q = 0; q < fine_.size(); ++q) fine_[q] = twiddle<double>(q, 2 * block_length);
}

// With Z the transform of length M: E = (Z[q] + conj Z[M-q])/2, O = (Z[q] - conj Z[M-q])/2i
// are the transforms of the even and the odd samples, V[q] = E + w_2M^q O, V[M-q] = conj(E - w_2M^q O).
template <typename T>
void unfold_packed_spectrum(std::span<std::complex<T>> spectrum, const PackedRoots<T>& roots) {
  using Complex = std::complex<T>;
  const std::size_t length = spectrum.size();
  const Complex z0 = spectrum[0];
  spectrum[0] = {z0.real() + z0.imag(), z0.real() - z0.imag()};
#pragma omp parallel for schedule(static) if (length >= kParallelElements && omp_in_parallel() == 0)
  for (std::size_t q = 1; q <= length / 2; ++q) {
    Complex& low = spectrum[q];
    Complex& high = spectrum[length - q];
    const T even_re = (low.real() + high.real()) / 2;
    const T even_im = (low.imag() - high.imag()) / 2;
    const T odd_re = (low.imag() + high.imag()) / 2;
    const T odd_im = (high.real() - low.real()) / 2;
    const Complex root = roots[q];
    const T turned_re = root.real() * odd_re - root.imag() * odd_im;
    const T turned_im = root.real() * odd_im + root.imag() * odd_re;
    high = {even_re - turned_re, turned_im - even_im};  // for q = M/2 both are one, and equal
    low = {even_re + turned_re, even_im + turned_im};
  }
}

// The steps of unfold_packed_spectrum backwards: E = (V[q] + conj V[M-q])/2, w_2M^q O = (V[q] - conj V[M-q])/2,
// Z[q] = E + i O, Z[M-q] = conj(E) + i conj(O).
template <typename T>
void fold_packed_spectrum(std::span<const std::complex<T>> bins, std::complex<T>* spectrum,
                          const PackedRoots<T>& roots) {
  using Complex = std::complex<T>;
  const std::size_t length = bins.size();
  const Complex ends = bins[0];
  spectrum[0] = {(ends.real() + ends.imag()) / 2, (ends.real() - ends.imag()) / 2};
#pragma omp parallel for schedule(static) if (length >= kParallelElements && omp_in_parallel() == 0)
  for (std::size_t q = 1; q <= length / 2; ++q) {
    const Complex low = bins[q];
    const Complex high = bins[length - q];
    const Complex root = roots[q];
    const T even_re = (low.real() + high.real()) / 2;
    const T even_im = (low.imag() - high.imag()) / 2;
    const T half_re = (low.real() - high.real()) / 2;
    const T half_im = (low.imag() + high.imag()) / 2;
    const T odd_re = root.real() * half_re + root.imag() * half_im;
    const T odd_im = root.real() * half_im - root.imag() * half_re;
    spectrum[length - q] = {even_re + odd_im, odd_re - even_im};
    spectrum[q] = {even_re - odd_im, even_im + odd_re};
  }
}

template <typename T>
PackedRealFft<T>::PackedRealFft(std::size_t block_length, Direction direction, Rigor rigor)
    : PackedRealFft(LocalFft<T>(block_length, direction, rigor), direction) {}

template <typename T>
PackedRealFft<T>::PackedRealFft(LocalFft<T> fft, Direction direction)
    : block_length_(fft.length()),
      direction_(direction),
      fft_(std::move(fft)),
      roots_(block_length_),
      work_(block_length_) {}

template <typename T>
void PackedRealFft<T>::execute(const Complex* in, Complex* out, const Progress& progress) {
  const std::size_t m = block_length_;
  if (direction_ == Direction::forward) {
    // Sample k of v, which is the real parts followed by the imaginary ones.
    const auto sample = [&](std::size_t k) { return k < m ? in[k].real() : in[k - m].imag(); };
#pragma omp parallel for schedule(static) if (m >= kParallelElements && omp_in_parallel() == 0)
    for (std::size_t k = 0; k < m; ++k) work_[k] = {sample(2 * k), sample(2 * k + 1)};
    fft_.execute(work_.data(), out, 1, progress);
    unfold_packed_spectrum<T>({out, m}, roots_);
    return;
  }
  fold_packed_spectrum<T>({in, m}, work_.data(), roots_);
  fft_.execute(work_.data(), work_.data(), 1, progress);
  const auto sample = [&](std::size_t k) { return k % 2 == 0 ? work_[k / 2].real() : work_[k / 2].imag(); };
#pragma omp parallel for schedule(static) if (m >= kParallelElements && omp_in_parallel() == 0)
  for (std::size_t n = 0; n < m; ++n) out[n] = {sample(n), sample(n + m)};
}

template <typename T>
RealFft<T>::RealFft(std::size_t length, Rigor rigor)
    : length_(length),
      forward_(length, Direction::forward, rigor),
      inverse_(length, Direction::inverse, rigor) {}

template <typename T>
RealFft<T>::RealFft(std::size_t length, LocalKernel kernel, Rigor rigor)
    : length_(length),
      forward_(length, Direction::forward, kernel, rigor),
      inverse_(length, Direction::inverse, kernel, rigor) {}

template <typename T>
void RealFft<T>::forward(const T* in, Complex* out, std::size_t batch, const Progress& progress) {
  for_each_vector(batch, forward_.work_size(), work_, progress, [&](std::size_t v, Complex* work) {
    forward_.forward(in + v * length_, out + v * bins(), work);
  });
}

template <typename T>
void RealFft<T>::inverse(const Complex* in, T* out, std::size_t batch, const Progress& progress) {
  for_each_vector(batch, inverse_.work_size(), work_, progress, [&](std::size_t v, Complex* work) {
    inverse_.inverse(in + v * bins(), out + v * length_, work);
  });
}

template class PackedRoots<float>;
template void unfold_packed_spectrum<float>(std::span<std::complex<float>>, const PackedRoots<float>&);
template void fold_packed_spectrum<float>(std::span<const std::complex<float>>, std::complex<float>*,
                                          const PackedRoots<float>&);
template class PackedRoots<double>;
template void unfold_packed_spectrum<double>(std::span<std::complex<double>>, const PackedRoots<double>&);
template void fold_packed_spectrum<double>(std::span<const std::complex<double>>, std::complex<double>*,
                                           const PackedRoots<double>&);
template class PackedRealFft<float>;
template class PackedRealFft<double>;
template class RealFft<float>;
template class RealFft<double>;

}  // namespace papfft::fft
