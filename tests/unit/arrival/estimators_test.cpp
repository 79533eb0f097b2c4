// SPDX-License-Identifier: MIT
#include "comm/arrival/estimators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

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
  const DurationEstimator e;
  EXPECT_EQ(e.predict(), std::nullopt);
  for (std::size_t i = 0; i < kEstimatorCount; ++i) {
    EXPECT_EQ(e.predict(static_cast<Estimator>(i)), std::nullopt) << i;
    EXPECT_EQ(e.error_ns(static_cast<Estimator>(i)), std::nullopt) << i;
  }
}

DurationEstimator after(const std::vector<std::int64_t>& durations_ns) {
  DurationEstimator e;
  for (const std::int64_t d : durations_ns) e.finish(d);
  return e;
}

TEST(Estimators, EachHasItsOwnView) {
  const DurationEstimator e = after({10, 20, 60, 102});
  EXPECT_EQ(e.predict(Estimator::last), 102);
  EXPECT_EQ(e.predict(Estimator::sma), 48);
  EXPECT_EQ(e.predict(Estimator::median), 20) << "of an even number the lower one";
  EXPECT_EQ(e.predict(Estimator::ewma), 52);    // 10, 15, 30, and from here on 0.3 for the newest: 51.6
  EXPECT_EQ(e.predict(Estimator::trend), 127);  // 48 + 2.5 times the slope, 31.6
  EXPECT_EQ(e.predict(Estimator::edge), std::nullopt);
}

TEST(Estimators, LookAtTheLastEightOnly) {
  const DurationEstimator e = after({1'000'000, 1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(e.predict(Estimator::sma), 5);
  EXPECT_EQ(e.predict(Estimator::median), 4);
  EXPECT_EQ(e.predict(Estimator::trend), 9);
}

TEST(Estimators, ATrendNeverPredictsANegativeDuration) {
  EXPECT_EQ(after({900, 500, 100}).predict(Estimator::trend), 0);
}

TEST(Estimators, WhatRepeatsIsFoundByItsPeriod) {
  for (int period = 2; period <= 12; ++period) {
    DurationEstimator e;
    const auto duration = [&](int i) { return 1000 + 37 * (i % period) * (i % period); };
    for (int i = 0; i < 6 * period; ++i) {
      if (i >= 3 * period + 6) {
        EXPECT_EQ(e.predict()->duration_ns, duration(i)) << "period " << period << ", phase " << i;
      }
      e.finish(duration(i));
    }
  }
}

TEST(Estimators, NoPeriodSpeaksBeforeItWasJudged) {
  PeriodicEstimator e;
  e.add(5);
  e.add(7);
  EXPECT_EQ(e.predict(), std::nullopt) << "nobody knows yet how far off 5 would have been";
  e.add(6);
  EXPECT_EQ(e.predict(), 7) << "two before the next one";
}

TEST(Estimators, AFadingMeanWeighsTheFirstFewAlike) {
  FadingMean mean(0.25);
  EXPECT_EQ(mean.value(), std::nullopt);
  mean.add(10);
  EXPECT_EQ(mean.value(), 10);
  mean.add(20);
  EXPECT_EQ(mean.value(), 15);
  mean.add(60);
  mean.add(30);
  EXPECT_EQ(mean.value(), 30);
  mean.add(70);
  EXPECT_EQ(mean.value(), 40);
  for (const double weight : {0.0, 1.5}) EXPECT_THROW(FadingMean{weight}, std::invalid_argument) << weight;
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
  // Durations without any rule: every memory of the past errs, the edge is right.
  DurationEstimator irregular;
  for (const int duration : {100, 900, 300, 350, 20, 700, 680, 90, 440}) {
    irregular.start();
    irregular.edge(duration / 2, 0.5);
    irregular.finish(duration);
  }
  irregular.start();
  EXPECT_NE(irregular.predict()->by, Estimator::edge) << "there is no edge yet";
  irregular.edge(450, 0.5);
  EXPECT_EQ(irregular.predict(), (Prediction{900, Estimator::edge}));

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

/// Where the last duration, which goes by one, would have to be 1.3 times better.
TEST(DurationEstimator, AnEdgeNeedsNoMarginOverAverages) {
  constexpr std::array kDurations = {610, 140, 930, 380, 720, 250, 860, 500, 90, 680, 330, 950, 200, 570};
  const auto after_edges_off_by = [&](int error) {
    DurationEstimator e;
    for (const int duration : kDurations) {
      e.start();
      e.edge(duration + error, 1);
      e.finish(duration);
    }
    e.start();
    e.edge(400, 1);
    return e;
  };
  const DurationEstimator exact = after_edges_off_by(0);
  double least = 1e9;
  for (const auto by : {Estimator::median, Estimator::sma, Estimator::ewma})
    least = std::min(least, *exact.error_ns(by));
  EXPECT_EQ(after_edges_off_by(static_cast<int>(0.9 * least)).predict()->by, Estimator::edge);
  EXPECT_NE(after_edges_off_by(static_cast<int>(1.1 * least)).predict()->by, Estimator::edge);
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

TEST(DurationEstimator, LearnsAPhaseChangeFromItsSecondPhase) {
  DurationEstimator e;
  for (int i = 0; i < 20; ++i) e.finish(1000 + (i % 2 == 0 ? 3 : -3));
  for (int i = 0; i < 2; ++i)
    e.finish(5000);  // which nobody could foresee, and which may have been a disturbance
  for (int i = 0; i < 8; ++i) {
    EXPECT_LE(std::abs(e.predict()->duration_ns - 5000), 10) << i << " phases after the change";
    e.finish(5000 + (i % 2 == 0 ? 3 : -3));
  }
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
