// SPDX-License-Identifier: MIT
#include "fft/spectral/overlap_save.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace papfft::fft {

template <typename Sample>
std::size_t OverlapSave<Sample>::best_length(std::size_t taps, std::uint64_t outputs) {
  const std::size_t one_block = std::bit_ceil(static_cast<std::size_t>(outputs) + taps - 1);
  std::size_t best = one_block;
  double least_work = std::numeric_limits<double>::infinity();
  for (std::size_t length = std::bit_ceil(std::max<std::size_t>(taps, 2)); length <= one_block; length *= 2) {
    const std::size_t step = length - taps + 1;
    const std::uint64_t blocks = (outputs + step - 1) / step;
    const double work = static_cast<double>(blocks) * static_cast<double>(length) *
                        (std::log2(static_cast<double>(length)) + 2);
    if (work < least_work) {
      least_work = work;
      best = length;
    }
  }
  return best;
}

template <typename Sample>
std::vector<std::complex<typename OverlapSave<Sample>::T>> OverlapSave<Sample>::filter_spectrum(
    std::span<const Sample> taps, std::size_t length) {
  if (taps.empty() || taps.size() > length) {
    throw std::invalid_argument("overlap-save: a filter must have taps, and not more than the transform");
  }
  // The inverse transform's 1/F is put in here, once.
  Buffer<Complex> in(length);
  auto* const padded = reinterpret_cast<Sample*>(in.data());
  std::fill(std::transform(taps.begin(), taps.end(), padded,
                           [&](const Sample& tap) { return tap / static_cast<T>(length); }),
            padded + length, Sample{});
  Buffer<Complex> out(length);
  FftwPlan<T>::get(kReal ? PlanKind::real_forward : PlanKind::complex_forward, length, Rigor::estimate)
      ->execute(padded, out.data());
  return {out.data(), out.data() + bins_of(length)};
}

template <typename Sample>
OverlapSave<Sample>::OverlapSave(std::size_t length, std::size_t taps, std::vector<Complex> spectrum)
    : length_(length), taps_(taps), spectrum_(std::move(spectrum)) {
  if (taps == 0 || taps > length || spectrum_.size() != bins_of(length)) {
    throw std::invalid_argument("overlap-save: filter, spectrum and transform do not fit together");
  }
  forward_ =
      FftwPlan<T>::get(kReal ? PlanKind::real_forward : PlanKind::complex_forward, length, Rigor::estimate);
  inverse_ =
      FftwPlan<T>::get(kReal ? PlanKind::real_inverse : PlanKind::complex_inverse, length, Rigor::estimate);
}

template <typename Sample>
void OverlapSave<Sample>::process(std::span<const Sample> samples, std::size_t blocks, Sample* out,
                                  const Progress& progress) {
  if (samples.size() < samples_spanned(blocks)) throw std::invalid_argument("overlap-save: too few samples");
  const std::size_t half = Buffer<Complex>::whole_lines(length_);
  for_each_vector(blocks, 2 * half, work_, progress, [&](std::size_t j, Complex* work) {
    auto* const block = reinterpret_cast<Sample*>(work);  // copied: FFTW wants it aligned
    Complex* const spectrum = work + half;
    std::copy_n(samples.data() + j * step(), length_, block);
    forward_->execute(block, spectrum);
    for (std::size_t k = 0; k < spectrum_.size(); ++k) {
      // Spelt out: the library's product looks for infinities, which costs more than the transform's pass.
      const Complex a = spectrum[k];
      const Complex b = spectrum_[k];
      spectrum[k] = {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }
    inverse_->execute(spectrum, block);
    std::copy_n(block + taps_ - 1, step(), out + j * step());
  });
}

template class OverlapSave<float>;
template class OverlapSave<double>;
template class OverlapSave<std::complex<float>>;
template class OverlapSave<std::complex<double>>;

}  // namespace papfft::fft
