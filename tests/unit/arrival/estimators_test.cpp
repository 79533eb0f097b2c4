// SPDX-License-Identifier: MIT
#include "comm/arrival/estimators.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace papfft::comm {
namespace {

using Prediction = DurationEstimator::Prediction;

TEST(Estimators, EdgeExtrapolates) {
  EXPECT_EQ(extrapolate_edge(50, 0.5), 100);
  EXPECT_EQ(extrapolate_edge(100, 0.3), 333);
  EXPECT_EQ(extrapolate_edge(0, 0.5), 0);
  EXPECT_EQ(extrapolate_edge(7, 1.0), 7);
  EXPECT_EQ(extrapolate_edge(std::numeric_limits<std::int64_t>::max(), 1e-300), 1'000'000'000'000'000'000);
}

TEST(Estimators, EdgeRefusesNonsense) {
  for (const double fraction : {0.0, -0.5, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)extrapolate_edge(1, fraction), std::invalid_argument) << fraction;
  }
  EXPECT_THROW((void)extrapolate_edge(-1, 0.5), std::invalid_argument);
}

TEST(Estimators, KnowNothingWithoutHistory) {
  EXPECT_EQ(SimpleMovingAverage(1).predict(), std::nullopt);
  EXPECT_EQ(SimpleMovingAverage(3).predict(), std::nullopt);
  EXPECT_EQ(ExponentialMovingAverage(0.5).predict(), std::nullopt);
  EXPECT_EQ(DurationEstimator().predict(), std::nullopt);
  EXPECT_EQ(DurationEstimator().error_ns(Estimator::edge), std::nullopt);
}

TEST(Estimators, Averages) {
  SimpleMovingAverage sma(3);
  ExponentialMovingAverage ewma(0.5);
  SimpleMovingAverage last(1);
  for (const int d : {10, 20, 60, 100}) {
    sma.add(d);
    ewma.add(d);
    last.add(d);
  }
  EXPECT_EQ(sma.predict(), 60);   // (20 + 60 + 100) / 3
  EXPECT_EQ(ewma.predict(), 69);  // 10, 15, 37.5, 68.75
  EXPECT_EQ(last.predict(), 100);
  SimpleMovingAverage young(5);
  young.add(4);
  young.add(8);
  EXPECT_EQ(young.predict(), 6);
}

TEST(Estimators, RefuseSettingsThatMakeNoSense) {
  EXPECT_THROW(SimpleMovingAverage(0), std::invalid_argument);
  EXPECT_THROW(ExponentialMovingAverage(0), std::invalid_argument);
  EXPECT_THROW(ExponentialMovingAverage(1.5), std::invalid_argument);
  EXPECT_THROW(DurationEstimator({.error_count = 0}), std::invalid_argument);
}

TEST(DurationEstimator, TheLatestEdgeCounts) {
  DurationEstimator e;
  e.start();
  e.edge(40, 0.5);
  EXPECT_EQ(e.predict(), (Prediction{80, Estimator::edge}));
  e.edge(90, 0.75);
  EXPECT_EQ(e.predict(), (Prediction{120, Estimator::edge}));
  e.start();
  EXPECT_EQ(e.predict(), std::nullopt) << "an edge is of one iteration only";
}

TEST(DurationEstimator, PrefersWhatErredLeast) {
  // Durations that alternate: every memory of the past errs, the edge is right.
  DurationEstimator alternating;
  for (int i = 0; i < 10; ++i) {
    const int duration = i % 2 == 0 ? 100 : 900;
    alternating.start();
    alternating.edge(duration / 2, 0.5);
    alternating.finish(duration);
  }
  alternating.start();
  EXPECT_NE(alternating.predict()->by, Estimator::edge) << "there is no edge yet";
  alternating.edge(450, 0.5);
  EXPECT_EQ(alternating.predict(), (Prediction{900, Estimator::edge}));

  // A constant duration whose progress is not even: the edge errs, the past is right.
  DurationEstimator constant;
  for (int i = 0; i < 10; ++i) {
    constant.start();
    constant.edge(900, 0.5);
    constant.finish(1000);
  }
  constant.start();
  constant.edge(900, 0.5);
  EXPECT_EQ(constant.predict(), (Prediction{1000, Estimator::last}));
  EXPECT_EQ(constant.error_ns(Estimator::edge), 800);
  EXPECT_EQ(constant.error_ns(Estimator::last), 0);
}

TEST(RecentMedian, IsOfTheLast) {
  RecentMedian median(3);
  EXPECT_EQ(median.value(), std::nullopt);
  median.add(7);
  EXPECT_EQ(median.value(), 7);
  median.add(1);
  EXPECT_EQ(median.value(), 1) << "the lower one of two";
  median.add(100);
  EXPECT_EQ(median.value(), 7);
  median.add(200);  // 1, 100, 200
  median.add(300);
  EXPECT_EQ(median.value(), 200);
  EXPECT_THROW(RecentMedian(0), std::invalid_argument);
}

TEST(DurationEstimator, ItsErrorIsNotThatOfARareDisturbance) {
  DurationEstimator e({.error_count = 3});
  const auto iteration = [&](std::int64_t duration_ns) {
    e.edge(100, 1.0);
    e.finish(duration_ns);
    return e.error_ns(Estimator::edge);
  };
  EXPECT_EQ(iteration(180), 80);
  EXPECT_EQ(iteration(110), 10) << "of two the lower one";
  EXPECT_EQ(iteration(112), 12);
  EXPECT_EQ(iteration(1'000'000), 12);
  EXPECT_EQ(iteration(111), 12);
  EXPECT_EQ(iteration(113), 13);
  e.finish(100);  // without an edge, nothing is scored for it
  EXPECT_EQ(e.error_ns(Estimator::edge), 13);
}

TEST(DurationEstimator, AnUnscoredEstimatorComesAfterScoredOnes) {
  DurationEstimator e;
  e.edge(10, 0.1);
  e.finish(900);  // the edge erred by 800; the others have no score yet
  e.edge(10, 0.1);
  EXPECT_EQ(e.predict()->by, Estimator::edge);
}

TEST(DurationEstimator, NamesItsEstimators) {
  EXPECT_EQ(to_string(Estimator::edge), "edge");
  EXPECT_EQ(to_string(Estimator::ewma), "ewma");
}

}  // namespace
}  // namespace papfft::comm
