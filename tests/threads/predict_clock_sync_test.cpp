// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <latch>
#include <stdexcept>

#include "comm/arrival/clock_sync.hpp"
#include "comm/transport/threads/thread_group.hpp"

namespace papfft::comm {
namespace {

using namespace std::chrono_literals;

constexpr int kSyncTag = 4;

struct SyncCase {
  int ranks;
  std::uint32_t seed;
};

class ClockSyncOnThreads : public testing::TestWithParam<SyncCase> {};

/// How wrong a rank's reference clock is: all threads share one true clock, which is also rank 0's.
std::int64_t error_ns(const ClockSync& sync, const ClockSource& truth) {
  const std::int64_t before = truth();
  const std::int64_t said = sync.now_ns();
  const std::int64_t after = truth();
  return said < before ? before - said : std::max<std::int64_t>(0, said - after);
}

TEST_P(ClockSyncOnThreads, FindsOffsetAndKeepsUpWithDrift) {
  std::latch all_done(GetParam().ranks);
  ThreadGroup(GetParam().ranks, GetParam().seed).run([&](Transport& transport) {
    const ClockSource truth = monotonic_clock();
    const Rank r = transport.rank();
    // Ahead by milliseconds, or behind by hours: who took one clock's time for the other's would not ask again for as long.
    const std::int64_t offset_ns = r % 2 == 0 ? r * 5'000'000LL : -r * 3'600'000'000'000LL;
    const ClockSource local = r == 0 ? truth : skewed_clock(truth, offset_ns, r * 50'000);
    ClockSync sync(transport, local, {.first_burst = 20, .burst = 5, .period = 20ms}, kSyncTag);
    sync.synchronise();
    EXPECT_LE(error_ns(sync, truth), sync.uncertainty_ns()) << "rank " << r << " at the start";
    Background background;
    background.add(sync);
    background.start();
    while (r != 0 && sync.bursts() < 6) {
      std::this_thread::sleep_for(1ms);
      background.rethrow();
      EXPECT_LE(error_ns(sync, truth), sync.uncertainty_ns()) << "rank " << r << ", burst " << sync.bursts();
    }
    all_done.arrive_and_wait();
    background.remove(sync);
    sync.close();
    background.stop();
    EXPECT_LE(error_ns(sync, truth), sync.uncertainty_ns()) << "rank " << r << " at the end";
  });
}

TEST_P(ClockSyncOnThreads, StepsFromTheCallsDoWithoutAThread) {
  ThreadGroup(GetParam().ranks, GetParam().seed).run([](Transport& transport) {
    const ClockSource truth = monotonic_clock();
    const Rank r = transport.rank();
    ClockSync sync(transport, skewed_clock(truth, -r * 7'000'000, 0),
                   {.first_burst = 5, .burst = 3, .period = 1ms}, kSyncTag);
    sync.synchronise();
    // Rank 0 steps as long as others need it, and the others some time longer than they need.
    for (int call = 0; call < 50; ++call) {
      sync.step();
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (1 + (r + call) % 4)));
    }
    sync.close();
    EXPECT_LE(error_ns(sync, truth), sync.uncertainty_ns()) << "rank " << r;
  });
}

TEST_P(ClockSyncOnThreads, CanBeLeftInTheMiddle) {
  ThreadGroup(GetParam().ranks, GetParam().seed).run([](Transport& transport) {
    ClockSync sync(transport, monotonic_clock(), kSyncTag);
    (void)sync.step();
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ClockSyncOnThreads,
                         testing::Values(SyncCase{1, 0}, SyncCase{2, 0}, SyncCase{3, 5}, SyncCase{8, 6}),
                         [](const auto& c) {
                           return "P" + std::to_string(c.param.ranks) + "seed" + std::to_string(c.param.seed);
                         });

TEST(ClockSource, SkewedClockIsSkewed) {
  std::int64_t now = 1'000'000'000;
  const ClockSource skewed = skewed_clock([&] { return now; }, 500, 2'000'000);
  EXPECT_EQ(skewed(), 1'000'000'500);
  now += 1'000'000'000;
  EXPECT_EQ(skewed(), 2'002'000'500);
}

TEST(ClockSync, RefusesSettingsThatMakeNoSense) {
  ThreadGroup(1).run([](Transport& t) {
    EXPECT_THROW(ClockSync(t, monotonic_clock(), {.first_burst = 0}, kSyncTag), std::invalid_argument);
    EXPECT_THROW(ClockSync(t, monotonic_clock(), {.burst = 0}, kSyncTag), std::invalid_argument);
    EXPECT_THROW(ClockSync(t, monotonic_clock(), {.period = 0ns}, kSyncTag), std::invalid_argument);
  });
}

}  // namespace
}  // namespace papfft::comm
