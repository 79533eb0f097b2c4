// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace papfft::fft {

enum class Window { boxcar, hann, hamming, blackman, tukey };

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 5> kWindowNames = {"boxcar", "hann", "hamming", "blackman",
                                                                 "tukey"};

/// The window of this name. @throws std::invalid_argument  there is none
[[nodiscard]] Window parse_window(std::string_view name);

/// A periodic window of n samples, as scipy.signal.get_window(name, n) makes it (fftbins=True): the symmetric window of
/// n+1 samples without its last. With x = k/n, k = 0..n-1:
///
///   hann 0.5 - 0.5 cos 2 pi x   hamming 0.54 - 0.46 cos 2 pi x   blackman 0.42 - 0.5 cos 2 pi x + 0.08 cos 4 pi x
///   tukey: 1, with cosine tapers over the shares alpha/2 at both ends; alpha <= 0 is boxcar, alpha >= 1 is hann
///
/// A single sample is 1. @param tukey_alpha  used by tukey only
[[nodiscard]] std::vector<double> make_window(Window window, std::size_t n, double tukey_alpha = 0.25);

/// The samples that somebody made, such as another rank, or, if there are none, those of make_window().
/// @throws std::invalid_argument  there are some, but not n
[[nodiscard]] std::vector<double> window_of(std::span<const double> made, Window window, std::size_t n,
                                            double tukey_alpha);

enum class Scaling { density, spectrum };

/// What a squared spectrum is multiplied with: 1/(rate sum w^2) for density, 1/(sum w)^2 for spectrum.
/// @throws std::invalid_argument  the rate or the window's sum is not positive
[[nodiscard]] double power_scale(std::span<const double> window, Scaling scaling, double sample_rate_hz);

}  // namespace papfft::fft
