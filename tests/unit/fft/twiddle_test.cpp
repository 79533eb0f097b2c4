// SPDX-License-Identifier: MIT
#include "fft/kernel/twiddle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace papfft::fft {
namespace {

TEST(Twiddle, HasTheCirclesSymmetriesExactly) {
  EXPECT_EQ(twiddle<double>(0, 1), std::complex<double>(1, 0));
  EXPECT_EQ(twiddle<double>(0, 7), std::complex<double>(1, 0));
  for (const std::uint64_t n : {4U, 8U, 12U, 20U, 1U << 20U}) {
    EXPECT_EQ(twiddle<double>(n / 4, n), std::complex<double>(0, -1)) << n;
    EXPECT_EQ(twiddle<double>(n / 2, n), std::complex<double>(-1, 0)) << n;
    EXPECT_EQ(twiddle<double>(3 * n / 4, n), std::complex<double>(0, 1)) << n;
  }
  for (const std::uint64_t n : {5U, 8U, 24U, 97U}) {
    for (std::uint64_t k = 1; k < n; ++k) {
      EXPECT_EQ(twiddle<double>(n - k, n), std::conj(twiddle<double>(k, n))) << k << '/' << n;
      EXPECT_EQ(twiddle<double>(k + 5 * n, n), twiddle<double>(k, n)) << k << '/' << n;
    }
  }
}

template <typename T>
void expect_rounded_once() {
  for (const std::uint64_t n : {1U, 2U, 3U, 6U, 7U, 40U, 1000U, (1U << 20U) - 1, 1U << 20U}) {
    const std::uint64_t step = n < 2000 ? 1 : 1237;
    for (std::uint64_t k = 0; k < n; k += step) {
      const long double angle =
          2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
      const auto w = twiddle<T>(k, n);
      // Half a unit in the last place of a number below 1, and the reference's own rounding.
      const double bound = std::numeric_limits<T>::epsilon() * 0.2501 + 1e-18;
      EXPECT_NEAR(static_cast<double>(w.real() - std::cos(angle)), 0, bound) << k << '/' << n;
      EXPECT_NEAR(static_cast<double>(w.imag() + std::sin(angle)), 0, bound) << k << '/' << n;
    }
  }
}

TEST(Twiddle, IsRoundedOnce) {
  expect_rounded_once<double>();
  expect_rounded_once<float>();
}

TEST(Twiddle, RejectsLengthsOutOfRange) {
  EXPECT_THROW((void)twiddle<double>(0, 0), std::invalid_argument);
  EXPECT_THROW((void)twiddle<double>(0, std::uint64_t{1} << 61U), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::fft
