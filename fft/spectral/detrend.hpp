// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace papfft::fft {

/// What is subtracted from a frame before the window: its mean, its least-squares line, or nothing.
enum class Detrend { constant, linear, none };

/// constant, linear or none. @throws std::invalid_argument  another name
[[nodiscard]] inline Detrend parse_detrend(std::string_view name) {
  if (name == "constant") return Detrend::constant;
  if (name == "linear") return Detrend::linear;
  if (name == "none") return Detrend::none;
  throw std::invalid_argument("unknown detrending '" + std::string(name) + "': constant, linear or none");
}

/// out[n] = (frame[n] - trend at n) window[n], as scipy.signal.detrend and a window do it. Sums are in double precision.
/// @param frame, out  window.size() samples, T or std::complex<T>; not the same
template <typename T, typename Sample>
void detrend_and_window(const Sample* frame, std::span<const T> window, Detrend detrend, Sample* out) {
  using Sum = std::conditional_t<std::is_same_v<Sample, T>, double, std::complex<double>>;
  const std::size_t n = window.size();
  Sum mean{};
  Sum slope{};
  const double middle = (static_cast<double>(n) - 1) / 2;
  if (detrend != Detrend::none) {
    for (std::size_t k = 0; k < n; ++k) mean += static_cast<Sum>(frame[k]);
    mean /= static_cast<double>(n);
  }
  if (detrend == Detrend::linear && n > 1) {
    // About the middle, where mean and slope are independent: sum over k of (k - middle)^2 = n (n^2 - 1) / 12.
    for (std::size_t k = 0; k < n; ++k) {
      slope += (static_cast<Sum>(frame[k]) - mean) * (static_cast<double>(k) - middle);
    }
    const auto length = static_cast<double>(n);
    slope /= length * (length * length - 1) / 12;
    for (std::size_t k = 0; k < n; ++k) {
      const Sum trend = mean + slope * (static_cast<double>(k) - middle);
      out[k] = static_cast<Sample>(static_cast<Sum>(frame[k]) - trend) * window[k];
    }
    return;
  }
  for (std::size_t k = 0; k < n; ++k) {
    out[k] = static_cast<Sample>(static_cast<Sum>(frame[k]) - mean) * window[k];
  }
}

}  // namespace papfft::fft
