// SPDX-License-Identifier: MIT
// Arrival-aware algorithms that others published: the worked examples of their headers, and how many rounds they take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Schedule make(Operation operation, std::string_view name, std::vector<std::int64_t> arrival_ns) {
  return make_schedule(find_algorithm(operation, name), {.operation = operation,
                                                         .ranks = static_cast<int>(arrival_ns.size()),
                                                         .arrival_ns = std::move(arrival_ns)});
}

TEST(AllreduceSlt, IsAChainInOrderOfArrivalAndBack) {
  EXPECT_EQ(to_text(make(Operation::allreduce, "slt", {20, 0, 10})),
            "allreduce: 3 ranks, 1 blocks\n"
            "rank 0\n"
            "  0  round 1  recv_combine <-2 [0,1)\n"
            "  1  round 2  send ->2 [0,1)  after {0}\n"
            "rank 1\n"
            "  0  round 0  send ->2 [0,1)\n"
            "  1  round 3  recv <-2 [0,1)  after {0}\n"
            "rank 2\n"
            "  0  round 0  recv_combine <-1 [0,1)\n"
            "  1  round 1  send ->0 [0,1)  after {0}\n"
            "  2  round 2  recv <-0 [0,1)  after {0 1}\n"
            "  3  round 3  send ->1 [0,1)  after {2}\n");
}

std::vector<Rank> gathered_by_root(const Schedule& schedule) {
  std::vector<Rank> ranks;
  for (const Op& op : schedule.programs.front().ops()) {
    if (op.kind == OpKind::recv) ranks.push_back(op.peer);
  }
  return ranks;
}

TEST(AllgatherSlb, GathersThoseExpectedFirstFirst) {
  EXPECT_THAT(gathered_by_root(make(Operation::allgather, "slb", {0, 20, 10})), ElementsAre(2, 1));
  EXPECT_THAT(gathered_by_root(make(Operation::allgather, "slb", {90, 5, 70, 1, 30})),
              ElementsAre(3, 1, 4, 2));
}

TEST(AllgatherSlb, SendsNobodyItsOwnBlock) {
  const Schedule schedule = make(Operation::allgather, "slb", {0, 50, 40, 30, 20, 10, 5});
  for (Rank r = 0; r < 7; ++r) {
    for (const Op& op : schedule.programs[static_cast<std::size_t>(r)].ops()) {
      if (op.kind == OpKind::recv && op.blocks.count() > 0) {
        EXPECT_NE(op.blocks.first, r);
      }
    }
  }
}

/// Messages after the reduce-scatter of the early ranks: round, from, to, chunk.
std::vector<std::string> passes(const Schedule& schedule, int first_round) {
  std::vector<std::string> found;
  for (Rank r = 0; r < schedule.shape.ranks; ++r) {
    for (const Op& op : schedule.programs[static_cast<std::size_t>(r)].ops()) {
      if (op.kind != OpKind::send || op.round < first_round) continue;
      found.push_back(std::to_string(op.round - first_round) + ": " + std::to_string(r) + "->" +
                      std::to_string(op.peer) + " " + std::to_string(op.blocks.first));
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(AllreduceStragglar, PassesChunksOnAsItsHeaderShows) {
  EXPECT_THAT(passes(make(Operation::allreduce, "stragglar", {0, 0, 0, 9}), 2),
              ElementsAre("0: 0->3 0", "0: 3->0 0", "1: 0->2 0", "1: 1->3 1", "1: 3->1 1", "2: 0->1 0",
                          "2: 1->0 1", "2: 2->3 2", "2: 3->2 2", "3: 0->2 1", "3: 2->0 2", "3: 3->1 2"));
}

TEST(AllreduceStragglar, TakesTheLatestForTheStraggler) {
  const Schedule schedule = make(Operation::allreduce, "stragglar", {0, 7, 3, 0, 0});
  for (const Op& op : schedule.programs[1].ops()) EXPECT_GE(op.round, 3) << "not in the reduce-scatter";
}

TEST(AllreduceStragglar, HasOneMessageEachWayPerRankAndRound) {
  for (int p = 2; p <= 40; ++p) {
    const Schedule schedule =
        make(Operation::allreduce, "stragglar", std::vector<std::int64_t>(static_cast<std::size_t>(p)));
    int last = 0;
    for (const Program& program : schedule.programs) {
      std::vector<int> sent;
      for (const Op& op : program.ops()) {
        last = std::max(last, op.round);
        if (op.kind == OpKind::send) sent.push_back(op.round);
      }
      std::ranges::sort(sent);
      EXPECT_EQ(std::ranges::adjacent_find(sent), sent.end()) << "P=" << p;
    }
    const int after_arrival = last + 1 - (p - 2);
    EXPECT_LE(after_arrival, p + static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1))) + 4)
        << "P=" << p;
    EXPECT_GE(after_arrival, p - 1) << "P=" << p;
  }
}

}  // namespace
}  // namespace papfft::comm
