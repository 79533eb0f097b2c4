// SPDX-License-Identifier: MIT
// Who passes what to whom, planned in rounds: in virtual time, for ranks that come apart, against the bounds.
#include "comm/schedule/family/gossip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "comm/bounds/arrival_bounds.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::comm {
namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }
int log2_of(int ranks) { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))); }

TEST(Gossip, UsesEachPortOnceARoundAndPassesOnOnlyWhatWasThere) {
  for (const int players : {2, 3, 7, 8, 33, 70}) {
    Gossip gossip(players, players);
    for (int p = 0; p < players; ++p) gossip.give(p, p);
    int rounds = 0;
    for (; !gossip.done(); ++rounds) {
      ASSERT_LT(rounds, 2 * players) << players;
      std::vector<std::vector<bool>> had(idx(players), std::vector<bool>(idx(players)));
      for (int p = 0; p < players; ++p) {
        for (int item = 0; item < players; ++item) had[idx(p)][idx(item)] = gossip.has(p, item);
      }
      std::vector<int> sent(idx(players));
      std::vector<int> received(idx(players));
      for (const Gossip::Pass& pass : gossip.next(Gossip::Ports(players))) {
        EXPECT_TRUE(had[idx(pass.from)][idx(pass.item)]);
        EXPECT_FALSE(had[idx(pass.to)][idx(pass.item)]);
        EXPECT_EQ(++sent[idx(pass.from)], 1);
        EXPECT_EQ(++received[idx(pass.to)], 1);
      }
    }
    EXPECT_LE(rounds, players + players / 16) << "each lacks all but its own";
  }
}

TEST(Gossip, LeavesPortsAloneThatAreNotFree) {
  Gossip gossip(4, 1);
  gossip.give(2, 0);
  Gossip::Ports free(4);
  free.receive[0] = free.receive[1] = false;
  const std::vector<Gossip::Pass> passes = gossip.next(free);
  ASSERT_EQ(passes.size(), 1U);
  EXPECT_EQ(passes.front().to, 3);
  free.send[2] = free.send[3] = false;
  EXPECT_TRUE(gossip.next(free).empty());
}

TEST(AllgatherGossip, PassesALateBlockOnAsItsHeaderShows) {
  const Schedule schedule = make_schedule(
      find_algorithm(Operation::allgather, "gossip"),
      {.operation = Operation::allgather, .ranks = 4, .arrival_ns = {0, 0, 0, 2}, .round_ns = 1});
  std::vector<std::string> passes;
  for (Rank r = 0; r < 4; ++r) {
    for (const Op& op : schedule.programs[idx(r)].ops()) {
      if (op.kind != OpKind::send) continue;
      passes.push_back(std::to_string(op.round) + ": " + std::to_string(r) + "->" + std::to_string(op.peer) +
                       " " + std::to_string(op.blocks.first));
    }
  }
  std::ranges::sort(passes);
  EXPECT_EQ(passes, (std::vector<std::string>{"0: 0->3 0", "0: 1->0 1", "0: 2->1 2", "1: 0->2 0", "1: 1->3 1",
                                              "1: 2->0 2", "1: 3->1 0", "2: 0->3 2", "2: 3->2 3", "3: 0->2 1",
                                              "3: 2->0 3", "3: 3->1 3"}));
}

/// With a background thread on each rank, a tick per segment and nothing for a message.
Ticks run_time(Operation operation, int segments, const std::vector<Ticks>& arrivals) {
  Schedule schedule =
      make_schedule(find_algorithm(operation, "gossip"), {.operation = operation,
                                                          .ranks = static_cast<int>(arrivals.size()),
                                                          .segments = segments,
                                                          .arrival_ns = arrivals,
                                                          .round_ns = 1});
  if (is_reduction(operation)) schedule = combine_own_last(schedule);
  const std::vector<std::int64_t> bytes(idx(schedule.shape.slots()), 1);
  return simulate(schedule, bytes, arrivals, {.beta = 1}, {.early = Early::background}).run_time;
}

/// How many rounds later than the bound the last rank is done.
Ticks rounds_beyond_bound(Operation operation, int ranks, int segments, const std::vector<Ticks>& arrivals) {
  const int of_bound = operation == Operation::allreduce ? ranks * segments : segments;
  const Ticks bound = bound_by_arrivals(operation, arrivals, of_bound, 1);
  const Ticks time = run_time(operation, segments, arrivals);
  EXPECT_GE(time, bound) << "no schedule can do that";
  return time - bound;
}

class GossipRounds : public testing::TestWithParam<Operation> {};

TEST_P(GossipRounds, AreFewBeyondTheBoundWheneverTheRanksCome) {
  std::mt19937 random(7);
  for (const int ranks : {2, 3, 5, 8, 13, 16, 24}) {
    for (const int segments : {1, 4}) {
      for (const double spread : {0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0}) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(segments) + " segments, spread " +
                     std::to_string(spread));
        std::uniform_int_distribution<Ticks> when(0, static_cast<Ticks>(spread * ranks * segments));
        std::vector<Ticks> arrivals(idx(ranks));
        for (Ticks& arrival : arrivals) arrival = when(random);
        EXPECT_LE(rounds_beyond_bound(GetParam(), ranks, segments, arrivals), 3 * log2_of(ranks));
      }
    }
  }
}

TEST_P(GossipRounds, AreFewBeyondTheBoundIfOneRankIsLate) {
  for (const Ticks late : {1L, 20L, 32L, 1000L, 1000000000L}) {
    std::vector<Ticks> arrivals(8);
    arrivals[5] = late;
    EXPECT_LE(rounds_beyond_bound(GetParam(), 8, 4, arrivals), 4) << late;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, GossipRounds,
                         testing::Values(Operation::allgather, Operation::allreduce),
                         [](const auto& test) { return std::string(to_string(test.param)); });

}  // namespace
}  // namespace papfft::comm
