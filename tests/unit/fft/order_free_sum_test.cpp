// SPDX-License-Identifier: MIT
#include "fft/spectral/order_free_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace papfft::fft {
namespace {

/// Doubles of very different sizes and both signs.
std::vector<double> terms(std::size_t n, int exponents, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    const double mantissa = static_cast<double>(generator() >> 11U) * 0x1p-52 - 1;
    values.push_back(std::ldexp(
        mantissa, static_cast<int>(generator() % static_cast<unsigned>(exponents)) - exponents / 2));
  }
  return values;
}

/// Adds the terms [begin, end) by a random tree.
OrderFreeSum by_random_tree(const std::vector<double>& values, std::size_t begin, std::size_t end,
                            std::mt19937_64& generator) {
  if (end - begin == 1) return OrderFreeSum::of(values[begin]);
  const std::size_t middle = begin + 1 + generator() % (end - begin - 1);
  const OrderFreeSum left = by_random_tree(values, begin, middle, generator);
  const OrderFreeSum right = by_random_tree(values, middle, end, generator);
  return generator() % 2 == 0 ? left + right : right + left;
}

TEST(OrderFreeSumTest, OneTermIsItself) {
  for (const double v : {0.0, 1.0, -1.0, 0.1, -3e-200, 1e300, 0x1.fffffffffffffp1023, -0x1p-1074, 0x1.8p-1060,
                         0x1.fffffffffffffp31, 0x1p32, 0x1.0000000000001p-32, 4294967295.9999995}) {
    EXPECT_EQ(OrderFreeSum::of(v).value(), v) << v;
  }
  for (const double v : terms(2000, 1900, 5)) EXPECT_EQ(OrderFreeSum::of(v).value(), v) << v;
}

TEST(OrderFreeSumTest, OrderAndGroupingDoNotChangeABit) {
  for (const int exponents : {4, 60, 200, 1500}) {
    std::vector<double> values = terms(300, exponents, 7);
    std::mt19937_64 generator(11);
    const double expected = by_random_tree(values, 0, values.size(), generator).value();
    bool plain_sums_differ = false;
    double plain = 0;
    for (const double v : values) plain += v;
    for (int round = 0; round < 50; ++round) {
      std::ranges::shuffle(values, generator);
      const double sum = by_random_tree(values, 0, values.size(), generator).value();
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), std::bit_cast<std::uint64_t>(expected)) << exponents;
      double again = 0;
      for (const double v : values) again += v;
      plain_sums_differ = plain_sums_differ || again != plain;
    }
    EXPECT_TRUE(plain_sums_differ) << "the terms test nothing: " << exponents;
  }
}

TEST(OrderFreeSumTest, IsAsPreciseAsADouble) {
  const std::vector<double> values = terms(1000, 40, 3);
  OrderFreeSum sum;
  long double exact = 0;
  long double size = 0;
  for (const double v : values) {
    sum = sum + OrderFreeSum::of(v);
    exact += v;
    size += std::abs(v);
  }
  EXPECT_NEAR(sum.value(), static_cast<double>(exact), static_cast<double>(size) * 1e-16);
}

TEST(OrderFreeSumTest, LowTermsAreDroppedAlikeAndLargeOnesCancel) {
  const OrderFreeSum large = OrderFreeSum::of(1e200);
  const OrderFreeSum tiny = OrderFreeSum::of(1e-200);
  EXPECT_EQ((large + tiny + OrderFreeSum::of(-1e200)).value(), 0);
  EXPECT_EQ((large + OrderFreeSum::of(-1e200) + tiny).value(), 0);
  const OrderFreeSum near = OrderFreeSum::of(0x1p-60);
  EXPECT_EQ((OrderFreeSum::of(1) + near + OrderFreeSum::of(-1)).value(), 0x1p-60);
}

TEST(OrderFreeSumTest, NotFiniteTermsShow) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan((OrderFreeSum::of(1) + OrderFreeSum::of(bad)).value()));
    EXPECT_TRUE(std::isnan((OrderFreeSum::of(bad) + OrderFreeSum{} + OrderFreeSum::of(bad)).value()));
  }
  EXPECT_EQ((OrderFreeSum{} + OrderFreeSum::of(2) + OrderFreeSum::of(0)).value(), 2);
}

}  // namespace
}  // namespace papfft::fft
