// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace papfft::test {

/// X[k] = sum_n x[n] exp(-+ 2 pi i nk/N), unscaled, by definition in long double: the slow reference. O(N^2).
/// Takes its sines from the C library directly, so that it shares nothing with what it checks.
template <typename Sample>
std::vector<std::complex<long double>> naive_dft(const std::vector<Sample>& x, bool inverse = false) {
  const std::size_t n = x.size();
  std::vector<std::complex<long double>> roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
  }
  std::vector<std::complex<long double>> spectrum(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      spectrum[k] += static_cast<std::complex<long double>>(x[i]) * roots[i * k % n];
    }
  }
  return spectrum;
}

/// The same for n = 2^k by halving, still in long double: a reference for lengths that the definition cannot reach.
template <typename Sample>
std::vector<std::complex<long double>> halving_dft(const std::vector<Sample>& x, bool inverse = false) {
  const std::size_t n = x.size();
  std::vector<std::complex<long double>> roots(n / 2 + 1);
  for (std::size_t k = 0; k < n / 2; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
  }
  std::vector<std::complex<long double>> a(x.begin(), x.end());
  std::vector<std::complex<long double>> b(n);
  // Stockham's order: a holds, for each residue r modulo `stride`, the transforms of every stride-th sample so far.
  for (std::size_t half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
    for (std::size_t p = 0; p < half; ++p) {
      for (std::size_t q = 0; q < stride; ++q) {
        const auto u = a[q + stride * p];
        const auto v = a[q + stride * (p + half)];
        const auto d = u - v;
        const auto& w = roots[p * stride];
        b[q + stride * 2 * p] = u + v;
        b[q + stride * (2 * p + 1)] = {d.real() * w.real() - d.imag() * w.imag(),
                                       d.real() * w.imag() + d.imag() * w.real()};
      }
    }
    a.swap(b);
  }
  return a;
}

/// ||actual - expected|| / ||expected|| in the L2 norm; ||actual|| if expected is 0.
template <typename Actual, typename Expected>
double relative_l2_error(const Actual& actual, const Expected& expected) {
  long double error = 0;
  long double norm = 0;
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const auto e = static_cast<std::complex<long double>>(expected[i]);
    error += std::norm(static_cast<std::complex<long double>>(actual[i]) - e);
    norm += std::norm(e);
  }
  return static_cast<double>(std::sqrt(norm > 0 ? error / norm : error));
}

/// The bound on relative_l2_error that a transform of up to 2^20 elements must keep.
template <typename T>
constexpr double error_gate() {
  return std::is_same_v<T, float> ? 6e-7 : 1e-15;
}

/// n values, each part uniform in [-1, 1); the same for the same seed on every platform.
template <typename Sample>
std::vector<Sample> random_samples(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto next = [&] { return static_cast<double>(generator() >> 11U) * 0x1p-52 - 1.0; };
  std::vector<Sample> x(n);
  for (auto& sample : x) {
    if constexpr (std::is_floating_point_v<Sample>) {
      sample = static_cast<Sample>(next());
    } else {
      using T = typename Sample::value_type;
      const auto re = static_cast<T>(next());
      sample = {re, static_cast<T>(next())};
    }
  }
  return x;
}

}  // namespace papfft::test
