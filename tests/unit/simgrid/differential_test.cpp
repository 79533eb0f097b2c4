// SPDX-License-Identifier: MIT
// The replay on random schedules, right and broken ones, beside the slow reference and the verifier.
#include "tests/support/differential.hpp"

#include "comm/model/platform.hpp"
#include "tests/unit/simgrid/simgrid_crossbar.hpp"

namespace papfft::comm::test {
namespace {

Outcome replay_case(const RandomCase& c, Early early) {
  return in_time(c, Landing::aside, early, [&](const Conduct& conduct) {
    (void)crossbar().replay(c.schedule, c.slot_bytes, c.arrivals, 1, conduct);
  });
}

TEST(ReplayDifferential, EndsTheSameOpsAsTheVerifier) {
  int stuck = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 rng(seed);
    RandomCase c = RandomScheduler(rng, false).make();
    if (seed % 2 == 1) {
      entangle(rng, c.schedule, 400, static_cast<int>(seed % 20));
      c.window = {1, 1 + static_cast<int>(seed % 3)};
    }
    std::optional<std::string> violation;
    const Outcome verified = verify(c, Landing::aside, violation);
    for (const Early early : {Early::nothing, Early::background, Early::paper_figures}) {
      const Outcome replayed = replay_case(c, early);
      ASSERT_EQ(replayed.error, "");
      ASSERT_EQ(replayed.ended, verified.ended);
    }
    stuck += verified.all_ended ? 0 : 1;
  }
  EXPECT_GT(stuck, 10);
}

// As for the other interpreters: hardly any that passes may get stuck in an order of events that the verifier has not sampled.
TEST(ReplayDifferential, EndsWhatPassesTheVerifierWithCredits) {
  int passed = 0;
  int missed = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 rng(seed);
    RandomCase c = RandomScheduler(rng, true).make();
    if (seed % 2 == 1) entangle(rng, c.schedule, 20, static_cast<int>(seed % 3));
    std::optional<std::string> violation;
    (void)verify(c, Landing::in_place, violation);
    for (const Early early : {Early::nothing, Early::background}) {
      const Outcome replayed = replay_case(c, early);
      ASSERT_EQ(replayed.error, "");
      missed += !violation && !replayed.all_ended ? 1 : 0;
    }
    passed += violation ? 0 : 1;
  }
  EXPECT_GT(passed, 75);
  EXPECT_LE(missed, 6);
}

}  // namespace
}  // namespace papfft::comm::test
