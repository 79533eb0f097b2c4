// SPDX-License-Identifier: MIT
// Worked examples: what each algorithm's header comment says, as data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Schedule make(Operation operation, std::string_view name, int p, Rank root = 0, int segments = 1) {
  return make_schedule(find_algorithm(operation, name),
                       {.operation = operation, .ranks = p, .root = root, .segments = segments});
}

TEST(ScatterBnom, SixRanksMatchTheDocumentedTree) {
  EXPECT_EQ(to_text(make(Operation::scatter, "bnom", 6)),
            "scatter: 6 ranks, root 0, 6 blocks\n"
            "rank 0\n"
            "  0  round 0  send ->4 [4,6)\n"
            "  1  round 1  send ->2 [2,4)\n"
            "  2  round 2  send ->1 [1,2)\n"
            "rank 1\n"
            "  0  round 2  recv <-0 [1,2)\n"
            "rank 2\n"
            "  0  round 1  recv <-0 [2,4)\n"
            "  1  round 2  send ->3 [3,4)  after {0}\n"
            "rank 3\n"
            "  0  round 2  recv <-2 [3,4)\n"
            "rank 4\n"
            "  0  round 0  recv <-0 [4,6)\n"
            "  1  round 2  send ->5 [5,6)  after {0}\n"
            "rank 5\n"
            "  0  round 2  recv <-4 [5,6)\n");
}

TEST(ScatterLin, ServesOneAfterAnother) {
  EXPECT_THAT(to_text(make(Operation::scatter, "lin", 4, 1)),
              HasSubstr("rank 1\n"
                        "  0  round 0  send ->0 [0,1)\n"
                        "  1  round 1  send ->2 [2,3)  after {0}\n"
                        "  2  round 2  send ->3 [3,4)  after {1}\n"));
}

TEST(GatherLs, InvitesEachRankAfterThePreviousOnesFirstSegment) {
  EXPECT_THAT(to_text(make(Operation::gather, "ls", 3, 0, 2)),
              HasSubstr("rank 0\n"
                        "  0  round 0  recv <-1 [2,3)\n"
                        "  1  round 0  send ->1 empty\n"
                        "  2  round 0  recv <-1 [3,4)  after {1}\n"
                        "  3  round 1  recv <-2 [4,5)  after {0}\n"
                        "  4  round 1  send ->2 empty  after {0}\n"
                        "  5  round 1  recv <-2 [5,6)  after {4}\n"
                        "rank 1\n"
                        "  0  round 0  recv <-0 empty\n"
                        "  1  round 0  send ->0 [2,3)  after {0}\n"
                        "  2  round 0  send ->0 [3,4)  after {1}\n"));
}

// Slots 0 .. 3 are for ranks 0 .. 3, slots 4 .. 7 from them.
TEST(AlltoallLinear, GoesAroundFromTheNextRank) {
  EXPECT_THAT(to_text(make(Operation::alltoall, "linear", 4)), HasSubstr("rank 1\n"
                                                                         "  0  round 0  recv <-0 [4,5)\n"
                                                                         "  1  round 0  send ->2 [2,3)\n"
                                                                         "  2  round 1  recv <-3 [7,8)\n"
                                                                         "  3  round 1  send ->3 [3,4)\n"
                                                                         "  4  round 2  recv <-2 [6,7)\n"
                                                                         "  5  round 2  send ->0 [0,1)\n"));
}

// What it receives holds up nothing that it sends.
TEST(AlltoallPairwise, SendsOneBlockAfterAnother) {
  EXPECT_THAT(to_text(make(Operation::alltoall, "pairwise", 3, 0, 2)),
              HasSubstr("rank 0\n"
                        "  0  round 0  recv <-2 [10,12)\n"
                        "  1  round 0  send ->1 [2,4)\n"
                        "  2  round 1  recv <-1 [8,10)\n"
                        "  3  round 1  send ->2 [4,6)  after {1}\n"));
}

// Each block is one of two segments, the other is empty: short ones wait for nobody, long ones for the one before.
TEST(AlltoallvPairwise, SendsShortBlocksAtOnce) {
  EXPECT_THAT(to_text(make(Operation::alltoallv, "pairwise", 3, 0, 2)),
              HasSubstr("rank 0\n"
                        "  0  round 0  recv <-2 [10,11)\n"
                        "  1  round 0  send ->1 [2,3)\n"
                        "  2  round 1  recv <-1 [8,9)\n"
                        "  3  round 1  send ->2 [4,5)\n"
                        "  4  round 2  recv <-2 [11,12)\n"
                        "  5  round 2  send ->1 [3,4)\n"
                        "  6  round 3  recv <-1 [9,10)\n"
                        "  7  round 3  send ->2 [5,6)  after {5}\n"));
}

TEST(AlltoallCredit, AsksEachRankThatHasComeForItsBlock) {
  EXPECT_THAT(to_text(make(Operation::alltoall, "credit", 2)),
              HasSubstr("rank 0\n"
                        "  0  round 0  send ->1 empty announces\n"
                        "  1  round 0  recv <-1 empty\n"
                        "  2  round 0  recv <-1 empty  after {0}\n"
                        "  3  round 0  recv <-1 [3,4) gives it back  after {1}\n"
                        "  4  round 0  send ->1 empty takes a credit  after {1}\n"
                        "  5  round 0  send ->1 [1,2)  after {2}\n"));
}

/// How many blocks rank 0 sends in each round of a schedule of P ranks, and to whom.
std::vector<std::pair<Rank, int>> sends_of_rank_0(std::string_view name, int p) {
  std::vector<std::pair<Rank, int>> sends;
  const RankSchedule part = make_rank_schedule(find_algorithm(Operation::alltoall, name),
                                               {.operation = Operation::alltoall, .ranks = p}, 0);
  for (const Op& op : part.program.ops()) {
    if (op.kind == OpKind::send) sends.emplace_back(op.peer, op.blocks.count());
  }
  return sends;
}

TEST(AlltoallByRelays, SendsTheDocumentedBlocksInTheFewestRounds) {
  using Sends = std::vector<std::pair<Rank, int>>;
  EXPECT_EQ(sends_of_rank_0("bruck", 5), (Sends{{1, 2}, {2, 2}, {4, 1}}));
  EXPECT_EQ(sends_of_rank_0("circulant", 5), (Sends{{3, 2}, {2, 1}, {1, 2}}));
  for (int p = 2; p <= 130; ++p) {
    const auto rounds = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(p - 1)));
    const auto blocks = [&](std::string_view name) {
      int sum = 0;
      for (const auto& [to, count] : sends_of_rank_0(name, p)) sum += count;
      return sum;
    };
    EXPECT_EQ(sends_of_rank_0("bruck", p).size(), rounds) << p;
    EXPECT_EQ(sends_of_rank_0("circulant", p).size(), rounds) << p;
    EXPECT_LE(blocks("circulant"), blocks("bruck")) << p;
  }
}

TEST(Alltoall, APartTakesNoMoreSlotsThanItHasBlocksToHandle) {
  for (const std::string_view name : {"linear", "bruck", "circulant"}) {
    const Request request{.operation = Operation::alltoall, .ranks = 1024};
    const RankSchedule part = make_rank_schedule(find_algorithm(request.operation, name), request, 77);
    EXPECT_LE(part.shape.slots(), (2 + 10) * 1024) << name;
  }
}

TEST(Binomial, TakesTheDocumentedRounds) {
  for (const Operation operation :
       {Operation::scatter, Operation::gather, Operation::bcast, Operation::reduce}) {
    for (int p = 2; p <= 64; ++p) {
      int last = 0;
      int messages = 0;
      for (const Program& program : make(operation, "bnom", p, p / 3).programs) {
        for (const Op& op : program.ops()) {
          last = std::max(last, op.round);
          messages += op.kind == OpKind::send ? 1 : 0;
        }
      }
      EXPECT_EQ(last + 1, std::bit_width(static_cast<unsigned>(p - 1))) << to_string(operation) << " P=" << p;
      EXPECT_EQ(messages, p - 1);
    }
  }
}

TEST(ReduceBnom, HandsAnOrderedResultToTheRoot) {
  const Request request{.operation = Operation::reduce, .ranks = 3, .root = 2, .ordered = true};
  EXPECT_EQ(to_text(make_schedule(find_algorithm(Operation::reduce, "bnom"), request)),
            "reduce: 3 ranks, root 2, 1 blocks\n"
            "rank 0\n"
            "  0  round 0  recv_combine <-1 [0,1)\n"
            "  1  round 1  recv_combine <-2 [0,1)  after {0}\n"
            "  2  round 2  send ->2 [0,1)  after {1}\n"
            "rank 1\n"
            "  0  round 0  send ->0 [0,1)\n"
            "rank 2\n"
            "  0  round 1  send ->0 [0,1)\n"
            "  1  round 2  recv <-0 [0,1)  after {0}\n");
}

TEST(Json, SaysAllThatTheTextSays) {
  EXPECT_EQ(
      to_json(make(Operation::reduce, "bnom", 2)),
      R"({"operation":"reduce","ranks":2,"root":0,"segments":1,"holder":[],"scratch":[],"credits":0,)"
      R"("single_port":false,"ordered":false,"programs":[)"
      R"([{"kind":"recv_combine","peer":1,"blocks":[0,1],"round":0,"incoming_first":false,"after":[]}],)"
      R"([{"kind":"send","peer":0,"blocks":[0,1],"round":0,"after":[]}]]})"
      "\n");
}

TEST(Background, NeedsTheCallerOnlyWhereItsInputIsRead) {
  const auto needs = [](Operation operation, std::string_view name, Rank rank) {
    return needs_arrival(make_rank_schedule(find_algorithm(operation, name),
                                            {.operation = operation, .ranks = 4, .segments = 2}, rank));
  };
  EXPECT_THAT(needs(Operation::scatter, "bnom", 0), ElementsAre(true, true)) << "the root's data";
  EXPECT_THAT(needs(Operation::scatter, "bnom", 2), ElementsAre(false, false)) << "received and handed on";
  EXPECT_THAT(needs(Operation::gather, "ls", 0), testing::Each(false)) << "the root only receives";
  EXPECT_THAT(needs(Operation::gather, "ls", 3), ElementsAre(false, true, true)) << "invitation, head, rest";
  EXPECT_THAT(needs(Operation::gather, "bnom", 2), ElementsAre(false, true))
      << "its child's, then with its own";
  EXPECT_THAT(needs(Operation::reduce, "bnom", 0), testing::Each(true));
}

}  // namespace
}  // namespace papfft::comm
