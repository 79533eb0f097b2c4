// SPDX-License-Identifier: MIT
// Verifier, simulator and executor on random schedules, right and broken ones, beside the slow reference. The replay on SimGrid joins
// them in tests/unit/simgrid.
#include "tests/support/differential.hpp"

#include <iostream>

namespace papfft::comm::test {
namespace {

constexpr int kCases = 600;

struct Counts {
  int right = 0;
  int stuck = 0;
  int steps = 0;
};

/// All interpreters that land messages alike end the same ops.
void expect_same(const Outcome& a, const Outcome& b, const char* what) {
  EXPECT_EQ(a.error, "") << what;
  EXPECT_EQ(b.error, "") << what;
  EXPECT_EQ(a.ended, b.ended) << what;
}

Outcome simulate_case(const RandomCase& c, Combining combining, Early early, bool duplex) {
  const Landing landing = combining == Combining::overlapped ? Landing::aside : Landing::in_place;
  const Machine machine{.alpha = 10, .beta = 1, .gamma = 1, .duplex = duplex, .combining = combining};
  return in_time(c, landing, early, [&](const Conduct& conduct) {
    (void)simulate(c.schedule, c.slot_bytes, c.arrivals, machine, conduct);
  });
}

TEST(Differential, WithoutCreditsAllInterpretersEndTheSameOps) {
  Counts counts;
  for (std::uint32_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 rng(seed);
    RandomCase c = RandomScheduler(rng, false).make();
    const bool broken = seed % 2 == 1;
    if (broken) entangle(rng, c.schedule, 400, static_cast<int>(seed % 20));
    if (broken) c.window = {1, 1 + static_cast<int>(seed % 3)};
    std::optional<std::string> violation;
    std::optional<std::string> violation_in_place;
    const Outcome aside = verify(c, Landing::aside, violation);
    const Outcome in_place = verify(c, Landing::in_place, violation_in_place);
    EXPECT_EQ(violation.has_value(), !aside.all_ended) << violation.value_or("");
    EXPECT_EQ(violation_in_place.has_value(), !in_place.all_ended) << violation_in_place.value_or("");
    EXPECT_TRUE(broken || in_place.all_ended) << violation_in_place.value_or("");
    EXPECT_TRUE(aside.all_ended || !in_place.all_ended) << "to land aside only allows more";
    for (const Early early : {Early::nothing, Early::background, Early::paper_figures}) {
      expect_same(aside, simulate_case(c, Combining::overlapped, early, seed % 3 == 0), "simulator");
      expect_same(in_place, simulate_case(c, Combining::exclusive, early, seed % 3 == 0), "exclusive");
      expect_same(in_place, simulate_case(c, Combining::in_message, early, true), "in message");
    }
    expect_same(aside, execute(c, rng), "executor");
    ++(aside.all_ended ? counts.right : counts.stuck);
    counts.steps += aside.steps;
    if (testing::Test::HasFailure()) break;
  }
  std::cout << "schedules without credits: " << counts.right << " end, " << counts.stuck << " get stuck, "
            << counts.steps << " steps of the verifier\n";
  EXPECT_GT(counts.right, kCases / 2);
  EXPECT_GT(counts.stuck, kCases / 20);
}

// The reference must be able to find something: one that knows another rule than the interpreter contradicts it.
TEST(Differential, TheReferenceSeesAnotherWindowAnotherLandingAndEmptySlots) {
  int windows = 0;
  int landings = 0;
  int sizes = 0;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 rng(seed);
    const RandomCase c = RandomScheduler(rng, false).make();
    const auto contradicts = [&](const Rules& told, std::span<const std::int64_t> bytes) {
      NaiveProgress reference(c.schedule, c.slot_bytes, {.window = c.window}, {});
      (void)find_violation(c.schedule, {.rules = told, .slot_bytes = bytes, .observer = &reference});
      return !reference.error.empty();
    };
    EXPECT_FALSE(contradicts({.window = c.window}, c.slot_bytes));
    windows += contradicts({.window = {c.window.sends + 1, c.window.receives + 1}}, c.slot_bytes) ? 1 : 0;
    landings += contradicts({.window = c.window, .landing = Landing::in_place}, c.slot_bytes) ? 1 : 0;
    sizes += contradicts({.window = c.window}, {}) ? 1 : 0;
  }
  EXPECT_GT(windows, 10);
  EXPECT_GT(landings, 5);
  EXPECT_GT(sizes, 10);
}

// Whether a schedule with credits ends may depend on the order of events, of which the verifier samples some. These schedules are
// far more entangled than those of any algorithm: each step must be right, and hardly any that passes may get stuck.
TEST(Differential, WithCreditsWhatPassesTheVerifierEndsElsewhere) {
  int missed = 0;
  Counts counts;
  for (std::uint32_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 rng(seed);
    RandomCase c = RandomScheduler(rng, true).make();
    if (seed % 2 == 1) entangle(rng, c.schedule, 100, static_cast<int>(seed % 7));
    std::optional<std::string> violation;
    const Outcome in_place = verify(c, Landing::in_place, violation);
    EXPECT_EQ(in_place.error, "");
    EXPECT_TRUE(in_place.all_ended || violation.has_value());
    std::vector<Outcome> others;
    for (const Early early : {Early::nothing, Early::background}) {
      others.push_back(simulate_case(c, Combining::overlapped, early, true));
      others.push_back(simulate_case(c, Combining::exclusive, early, false));
    }
    for (int order = 0; order < 3; ++order) others.push_back(execute(c, rng));
    for (const Outcome& other : others) {
      EXPECT_EQ(other.error, "");
    }
    const bool all_end = std::ranges::all_of(others, &Outcome::all_ended);
    missed += !violation && !all_end ? 1 : 0;
    ++(violation ? counts.stuck : counts.right);
    counts.steps += in_place.steps;
    if (testing::Test::HasFailure()) break;
  }
  std::cout << "schedules with credits: " << counts.right << " pass, " << counts.stuck << " do not, "
            << counts.steps << " steps of the verifier; " << missed << " pass and get stuck\n";
  EXPECT_LE(missed, kCases / 50);
  EXPECT_GT(counts.right, kCases / 4);
  EXPECT_GT(counts.stuck, kCases / 20);
}

}  // namespace
}  // namespace papfft::comm::test
