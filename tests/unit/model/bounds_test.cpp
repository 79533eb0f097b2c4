// SPDX-License-Identifier: MIT
#include "comm/bounds/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace papfft::comm {
namespace {

using Times = std::vector<std::int64_t>;

TEST(Imbalance, TimesOfACall) {
  const Times arrival = {100, 130, 110};
  const Times exit = {150, 170, 140};
  EXPECT_EQ(arrival_spread_ns(arrival), 30);
  EXPECT_DOUBLE_EQ(imbalance_factor(arrival, 10), 3);
  EXPECT_EQ(run_time_ns(arrival, exit), 70);
  EXPECT_DOUBLE_EQ(elapsed_ns(arrival, exit), 40);  // (50 + 40 + 30) / 3
}

TEST(Imbalance, BoundOfReduce) {
  // In rounds, as in the vectors of the arrival-aware bi-greedy reduce.
  EXPECT_EQ(bound_reduce_ns(Times{0, 7, 3, 3, 1, 0, 5, 2}, 8, 1), 15);
  Times ascending;
  for (int i = 0; i < 16; ++i) ascending.push_back(i);
  EXPECT_EQ(bound_reduce_ns(ascending, 10, 1), 25);
  Times modulo;
  for (int i = 0; i < 33; ++i) modulo.push_back(i % 7);
  EXPECT_EQ(bound_reduce_ns(modulo, 20, 1), 29);
  EXPECT_EQ(bound_reduce_ns(Times{500, 0}, 4, 10), 540);  // a late root still takes all segments in
  EXPECT_EQ(bound_reduce_ns(Times{3}, 4, 10), 0);
}

/// The least time by its definition: the depths that it leaves belong to a tree.
std::int64_t least_by_kraft(const Times& arrival, std::int64_t round) {
  for (std::int64_t t = *std::ranges::max_element(arrival) + round;; ++t) {
    double sum = 0;
    for (const std::int64_t a : arrival) sum += std::exp2(-static_cast<double>((t - a) / round));
    if (sum <= 1) return t;
  }
}

TEST(Imbalance, BoundOfReduceIsTheLeastTimeWithDepthsOfATree) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 1000; ++trial) {
    Times arrival(2 + random() % 12);
    const auto round = static_cast<std::int64_t>(1 + random() % 20);
    for (auto& a : arrival) a = static_cast<std::int64_t>(random() % 100);
    const std::int64_t first = *std::ranges::min_element(arrival);
    const std::int64_t least = least_by_kraft(arrival, round);
    EXPECT_EQ(bound_reduce_ns(arrival, 1, round), least - first) << "trial " << trial;
    EXPECT_EQ(bound_reduce_ns(arrival, 3, round), least + 2 * round - first) << "trial " << trial;
    // A grid of which the result is a point costs nothing.
    for (auto& a : arrival) a += (least - a) % round;
    EXPECT_EQ(least_by_kraft(arrival, round), least) << "trial " << trial;
  }
}

TEST(Imbalance, RefusesWhatMakesNoSense) {
  const Times none;
  const Times one = {1};
  const Times two = {1, 2};
  EXPECT_THROW((void)arrival_spread_ns(none), std::invalid_argument);
  EXPECT_THROW((void)imbalance_factor(two, 0), std::invalid_argument);
  EXPECT_THROW((void)run_time_ns(one, two), std::invalid_argument);
  EXPECT_THROW((void)elapsed_ns(none, none), std::invalid_argument);
  EXPECT_THROW((void)bound_reduce_ns(two, 0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::comm
