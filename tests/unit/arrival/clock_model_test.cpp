// SPDX-License-Identifier: MIT
#include "comm/arrival/clock_model.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <random>
#include <stdexcept>

namespace papfft::comm {
namespace {

/// reference = local + offset + drift * (local - start), exactly enough.
struct TrueClock {
  std::int64_t start_ns = 7'000'000'000'000;
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppb = 0;
  std::int64_t operator()(std::int64_t local_ns) const {
    return local_ns + offset_ns + (local_ns - start_ns) / 1000 * drift_ppb / 1'000'000;
  }
};

/// Each way takes at least `least_ns` and, with heavy and unequal tails, much more.
std::vector<PingPong> burst(const TrueClock& clock, std::int64_t at_ns, int count, std::int64_t least_ns,
                            std::mt19937& random) {
  std::exponential_distribution<double> there(1 / 80e3);
  std::exponential_distribution<double> back(1 / 10e3);
  std::vector<PingPong> samples;
  for (int k = 0; k < count; ++k) {
    const std::int64_t middle_ns = at_ns + least_ns + static_cast<std::int64_t>(there(random));
    const std::int64_t end_ns = middle_ns + least_ns + static_cast<std::int64_t>(back(random));
    samples.push_back({at_ns, clock(middle_ns), end_ns});
    at_ns = end_ns + 1000;
  }
  return samples;
}

TEST(ClockModel, KnowsNothingWithoutSamples) {
  ClockModel model;
  model.add({});
  EXPECT_FALSE(model.ready());
  EXPECT_EQ(model.to_reference(42), 42);
  EXPECT_EQ(model.to_local(42), 42);
  EXPECT_EQ(model.uncertainty_ns(42), std::numeric_limits<std::int64_t>::max());
}

TEST(ClockModel, OneSymmetricSampleGivesTheOffsetAndHalfTheRoundTrip) {
  ClockModel model;
  const PingPong sample{.send_ns = 1000, .remote_ns = 5'001'100, .receive_ns = 1200};
  model.add(std::span(&sample, 1));
  EXPECT_EQ(model.to_reference(1100), 5'001'100);
  EXPECT_EQ(model.to_local(5'001'100), 1100);
  EXPECT_NEAR(static_cast<double>(model.uncertainty_ns(1100)), 100, 2);
  // 500 ppm for a second more.
  EXPECT_NEAR(static_cast<double>(model.uncertainty_ns(1'000'001'100)), 500'100, 10);
}

TEST(ClockModel, TheShortestRoundTripOfABurstCounts) {
  ClockModel model;
  const std::vector<PingPong> samples = {{0, 900'000, 1'000'000}, {2'000'000, 2'000'050, 2'000'100}};
  model.add(samples);
  EXPECT_EQ(model.to_reference(2'000'050), 2'000'050);
  EXPECT_LT(model.uncertainty_ns(2'000'050), 100);
}

TEST(ClockModel, TooShortABaseGivesNoDrift) {
  ClockModel model;
  const std::vector<PingPong> first = {{0, 50'000, 100'000}};
  const std::vector<PingPong> second = {
      {1'000'000, 1'000'000 + 90'000, 1'000'000 + 100'000}};  // as if 4 % faster
  model.add(first);
  model.add(second);
  EXPECT_EQ(model.drift_ppb(), 0);
}

TEST(ClockModel, RefusesTimeTravel) {
  ClockModel model;
  const PingPong sample{.send_ns = 10, .remote_ns = 0, .receive_ns = 9};
  EXPECT_THROW(model.add(std::span(&sample, 1)), std::invalid_argument);
}

struct Case {
  std::int64_t offset_ns;
  std::int64_t drift_ppb;
  std::uint32_t seed;
};

class ClockModelWithJitter : public testing::TestWithParam<Case> {};

TEST_P(ClockModelWithJitter, ErrsByNoMoreThanItSays) {
  const TrueClock clock{.offset_ns = GetParam().offset_ns, .drift_ppb = GetParam().drift_ppb};
  std::mt19937 random(GetParam().seed);
  ClockModel model;
  for (int k = 0; k < 60; ++k) {
    const std::int64_t at_ns = clock.start_ns + k * 5'000'000'000;
    model.add(burst(clock, at_ns, 10, 20'000, random));
    for (const std::int64_t ahead_ns : {0, 1'000'000, 1'000'000'000}) {
      for (const std::int64_t t : {at_ns + ahead_ns, at_ns + 4 * ahead_ns}) {
        const std::int64_t error_ns = std::abs(model.to_reference(t) - clock(t));
        EXPECT_LE(error_ns, model.uncertainty_ns(t)) << "burst " << k << ", " << t - at_ns << " ns after it";
        EXPECT_LE(std::abs(model.to_local(model.to_reference(t)) - t), 1);
      }
    }
  }
  const std::int64_t last_ns = clock.start_ns + 59 * std::int64_t{5'000'000'000};
  EXPECT_NEAR(static_cast<double>(model.drift_ppb()), static_cast<double>(clock.drift_ppb), 2000);
  // The round trip's unavoidable 40 us give 20 us; a little more is the price of jitter.
  EXPECT_LT(model.uncertainty_ns(last_ns), 60'000);
}

INSTANTIATE_TEST_SUITE_P(OffsetsAndDrifts, ClockModelWithJitter,
                         testing::Values(Case{0, 0, 1}, Case{5'000'000, 0, 2}, Case{-5'000'000, 40'000, 3},
                                         Case{1'800'000'000'000'000'000, -100'000, 4},
                                         Case{-6'000'000'000'000, 400'000, 5}));

}  // namespace
}  // namespace papfft::comm
