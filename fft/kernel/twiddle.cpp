// SPDX-License-Identifier: MIT
#include "fft/kernel/twiddle.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace papfft::fft {

template <typename T>
std::complex<T> twiddle(std::uint64_t k, std::uint64_t n) {
  if (n == 0 || n >= (std::uint64_t{1} << 61U))
    throw std::invalid_argument("twiddle: n must be in [1, 2^61)");
  k %= n;
  // The angle is 2 pi k/n. Fold it, from half circle to octant, remembering how to unfold.
  const bool lower_half = 2 * k > n;
  if (lower_half) k = n - k;
  const bool left_quadrant = 4 * k > n;
  // In units of 2 pi/(2n) from here on, so that n/2 - k is an integer for odd n too.
  std::uint64_t k2 = left_quadrant ? n - 2 * k : 2 * k;
  const bool upper_octant = 4 * k2 > n;
  // In units of 2 pi/(4n), for the same reason.
  const std::uint64_t k4 = upper_octant ? n - 2 * k2 : 2 * k2;
  const long double angle =
      std::numbers::pi_v<long double> * static_cast<long double>(k4) / (2 * static_cast<long double>(n));
  long double c = std::cos(angle);
  long double s = std::sin(angle);
  if (upper_octant) std::swap(c, s);
  if (left_quadrant) c = -c;
  if (lower_half) s = -s;
  return {static_cast<T>(c), static_cast<T>(-s)};
}

template std::complex<float> twiddle<float>(std::uint64_t, std::uint64_t);
template std::complex<double> twiddle<double>(std::uint64_t, std::uint64_t);
template std::complex<long double> twiddle<long double>(std::uint64_t, std::uint64_t);

RootTable::RootTable(std::size_t n) : n_(n), low_bits_(static_cast<std::size_t>(std::bit_width(n)) / 2) {
  const std::size_t step = std::size_t{1} << low_bits_;
  for (std::size_t k = 0; k < step; ++k) low_.push_back(twiddle<long double>(k, n));
  for (std::size_t k = 0; k < n; k += step) high_.push_back(twiddle<long double>(k, n));
}

}  // namespace papfft::fft
