// SPDX-License-Identifier: MIT
// The rank-sum test against values of scipy 1.10.1, scipy.stats.mannwhitneyu(above, below, alternative="greater", method=...).
#include "app/bench/mann_whitney.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

namespace papfft::app {
namespace {

using Sample = std::vector<double>;

/// begin, begin + step, ...
Sample steps(std::size_t count, double begin, double step) {
  Sample values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(begin + step * static_cast<double>(i));
  return values;
}

TEST(MannWhitney, SmallSamplesAreExact) {
  // scipy's manual: ages at which a disease was found. U = 17 of 20 pairs; 7 of the 126 orders have as much or more.
  const Sample males = {19, 22, 16, 29, 24};
  const Sample females = {20, 11, 17, 12};
  EXPECT_NEAR(mann_whitney_p(males, females), 7.0 / 126, 1e-15);
  EXPECT_NEAR(mann_whitney_p(females, males), 0.9682539682539684, 1e-15);
  // method="exact": U = 60
  const Sample slow = {10.2, 10.4, 10.1, 10.9, 10.6, 11.3, 10.8, 10.5};
  const Sample fast = {9.9, 10.0, 10.3, 9.7, 9.8, 10.05, 10.35, 9.6};
  EXPECT_NEAR(mann_whitney_p(slow, fast), 0.0009324009324009324, 1e-15);
  // method="exact": U = 280
  EXPECT_NEAR(mann_whitney_p(steps(20, 2, 2), steps(20, -7, 2)), 0.015205628019382432, 1e-14);
}

TEST(MannWhitney, SamplesThatDoNotOverlapHaveOneOrderAmongAll) {
  EXPECT_NEAR(mann_whitney_p(Sample{5, 6, 7, 8, 9}, Sample{0, 1, 2, 3, 4}), 1.0 / 252, 1e-15);
  EXPECT_NEAR(mann_whitney_p(Sample{5, 6, 7, 8}, Sample{0, 1, 2, 3}), 1.0 / 70, 1e-15);
  EXPECT_NEAR(mann_whitney_p(Sample{2}, Sample{1}), 0.5, 1e-15);
  EXPECT_DOUBLE_EQ(mann_whitney_p(Sample{1}, Sample{2}), 1);
}

TEST(MannWhitney, TiesAreCorrectedFor) {
  // method="asymptotic": U = 47.5, and of the samples exchanged 16.5
  const Sample some = {3, 3, 4, 5, 5, 6, 7, 7};
  const Sample other = {1, 2, 3, 3, 4, 4, 5, 6};
  EXPECT_NEAR(mann_whitney_p(some, other), 0.05490970440761861, 1e-14);
  EXPECT_NEAR(mann_whitney_p(other, some), 0.9559592441689049, 1e-14);
}

TEST(MannWhitney, LargeSamplesAreNormal) {
  // method="asymptotic": U = 705 without ties
  EXPECT_NEAR(mann_whitney_p(steps(30, 8.5, 1), steps(40, 0, 1)), 0.10745314872454437, 1e-14);
  // method="asymptotic": U = 703.5 with ties
  Sample some;
  Sample other;
  for (int i = 0; i < 30; ++i) some.push_back(7 * i % 50 + 0.5 * (i % 2) + 4);
  for (int i = 0; i < 40; ++i) other.push_back(11 * i % 50);
  EXPECT_NEAR(mann_whitney_p(some, other), 0.11075473879644943, 1e-14);
}

TEST(MannWhitney, ExactAndNormalAgreeWhereTheyMeet) {
  const Sample below = steps(kMostExact, 0, 2);
  const Sample above = steps(kMostExact, 9, 2);
  const double exact = mann_whitney_p(above, below);
  Sample more = below;
  more.push_back(24.5);  // in the middle, and one too many for the exact distribution
  EXPECT_NEAR(mann_whitney_p(above, more), exact, 0.003);
}

TEST(MannWhitney, EqualValuesShowNothing) {
  EXPECT_DOUBLE_EQ(mann_whitney_p(Sample(20, 3.0), Sample(20, 3.0)), 1);
  EXPECT_THROW((void)mann_whitney_p(Sample{}, Sample{1}), std::invalid_argument);
  EXPECT_THROW((void)mann_whitney_p(Sample{1}, Sample{}), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::app
