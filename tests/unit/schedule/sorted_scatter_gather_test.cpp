// SPDX-License-Identifier: MIT
// The arrival-sorted scatters and gathers: their order of service, and that the derived background split is the one
// that the scatter/gather paper (SG) writes down in its Figs 6, 8, 10 and 12.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/verify/verify.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Request request_of(Operation operation, std::vector<std::int64_t> arrivals, Rank root, int segments = 1) {
  return {.operation = operation,
          .ranks = static_cast<int>(arrivals.size()),
          .root = root,
          .segments = segments,
          .arrival_ns = std::move(arrivals)};
}

std::vector<Rank> peers(const Program& program, OpKind kind) {
  std::vector<Rank> result;
  for (const Op& op : program.ops()) {
    if (op.kind == kind) result.push_back(op.peer);
  }
  return result;
}

TEST(ScatterSln, ServesInOrderOfArrivalOneAfterAnother) {
  const Request request = request_of(Operation::scatter, {70, 0, 20, 50}, 1);
  EXPECT_THAT(to_text(make_schedule(find_algorithm(Operation::scatter, "sln"), request)),
              HasSubstr("rank 1\n"
                        "  0  round 0  send ->2 [2,3)\n"
                        "  1  round 1  send ->3 [3,4)  after {0}\n"
                        "  2  round 2  send ->0 [0,1)  after {1}\n"));
}

TEST(ScatterWin, ServesInTheSameOrderWithoutWaiting) {
  const Request request = request_of(Operation::scatter, {70, 0, 20, 50}, 1);
  EXPECT_THAT(to_text(make_schedule(find_algorithm(Operation::scatter, "win"), request)),
              HasSubstr("rank 1\n"
                        "  0  round 0  send ->2 [2,3)\n"
                        "  1  round 1  send ->3 [3,4)\n"
                        "  2  round 2  send ->0 [0,1)\n"));
}

TEST(GatherSls, InvitesInOrderOfArrival) {
  const Request request = request_of(Operation::gather, {70, 0, 20, 50}, 1, 2);
  const Schedule schedule = make_schedule(find_algorithm(Operation::gather, "sls"), request);
  EXPECT_THAT(peers(schedule.programs[1], OpKind::send), ElementsAre(2, 3, 0));
  EXPECT_THAT(peers(schedule.programs[1], OpKind::recv), ElementsAre(2, 2, 3, 3, 0, 0));
}

TEST(ScatterSbn, EarlyRanksJoinFirst) {
  // Order of arrival 0 5 4 3 2 1; the documented tree by position, so 0->5, then 0->4 5->3, then 0->2 5->1.
  const Request request = request_of(Operation::scatter, {60, 50, 40, 30, 20, 10}, 0);
  EXPECT_EQ(to_text(make_schedule(find_algorithm(Operation::scatter, "sbn"), request)),
            "scatter: 6 ranks, root 0, 6 blocks\n"
            "slots hold the blocks of ranks 0 2 4 5 1 3\n"
            "rank 0\n"
            "  0  round 0  send ->5 [3,6)\n"
            "  1  round 1  send ->4 [2,3)\n"
            "  2  round 2  send ->2 [1,2)\n"
            "rank 1\n"
            "  0  round 2  recv <-5 [4,5)\n"
            "rank 2\n"
            "  0  round 2  recv <-0 [1,2)\n"
            "rank 3\n"
            "  0  round 1  recv <-5 [5,6)\n"
            "rank 4\n"
            "  0  round 1  recv <-0 [2,3)\n"
            "rank 5\n"
            "  0  round 0  recv <-0 [3,6)\n"
            "  1  round 1  send ->3 [5,6)  after {0}\n"
            "  2  round 2  send ->1 [4,5)  after {0}\n");
}

TEST(GatherSbn, EarlyRanksLeaveFirst) {
  // Latest first: 0 5 4 3 2 1; the documented tree by position: 2->0 1->5, then 4->0 3->5, then 5->0.
  const Request request = request_of(Operation::gather, {0, 10, 20, 30, 40, 50}, 0);
  EXPECT_EQ(to_text(make_schedule(find_algorithm(Operation::gather, "sbn"), request)),
            "gather: 6 ranks, root 0, 6 blocks\n"
            "slots hold the blocks of ranks 0 2 4 5 1 3\n"
            "rank 0\n"
            "  0  round 0  recv <-2 [1,2)\n"
            "  1  round 1  recv <-4 [2,3)\n"
            "  2  round 2  recv <-5 [3,6)\n"
            "rank 1\n"
            "  0  round 0  send ->5 [4,5)\n"
            "rank 2\n"
            "  0  round 0  send ->0 [1,2)\n"
            "rank 3\n"
            "  0  round 1  send ->5 [5,6)\n"
            "rank 4\n"
            "  0  round 1  send ->0 [2,3)\n"
            "rank 5\n"
            "  0  round 0  recv <-1 [4,5)\n"
            "  1  round 1  recv <-3 [5,6)\n"
            "  2  round 2  send ->0 [3,6)  after {0 1}\n");
}

TEST(ScatterSbn, GivesTheBlocksOfAPowerOfTwoInBitReversedOrder) {
  // SG Fig. 7 shuffles by arrival, then by bit reversal: position 1 of 8 stands at 4, 3 (011) at 6 (110), ...
  const Request request = request_of(Operation::scatter, {0, 1, 2, 3, 4, 5, 6, 7}, 0);
  const Schedule schedule = make_schedule(find_algorithm(Operation::scatter, "sbn"), request);
  EXPECT_THAT(schedule.shape.holder, ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
}

/// Runs `expected(is_root, op)` = needs the caller, over many groups, roots, segments and arrivals.
void expect_split(Operation operation, std::string_view name,
                  const std::function<bool(bool is_root, const Op& op)>& expected) {
  std::mt19937 rng(11);
  int ops = 0;
  for (int p = 2; p <= 33; ++p) {
    for (const int segments : {1, 2}) {
      std::vector<std::int64_t> arrivals(static_cast<std::size_t>(p));
      for (auto& a : arrivals) a = static_cast<std::int64_t>(rng() % 50);
      const Rank root = static_cast<Rank>(rng() % static_cast<unsigned>(p));
      const Request request = request_of(operation, arrivals, root, segments);
      for (Rank r = 0; r < p; ++r) {
        const RankSchedule part = make_rank_schedule(find_algorithm(operation, name), request, r);
        const std::vector<bool> needs = needs_arrival(part);
        for (int i = 0; i < part.program.size(); ++i, ++ops) {
          EXPECT_EQ(needs[static_cast<std::size_t>(i)], expected(r == root, part.program[i]))
              << name << " P=" << p << " root=" << root << " rank=" << r << ": " << describe(part.program[i]);
        }
      }
    }
  }
  EXPECT_GT(ops, 1000);
}

// Fig. 6, BSLN: background, line 2: the leaves' receive. Foreground, line 7: the root's sends.
TEST(Background, OfSlnIsFigure6) {
  const auto figure6 = [](bool is_root, const Op&) { return is_root; };
  expect_split(Operation::scatter, "sln", figure6);
  expect_split(Operation::scatter, "win", figure6);
}

// Fig. 8, BSBN scatter: background, lines 11 and 13: what all but the root receive and send on. Foreground, line
// 21: the root's sends.
TEST(Background, OfSbnScatterIsFigure8) {
  expect_split(Operation::scatter, "sbn", [](bool is_root, const Op&) { return is_root; });
}

// Fig. 10, BSLS: background, lines 5-8: all that the root does. Foreground, lines 17-19: all that the leaves do; of
// this we also let the empty go-ahead (line 17) come early, since it brings nothing and takes nothing.
TEST(Background, OfSlsIsFigure10ButForTheGoAhead) {
  expect_split(Operation::gather, "sls", [](bool is_root, const Op& op) {
    const bool go_ahead = !is_root && op.kind == OpKind::recv && op.blocks.count() == 0;
    return !is_root && !go_ahead;
  });
}

// Fig. 12, BSBN gather: background, line 13: everybody's receives. Foreground, line 18: the send of all but the root.
TEST(Background, OfSbnGatherIsFigure12) {
  expect_split(Operation::gather, "sbn", [](bool, const Op& op) { return op.kind == OpKind::send; });
}

// What SG says of them in words, for every late rank: it is served last (scatter), or hands in last (gather).
TEST(Sorted, TheLatestRankActsLast) {
  for (const int p : {2, 3, 6, 8, 13}) {
    for (Rank late = 1; late < p; ++late) {
      std::vector<std::int64_t> arrivals(static_cast<std::size_t>(p));
      arrivals[static_cast<std::size_t>(late)] = 1000;
      for (const auto& [operation, name] : {std::pair{Operation::scatter, "sln"},
                                            {Operation::scatter, "win"},
                                            {Operation::scatter, "sbn"},
                                            {Operation::gather, "sls"},
                                            {Operation::gather, "sbn"}}) {
        const Schedule schedule =
            make_schedule(find_algorithm(operation, name), request_of(operation, arrivals, 0));
        int last_round = 0;
        for (const Program& program : schedule.programs) {
          for (const Op& op : program.ops()) last_round = std::max(last_round, op.round);
        }
        const Program& program = schedule.programs[static_cast<std::size_t>(late)];
        EXPECT_EQ(program[program.size() - 1].round, last_round) << name << " P=" << p << " late=" << late;
        if (operation == Operation::scatter) {
          EXPECT_EQ(program.size(), 1) << "a leaf";
        }
      }
    }
  }
}

}  // namespace
}  // namespace papfft::comm
