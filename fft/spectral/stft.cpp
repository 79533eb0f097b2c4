// SPDX-License-Identifier: MIT
#include "fft/spectral/stft.hpp"

#include <algorithm>
#include <stdexcept>

#include "fft/local/parallel.hpp"

namespace papfft::fft {

template <typename T, typename Sample>
Stft<T, Sample>::Stft(std::span<const double> window, std::size_t noverlap, Rigor rigor)
    : hop_(Framing(0, window.size(), noverlap).hop()),
      forward_(window.size(), Direction::forward, rigor),
      inverse_(window.size(), Direction::inverse, rigor) {
  for (const double w : window) {
    window_.push_back(static_cast<T>(w));
    sum_ += w;
  }
  if (!(sum_ > 0)) throw std::invalid_argument("stft: the window's sum must be positive");
}

template <typename T, typename Sample>
std::size_t Stft<T, Sample>::bins() const noexcept {
  return kReal ? nperseg() / 2 + 1 : nperseg();
}

template <typename T, typename Sample>
void Stft<T, Sample>::forward(const Sample* in, std::size_t frames, Complex* out) {
  const std::size_t room = Buffer<Complex>::apart(nperseg());
  const auto scale = static_cast<T>(1 / sum_);
  for_each_vector(frames, 2 * room + forward_.work_size(), work_, {}, [&](std::size_t f, Complex* work) {
    auto* const windowed = reinterpret_cast<Sample*>(work);
    Complex* const spectrum = work + room;
    std::transform(window_.begin(), window_.end(), in + f * hop_, windowed,
                   [](T w, const Sample& x) { return x * w; });
    if constexpr (kReal) {
      forward_.forward(windowed, spectrum, work + 2 * room);
    } else {
      forward_.execute(windowed, spectrum, work + 2 * room);
    }
    std::transform(spectrum, spectrum + bins(), out + f * bins(),
                   [&](const Complex& z) { return z * scale; });
  });
}

template <typename T, typename Sample>
void Stft<T, Sample>::inverse(const Complex* in, std::size_t frames, Sample* out) {
  const std::size_t room = Buffer<Complex>::apart(nperseg());
  const auto scale = static_cast<T>(sum_ / static_cast<double>(nperseg()));
  // Some frames at a time: their samples before they are added take room.
  const std::size_t most = std::max<std::size_t>(1, (std::size_t{1} << 18U) / nperseg());
  if (frames_.size() == 0) frames_ = Buffer<Sample>(most * nperseg());
  std::fill_n(out, samples(frames), Sample{});
  for (std::size_t first = 0; first < frames; first += most) {
    const std::size_t count = std::min(most, frames - first);
    for_each_vector(count, 2 * room + inverse_.work_size(), work_, {}, [&](std::size_t f, Complex* work) {
      auto* const samples = reinterpret_cast<Sample*>(work + room);
      std::copy_n(in + (first + f) * bins(), bins(), work);
      if constexpr (kReal) {
        inverse_.inverse(work, samples, work + 2 * room);
      } else {
        inverse_.execute(work, samples, work + 2 * room);
      }
      std::transform(window_.begin(), window_.end(), samples, frames_.data() + f * nperseg(),
                     [&](T w, const Sample& x) { return x * (w * scale); });
    });
    for (std::size_t f = 0; f < count; ++f) {
      const Sample* const frame = frames_.data() + f * nperseg();
      Sample* const to = out + (first + f) * hop_;
      for (std::size_t i = 0; i < nperseg(); ++i) to[i] += frame[i];
    }
  }
}

template <typename T, typename Sample>
std::vector<T> Stft<T, Sample>::weights(std::size_t frames) const {
  constexpr T kNextToNothing = T(1e-10);
  std::vector<T> sums(samples(frames));
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t i = 0; i < nperseg(); ++i) sums[f * hop_ + i] += window_[i] * window_[i];
  }
  std::ranges::replace_if(
      sums, [](T sum) { return sum <= kNextToNothing; }, T(1));
  return sums;
}

template class Stft<float, float>;
template class Stft<double, double>;
template class Stft<float, std::complex<float>>;
template class Stft<double, std::complex<double>>;

}  // namespace papfft::fft
