// SPDX-License-Identifier: MIT
#include "fft/spectral/welch.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace papfft::fft {

namespace {

constexpr std::size_t kSpectraAtOnce = std::size_t{1} << 17;  // elements: some MiB, which caches hold in part
constexpr std::size_t kTileBins = 512;

template <typename T>
std::complex<double> in_double(const std::complex<T>& z) {
  return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}

/// Of an even number of values the mean of the two in the middle. Their order is lost.
double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace

double median_bias(std::uint64_t frames) {
  double bias = 1;
  for (std::uint64_t even = 2; even + 1 <= frames; even += 2) {
    bias += 1 / static_cast<double>(even + 1) - 1 / static_cast<double>(even);
  }
  return bias;
}

template <typename Sample>
Welch<Sample>::Welch(const WelchSettings& settings, std::size_t channels, std::vector<ChannelPair> pairs)
    : settings_(settings),
      nfft_(settings.nfft == 0 ? settings.nperseg : settings.nfft),
      channels_(channels),
      kept_(kReal ? nfft_ / 2 + 1 : nfft_),
      pitch_(Buffer<Complex>::whole_lines(kept_)),
      pairs_(std::move(pairs)) {
  const Framing checked(0, settings.nperseg, settings.noverlap);
  if (nfft_ < settings.nperseg) throw std::invalid_argument("welch: nfft must not be below nperseg");
  for (const ChannelPair& pair : pairs_) {
    if (std::max(pair.first, pair.second) >= channels) throw std::invalid_argument("welch: no such channel");
  }
  if (settings.average == Average::median && !pairs_.empty()) {
    throw std::invalid_argument("welch: no median of pairs");
  }
  const std::vector<double> window =
      window_of(settings.window_samples, settings.window, settings.nperseg, settings.tukey_alpha);
  scale_ = power_scale(window, settings.scaling, settings.sample_rate_hz);
  for (const double w : window) window_.push_back(static_cast<T>(w));
  plan_ =
      FftwPlan<T>::get(kReal ? PlanKind::real_forward : PlanKind::complex_forward, nfft_, Rigor::estimate);
  sums_.resize((channels_ + 2 * pairs_.size()) * kept_);
}

template <typename Sample>
double Welch<Sample>::bin_hz(std::size_t bin) const noexcept {
  const double hz = static_cast<double>(bin) * settings_.sample_rate_hz / static_cast<double>(nfft_);
  return has_half() || 2 * bin < nfft_ ? hz : hz - settings_.sample_rate_hz;
}

template <typename Sample>
void Welch<Sample>::accumulate(std::span<const Sample> samples, std::size_t frames,
                               const Progress& progress) {
  const Framing framing(0, settings_.nperseg, settings_.noverlap);
  if (samples.size() < channels_ * framing.samples_spanned(0, frames)) {
    throw std::invalid_argument("welch: too few samples");
  }
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t at_once = std::max(threads, kSpectraAtOnce / (channels_ * pitch_));
  for (std::size_t begin = 0; begin < frames; begin += at_once) {
    const std::size_t count = std::min(at_once, frames - begin);
    Progress of_all;
    if (progress) {
      of_all = [&](double fraction) {
        progress((static_cast<double>(begin) + fraction * static_cast<double>(count)) /
                 static_cast<double>(frames));
      };
    }
    transform(samples, begin, count, of_all);
    if (settings_.average == Average::median) {
      keep(count);
    } else {
      add(count);
    }
  }
}

template <typename Sample>
void Welch<Sample>::transform(std::span<const Sample> samples, std::size_t first_frame, std::size_t frames,
                              const Progress& progress) {
  const std::size_t length = samples.size() / channels_;
  const Framing framing(length, settings_.nperseg, settings_.noverlap);
  if (spectra_.size() < frames * channels_ * pitch_) spectra_ = Buffer<Complex>(frames * channels_ * pitch_);
  for_each_vector(
      frames * channels_, kReal ? nfft_ / 2 + 1 : nfft_, work_, progress, [&](std::size_t v, Complex* work) {
        const std::size_t frame = v / channels_;
        const std::size_t channel = v % channels_;
        auto* const windowed = reinterpret_cast<Sample*>(work);
        detrend_and_window<T>(samples.data() + channel * length + framing.first_sample(first_frame + frame),
                              window_, settings_.detrend, windowed);
        std::fill(windowed + settings_.nperseg, windowed + nfft_, Sample{});
        plan_->execute(windowed, spectra_.data() + v * pitch_);
      });
}

/// The frames' powers behind those that there are.
template <typename Sample>
void Welch<Sample>::keep(std::size_t frames) {
  for (std::size_t v = 0; v < frames * channels_; ++v) {
    const Complex* const spectrum = spectra_.data() + v * pitch_;
    for (std::size_t k = 0; k < kept_; ++k) powers_.push_back(std::norm(in_double(spectrum[k])));
  }
}

/// The frames' products into the sums: bins are shared among the threads, frames come in order.
template <typename Sample>
void Welch<Sample>::add(std::size_t frames) {
  const std::size_t tiles = (kept_ + kTileBins - 1) / kTileBins;
  const std::size_t tasks = (channels_ + pairs_.size()) * tiles;
#pragma omp parallel for schedule(static)
  for (std::size_t task = 0; task < tasks; ++task) {
    const std::size_t row = task / tiles;
    const std::size_t begin = task % tiles * kTileBins;
    const std::size_t end = std::min(begin + kTileBins, kept_);
    const bool is_power = row < channels_;
    const ChannelPair pair = is_power ? ChannelPair{row, row} : pairs_[row - channels_];
    double* const sums = sums_.data() + (is_power ? row : 2 * row - channels_) * kept_;
    for (std::size_t f = 0; f < frames; ++f) {
      const Complex* const a = spectra_.data() + (f * channels_ + pair.first) * pitch_;
      const Complex* const b = spectra_.data() + (f * channels_ + pair.second) * pitch_;
      if (is_power) {
        for (std::size_t k = begin; k < end; ++k) sums[k] += std::norm(in_double(a[k]));
      } else {
        for (std::size_t k = begin; k < end; ++k) {
          const std::complex<double> x = in_double(a[k]);
          const std::complex<double> y = in_double(b[k]);
          sums[2 * k] += x.real() * y.real() + x.imag() * y.imag();
          sums[2 * k + 1] += x.real() * y.imag() - x.imag() * y.real();
        }
      }
    }
  }
}

template <typename Sample>
double Welch<Sample>::scale(std::size_t bin, std::uint64_t frames) const noexcept {
  const bool doubled = has_half() && bin > 0 && 2 * bin != nfft_;
  return scale_ * (doubled ? 2 : 1) / static_cast<double>(frames);
}

template <typename Sample>
std::complex<double> Welch<Sample>::cross_sum(std::span<const double> sums, std::size_t pair,
                                              std::size_t kept_bin) const noexcept {
  const double* const at = sums.data() + (channels_ + 2 * pair) * kept_ + 2 * kept_bin;
  return {at[0], at[1]};
}

template <typename Sample>
std::vector<double> Welch<Sample>::power(std::span<const double> sums, std::uint64_t frames) const {
  std::vector<double> result;
  result.reserve(channels_ * bins());
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t k = 0; k < bins(); ++k) {
      result.push_back(sums[c * kept_ + kept_bin(k)] * scale(k, frames));
    }
  }
  return result;
}

template <typename Sample>
std::vector<double> Welch<Sample>::median_power(std::span<const double> powers) const {
  const std::size_t stride = powers_per_frame();
  const std::size_t frames = powers.size() / stride;
  const double bias = median_bias(frames);
  std::vector<double> medians(stride);
#pragma omp parallel
  {
    std::vector<double> values(frames);
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < stride; ++i) {
      for (std::size_t f = 0; f < frames; ++f) values[f] = powers[f * stride + i];
      medians[i] = median(values);
    }
  }
  std::vector<double> result;
  result.reserve(channels_ * bins());
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t k = 0; k < bins(); ++k) {
      result.push_back(medians[c * kept_ + kept_bin(k)] * scale(k, 1) / bias);
    }
  }
  return result;
}

template <typename Sample>
std::vector<std::complex<double>> Welch<Sample>::cross(std::span<const double> sums,
                                                       std::uint64_t frames) const {
  std::vector<std::complex<double>> result;
  result.reserve(pairs_.size() * bins());
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    for (std::size_t k = 0; k < bins(); ++k) {
      const std::complex<double> sum = cross_sum(sums, p, kept_bin(k));
      result.push_back((is_mirrored(k) ? std::conj(sum) : sum) * scale(k, frames));
    }
  }
  return result;
}

template <typename Sample>
std::vector<double> Welch<Sample>::coherence(std::span<const double> sums) const {
  std::vector<double> result;
  result.reserve(pairs_.size() * bins());
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    for (std::size_t k = 0; k < bins(); ++k) {
      const std::size_t kept = kept_bin(k);
      const double of_first = sums[pairs_[p].first * kept_ + kept];
      const double of_second = sums[pairs_[p].second * kept_ + kept];
      result.push_back(std::norm(cross_sum(sums, p, kept)) / of_first / of_second);
    }
  }
  return result;
}

template class Welch<float>;
template class Welch<double>;
template class Welch<std::complex<float>>;
template class Welch<std::complex<double>>;

}  // namespace papfft::fft
