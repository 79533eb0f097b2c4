// SPDX-License-Identifier: MIT
#include "fft/spectral/window.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace papfft::fft {
namespace {

double cosine(double turns) { return std::cos(2 * std::numbers::pi * turns); }

double tukey(double x, double alpha) {
  if (alpha <= 0) return 1;
  alpha = std::min(alpha, 1.0);
  const double from_edge = std::min(x, 1 - x);
  return from_edge < alpha / 2 ? 0.5 - 0.5 * cosine(from_edge / alpha) : 1;
}

double value(Window window, double x, double tukey_alpha) {
  switch (window) {
    case Window::boxcar:
      return 1;
    case Window::hann:
      return 0.5 - 0.5 * cosine(x);
    case Window::hamming:
      return 0.54 - 0.46 * cosine(x);
    case Window::blackman:
      return 0.42 - 0.5 * cosine(x) + 0.08 * cosine(2 * x);
    case Window::tukey:
      return tukey(x, tukey_alpha);
  }
  throw std::invalid_argument("make_window: no such window");
}

}  // namespace

Window parse_window(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kWindowNames.size(); ++i) {
    if (kWindowNames.at(i) == name) return static_cast<Window>(i);
    known += (known.empty() ? "" : ", ") + std::string(kWindowNames.at(i));
  }
  throw std::invalid_argument("no window '" + std::string(name) + "'; known: " + known);
}

std::vector<double> make_window(Window window, std::size_t n, double tukey_alpha) {
  std::vector<double> samples(n, 1.0);
  if (n <= 1) return samples;
  for (std::size_t k = 0; k < n; ++k) {
    samples[k] = value(window, static_cast<double>(k) / static_cast<double>(n), tukey_alpha);
  }
  return samples;
}

std::vector<double> window_of(std::span<const double> made, Window window, std::size_t n,
                              double tukey_alpha) {
  if (made.empty()) return make_window(window, n, tukey_alpha);
  if (made.size() != n) throw std::invalid_argument("the window is not as long as a frame");
  return {made.begin(), made.end()};
}

double power_scale(std::span<const double> window, Scaling scaling, double sample_rate_hz) {
  if (!(sample_rate_hz > 0)) throw std::invalid_argument("the sample rate must be positive");
  double sum = 0;
  double sum_of_squares = 0;
  for (const double w : window) {
    sum += w;
    sum_of_squares += w * w;
  }
  if (!(sum > 0)) throw std::invalid_argument("the window's sum is 0");
  return scaling == Scaling::density ? 1 / (sample_rate_hz * sum_of_squares) : 1 / (sum * sum);
}

}  // namespace papfft::fft
