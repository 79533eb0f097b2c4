// SPDX-License-Identifier: MIT
#include "fft/spectral/spectrogram.hpp"

#include <cmath>
#include <stdexcept>
#include <type_traits>

namespace papfft::fft {
namespace {

const SpectrogramSettings& checked(const SpectrogramSettings& settings) {
  const Framing framing(0, settings.nperseg, settings.noverlap);
  return settings;
}

}  // namespace

Framing::Framing(std::size_t samples, std::size_t nperseg, std::size_t noverlap)
    : samples_(samples), nperseg_(nperseg), noverlap_(noverlap) {
  if (nperseg == 0) throw std::invalid_argument("spectrogram: nperseg must be positive");
  if (noverlap >= nperseg) throw std::invalid_argument("spectrogram: noverlap must be less than nperseg");
}

std::size_t Framing::frames() const noexcept {
  return samples_ < nperseg_ ? 0 : (samples_ - noverlap_) / hop();
}

std::size_t Framing::samples_spanned(std::size_t begin, std::size_t end) const noexcept {
  return begin >= end ? 0 : (end - begin - 1) * hop() + nperseg_;
}

template <typename T>
Spectrogram<T>::Spectrogram(const SpectrogramSettings& settings, Rigor rigor)
    : settings_(checked(settings)),
      real_fft_(settings.nperseg, Direction::forward, rigor),
      complex_fft_(settings.nperseg, Direction::forward, rigor) {
  const std::vector<double> window =
      window_of(settings.window_samples, settings.window, settings.nperseg, settings.tukey_alpha);
  scale_ = power_scale(window, settings.scaling, settings.sample_rate_hz);
  for (const double w : window) window_.push_back(static_cast<T>(w));
}

template <typename T>
double Spectrogram<T>::real_bin_hz(std::size_t bin) const noexcept {
  return static_cast<double>(bin) * settings_.sample_rate_hz / static_cast<double>(settings_.nperseg);
}

template <typename T>
double Spectrogram<T>::complex_bin_hz(std::size_t bin) const noexcept {
  const double hz = real_bin_hz(bin);
  return 2 * bin < settings_.nperseg ? hz : hz - settings_.sample_rate_hz;
}

template <typename T>
double Spectrogram<T>::frame_time_s(std::size_t frame) const noexcept {
  const auto hop = static_cast<double>(settings_.nperseg - settings_.noverlap);
  return (static_cast<double>(settings_.nperseg) / 2 + static_cast<double>(frame) * hop) /
         settings_.sample_rate_hz;
}

template <typename T>
template <typename Sample>
void Spectrogram<T>::process_frames(std::span<const Sample> samples, std::size_t frames, std::size_t bins,
                                    T* out, const Progress& progress) {
  constexpr bool kReal = std::is_same_v<Sample, T>;
  const std::size_t nperseg = settings_.nperseg;
  const Framing framing(samples.size(), nperseg, settings_.noverlap);
  if (samples.size() < framing.samples_spanned(0, frames))
    throw std::invalid_argument("spectrogram: too few samples");
  const bool psd = settings_.mode == SpectrogramMode::psd;
  const auto scale = static_cast<T>(psd ? scale_ : std::sqrt(scale_));
  const auto doubled = [&](std::size_t bin) { return kReal && psd && bin > 0 && 2 * bin != nperseg; };
  // A frame's windowed samples, its spectrum, and the transform's work space.
  const std::size_t half = Buffer<Complex>::apart(nperseg);
  const std::size_t fft_work = kReal ? real_fft_.work_size() : complex_fft_.work_size();
  for_each_vector(frames, 2 * half + fft_work, work_, progress, [&](std::size_t f, Complex* work) {
    const Sample* const frame = samples.data() + framing.first_sample(f);
    Sample* const windowed = reinterpret_cast<Sample*>(work);
    Complex* const spectrum = work + half;
    detrend_and_window<T>(frame, window_, settings_.detrend, windowed);
    if constexpr (kReal) {
      real_fft_.forward(windowed, spectrum, work + 2 * half);
    } else {
      complex_fft_.execute(windowed, spectrum, work + 2 * half);
    }
    for (std::size_t k = 0; k < bins; ++k) {
      const T value = psd ? std::norm(spectrum[k]) : std::abs(spectrum[k]);
      out[f * bins + k] = value * (doubled(k) ? 2 * scale : scale);
    }
  });
}

template <typename T>
void Spectrogram<T>::process(std::span<const T> samples, std::size_t frames, T* out,
                             const Progress& progress) {
  process_frames(samples, frames, real_bins(), out, progress);
}

template <typename T>
void Spectrogram<T>::process(std::span<const Complex> samples, std::size_t frames, T* out,
                             const Progress& progress) {
  process_frames(samples, frames, complex_bins(), out, progress);
}

template class Spectrogram<float>;
template class Spectrogram<double>;

}  // namespace papfft::fft
