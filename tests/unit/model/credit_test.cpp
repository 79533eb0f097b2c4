// SPDX-License-Identifier: MIT
// Receiver-driven exchanges in virtual time: who comes early is served early, and who is late holds up nobody. Nobody predicts.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "comm/bounds/arrival_bounds.hpp"
#include "comm/choose/select.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

constexpr int kRanks = 8;
constexpr int kSegments = 6;
constexpr std::int64_t kSegmentBytes = 1000;  // a tick each

struct Timed {
  Schedule schedule;
  Simulation result;
};

Timed run(Operation operation, std::string_view name, const std::vector<Ticks>& arrivals) {
  Timed timed{.schedule = make_schedule(
                  find_algorithm(operation, name),
                  {.operation = operation, .ranks = kRanks, .segments = kSegments, .arrival_ns = arrivals}),
              .result = {}};
  const std::vector<std::int64_t> bytes(static_cast<std::size_t>(timed.schedule.shape.slots()),
                                        kSegmentBytes);
  timed.result = simulate(timed.schedule, bytes, arrivals, {.beta = 1, .empty_is_free = true},
                          {.window = select_window(timed.schedule.shape, 0, {})});
  return timed;
}

std::vector<Ticks> late(Rank rank, Ticks by) {
  std::vector<Ticks> arrivals(kRanks);
  arrivals[static_cast<std::size_t>(rank)] = by;
  return arrivals;
}

/// What is left to do when the last rank has come, over what no algorithm can spare.
double over_bound_after_last(Operation operation, std::string_view name, const std::vector<Ticks>& arrivals,
                             std::int64_t segments) {
  const Ticks last = std::ranges::max(arrivals);
  const Ticks bound = bound_by_arrivals(operation, arrivals, segments, kSegmentBytes);
  return static_cast<double>(run(operation, name, arrivals).result.run_time - last) /
         static_cast<double>(bound - last);
}

constexpr Ticks kLong = 1000 * kSegmentBytes * kSegments;

TEST(CreditExchange, DoesWithOneLateRankWhatCannotBeDoneBefore) {
  for (const Rank rank : {0, 3, kRanks - 1}) {
    SCOPED_TRACE(rank);
    const std::vector<Ticks> arrivals = late(rank, kLong);
    EXPECT_LE(over_bound_after_last(Operation::alltoall, "credit", arrivals, kSegments), 1.05);
    EXPECT_LE(over_bound_after_last(Operation::reduce_scatter, "credit", arrivals, kSegments), 1.05);
    // Without a background thread it also has to receive all others' blocks then, as many as it sends.
    EXPECT_LE(over_bound_after_last(Operation::allgather, "credit", arrivals, kSegments) * (kSegments + 2),
              1.05 * (kRanks - 1) * kSegments);
    // It sends its vector once, and each piece of the sum is with all others little later.
    EXPECT_LE(over_bound_after_last(Operation::allreduce, "credit", arrivals, kRanks * kSegments), 2.0);
  }
}

TEST(CreditExchange, ReducesToTheRootLittleLaterThanTheLastVectorIsSent) {
  for (const Rank rank : {1, kRanks - 1}) {
    const Timed timed = run(Operation::reduce, "credit", late(rank, kLong));
    const Ticks vector = kRanks * kSegments * kSegmentBytes;
    EXPECT_GE(timed.result.run_time - kLong, vector * (kRanks - 1) / kRanks);
    EXPECT_LE(timed.result.run_time - kLong, vector * 5 / 4);
  }
}

/// When a rank's own piece or block had been joined by each other rank's.
std::vector<Ticks> joined_at(const Timed& timed, Rank owner) {
  std::vector<Ticks> at(kRanks);
  const Program& program = timed.schedule.programs[static_cast<std::size_t>(owner)];
  for (int i = 0; i < program.size(); ++i) {
    if (joins_as_it_comes(program[i])) {
      Ticks& last = at[static_cast<std::size_t>(program[i].peer)];
      last = std::max(last, timed.result.at(owner, i).end);
    }
  }
  return at;
}

TEST(CreditExchange, AddsUpInTheOrderOfComing) {
  std::vector<Ticks> arrivals;
  for (const Rank turn : {3, 0, 6, 1, 7, 2, 5, 4}) arrivals.push_back(turn * kLong);
  for (const auto& [operation, name] : {std::pair{Operation::reduce, "credit"},
                                        {Operation::allreduce, "credit"},
                                        {Operation::reduce_scatter, "credit"}}) {
    const std::vector<Ticks> joined = joined_at(run(operation, name, arrivals), 1);  // which comes first
    for (Rank r = 0; r < kRanks; ++r) {
      if (r == 1) continue;
      const Ticks came = arrivals[static_cast<std::size_t>(r)];
      EXPECT_GE(joined[static_cast<std::size_t>(r)], came);
      EXPECT_LT(joined[static_cast<std::size_t>(r)], came + kLong) << "does not wait for the next rank";
    }
  }
}

}  // namespace
}  // namespace papfft::comm
