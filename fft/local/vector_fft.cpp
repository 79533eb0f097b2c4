// SPDX-License-Identifier: MIT
#include "fft/local/vector_fft.hpp"

#include <algorithm>
#include <stdexcept>

namespace papfft::fft {
namespace {

PlanKind real_kind(Direction direction) {
  return direction == Direction::forward ? PlanKind::real_forward : PlanKind::real_inverse;
}

void refuse_pieces(LocalKernel kernel) {
  if (kernel == LocalKernel::pieces)
    throw std::invalid_argument("a single thread's vectors are not cut into pieces");
}

}  // namespace

template <typename T>
ComplexVectorFft<T>::ComplexVectorFft(std::size_t length, Direction direction, LocalKernel kernel,
                                      Rigor rigor)
    : length_(length), direction_(direction) {
  refuse_pieces(kernel);
  if (kernel == LocalKernel::own) {
    own_ = PowerOfTwoFft<T>::get(length);
  } else {
    plan_ = FftwPlan<T>::get(complex_kind(direction), length, rigor);
  }
}

template <typename T>
ComplexVectorFft<T>::ComplexVectorFft(std::size_t length, Direction direction, Rigor rigor)
    : ComplexVectorFft(length, direction,
                       choose_kernel<T>(complex_kind(direction), length, rigor) == LocalKernel::own
                           ? LocalKernel::own
                           : LocalKernel::fftw,
                       rigor) {}

template <typename T>
std::size_t ComplexVectorFft<T>::work_size() const noexcept {
  return own_ ? own_->work_size() : 2 * Buffer<Complex>::apart(length_);
}

template <typename T>
void ComplexVectorFft<T>::execute(const Complex* in, Complex* out, Complex* work) const noexcept {
  if (own_) return own_->execute(direction_, in, out, work);
  if (in != out && FftwPlan<T>::is_aligned(in) && FftwPlan<T>::is_aligned(out))
    return plan_->execute(in, out);
  // FFTW rounds in another order when in place or unaligned.
  Complex* const result = work + Buffer<Complex>::apart(length_);
  std::copy_n(in, length_, work);
  plan_->execute(work, result);
  std::copy_n(result, length_, out);
}

template <typename T>
RealVectorFft<T>::RealVectorFft(std::size_t length, Direction direction, LocalKernel kernel, Rigor rigor)
    : length_(length) {
  refuse_pieces(kernel);
  if (kernel == LocalKernel::own) {
    own_.emplace(length);
  } else {
    plan_ = FftwPlan<T>::get(real_kind(direction), length, rigor);
  }
}

template <typename T>
RealVectorFft<T>::RealVectorFft(std::size_t length, Direction direction, Rigor rigor)
    : RealVectorFft(length, direction, choose_kernel<T>(real_kind(direction), length, rigor), rigor) {}

template <typename T>
std::size_t RealVectorFft<T>::work_size() const noexcept {
  return own_ ? own_->work_size() : 2 * Buffer<Complex>::apart(length_ / 2 + 1);
}

template <typename T>
void RealVectorFft<T>::forward(const T* in, Complex* out, Complex* work) const noexcept {
  if (own_) return own_->forward(in, out, work);
  if (FftwPlan<T>::is_aligned(in) && FftwPlan<T>::is_aligned(out)) return plan_->execute(in, out);
  T* const samples = reinterpret_cast<T*>(work);
  Complex* const spectrum = work + Buffer<Complex>::apart(length_ / 2 + 1);
  std::copy_n(in, length_, samples);
  plan_->execute(samples, spectrum);
  std::copy_n(spectrum, length_ / 2 + 1, out);
}

template <typename T>
void RealVectorFft<T>::inverse(const Complex* in, T* out, Complex* work) const noexcept {
  if (own_) return own_->inverse(in, out, work);
  T* const samples = reinterpret_cast<T*>(work + Buffer<Complex>::apart(length_ / 2 + 1));
  std::copy_n(in, length_ / 2 + 1, work);  // which FFTW destroys
  work[0].imag(0);
  if (length_ % 2 == 0) work[length_ / 2].imag(0);
  plan_->execute(work, samples);
  std::copy_n(samples, length_, out);
}

template class ComplexVectorFft<float>;
template class ComplexVectorFft<double>;
template class RealVectorFft<float>;
template class RealVectorFft<double>;

}  // namespace papfft::fft
