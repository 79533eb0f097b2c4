// SPDX-License-Identifier: MIT
// Receiver-driven exchanges as data; and the rule that lets ops join as they come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/progress/progress.hpp"
#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"
#include "comm/verify/verify.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Op joining(Rank peer) {
  return {.kind = OpKind::recv_combine, .credit = Credit::give, .peer = peer, .blocks = {0, 1}};
}

TEST(Builder, OpsThatJoinAsTheyComeDoNotWaitForEachOther) {
  ProgramBuilder builder(2);
  const int first = builder.recv(1, {0, 1});
  const int read = builder.send(2, {0, 1});
  const int one = builder.add(joining(1));
  const int two = builder.add(joining(2));
  const int sent = builder.send(3, {0, 1});
  const int three = builder.add(joining(3));
  const int last = builder.recv(1, {0, 1});
  const Program program = builder.take();
  EXPECT_THAT(program.after(one), ElementsAre(first, read));
  EXPECT_THAT(program.after(two), ElementsAre(first, read));
  EXPECT_THAT(program.after(sent), ElementsAre(first, one, two));
  EXPECT_THAT(program.after(three), ElementsAre(first, read, sent));
  EXPECT_THAT(program.after(last), ElementsAre(first, read, one, two, sent, three));
}

Schedule make(Operation operation, int p, int segments = 1) {
  return make_schedule(find_algorithm(operation, "credit"),
                       {.operation = operation, .ranks = p, .segments = segments});
}

/// The messages of a rank that are sent if slots have these sizes.
std::vector<std::string> sent(const Schedule& schedule, Rank rank, const std::vector<std::int64_t>& bytes) {
  const Program& program = schedule.programs[static_cast<std::size_t>(rank)];
  const Progress progress(schedule.shape, program, SlotSizes(bytes), {});
  std::vector<std::string> result;
  for (int i = 0; i < program.size(); ++i) {
    if (!progress.is_local(i)) result.push_back(describe(program[i]));
  }
  return result;
}

// Rank 1's block is short, rank 2's long, rank 3's empty.
TEST(GathervCredit, SendsShortBlocksStraightAndNothingForEmptyOnes) {
  const Schedule schedule = make(Operation::gatherv, 4, 2);
  const std::vector<std::int64_t> bytes = {0, 0, 7, 0, 0, 90000, 0, 0};
  EXPECT_THAT(sent(schedule, 1, bytes), ElementsAre("send ->0 [2,3)"));
  EXPECT_THAT(sent(schedule, 2, bytes), ElementsAre("send ->0 empty for [5,6) announces",
                                                    "recv <-0 empty for [5,6)", "send ->0 [5,6)"));
  EXPECT_THAT(sent(schedule, 3, bytes), IsEmpty());
  EXPECT_THAT(sent(schedule, 0, bytes),
              ElementsAre("recv <-1 [2,3)", "recv <-2 empty for [5,6)", "recv <-2 [5,6) gives it back",
                          "send ->2 empty for [5,6) takes a credit"));
  EXPECT_EQ(find_violation(schedule, {.slot_bytes = bytes}), std::nullopt);
  EXPECT_EQ(find_violation(schedule, {.slot_bytes = std::vector<std::int64_t>(8, 0)}), std::nullopt);
}

TEST(GathervCredit, BothEndsMustKnowWhatAMessageIsFor) {
  const auto with = [](Rank rank, int op, BlockRange about) {
    Schedule schedule = make(Operation::gatherv, 2, 2);
    Program& program = schedule.programs[static_cast<std::size_t>(rank)];
    Program changed;
    for (int i = 0; i < program.size(); ++i) {
      Op one = program[i];
      if (i == op) one.about = about;
      changed.append(one, program.after(i));
    }
    program = std::move(changed);
    return find_violation(schedule, {}).value_or("");
  };
  EXPECT_EQ(with(0, 0, {3, 4}), "") << "as it is";
  EXPECT_THAT(with(0, 0, {}), HasSubstr("rank 1 op 0"));
  EXPECT_THAT(with(0, 0, {}), HasSubstr("only one end knows what slots it is for"));
  EXPECT_THAT(with(0, 3, {2, 3}), HasSubstr("takes and gives differ with rank 1")) << "for another slot";
  EXPECT_THAT(with(0, 1, {2, 3}), HasSubstr("only an empty message is for other slots"));
  EXPECT_THAT(with(0, 0, {3, 5}), HasSubstr("slots out of range"));
}

TEST(ReduceCredit, SumsUpAPieceOnEachRankAndHandsItToTheRoot) {
  EXPECT_EQ(to_text(make(Operation::reduce, 2)),
            "reduce: 2 ranks, root 0, 2 blocks, 4 credits\n"
            "rank 0\n"
            "  0  round 0  send ->1 empty announces\n"
            "  1  round 0  recv <-1 empty\n"
            "  2  round 0  recv <-1 empty  after {0}\n"
            "  3  round 0  recv_combine <-1 [0,1) gives it back  after {1}\n"
            "  4  round 0  send ->1 empty takes a credit  after {1}\n"
            "  5  round 0  send ->1 [1,2)  after {2}\n"
            "  6  round 0  recv <-1 [1,2)  after {5}\n"
            "rank 1\n"
            "  0  round 0  send ->0 empty announces\n"
            "  1  round 0  recv <-0 empty\n"
            "  2  round 0  recv <-0 empty  after {0}\n"
            "  3  round 0  recv_combine <-0 [1,2) gives it back  after {1}\n"
            "  4  round 0  send ->0 empty takes a credit  after {1}\n"
            "  5  round 0  send ->0 [0,1)  after {2}\n"
            "  6  round 0  send ->0 [1,2)  after {3}\n");
}

TEST(AllgatherCredit, AsksEachForItsOwnBlock) {
  EXPECT_THAT(to_text(make(Operation::allgather, 3)), HasSubstr("recv <-1 [1,2) gives it back"));
  const Schedule schedule = make(Operation::allgather, 3);
  for (const Op& op : schedule.programs[2].ops()) {
    if (op.kind == OpKind::send && op.blocks.count() > 0) {
      EXPECT_EQ(op.blocks, (BlockRange{2, 3}));
    }
  }
}

// Whoever comes first is combined first, also before this rank's own caller has come.
TEST(ReduceCredit, InTheBackgroundTheFirstToComeFindsTheSlotEmpty) {
  for (const int p : {1, 2, 3, 6}) {
    for (const int segments : {1, 2}) {
      const Schedule early = combine_own_last(make(Operation::reduce, p, segments));
      EXPECT_EQ(find_violation(early), std::nullopt) << p;
      const RankSchedule part{early.shape, 0, early.programs[0]};
      const std::vector<bool> needs = needs_arrival(part.shape, 0, part.program);
      for (int i = 0; i < part.program.size(); ++i) {
        if (!joins_as_it_comes(part.program[i])) continue;
        EXPECT_GE(part.program[i].blocks.first, early.shape.blocks()) << "apart";
        EXPECT_FALSE(needs[static_cast<std::size_t>(i)]);
      }
    }
  }
}

// Else a rank would ask for the others' parts before its caller has come, and they would find it there.
TEST(NeedsArrival, AnAnnouncementWaitsForTheCallerAndSoDoesWhatFollowsIt) {
  for (const Operation operation :
       {Operation::gather, Operation::reduce, Operation::allgather, Operation::allreduce}) {
    const Schedule schedule = make(operation, 4);
    int announcements = 0;
    for (Rank r = 0; r < 4; ++r) {
      const Program& program = schedule.programs[static_cast<std::size_t>(r)];
      const std::vector<bool> needs = needs_arrival(schedule.shape, r, program);
      for (int i = 0; i < program.size(); ++i) {
        announcements += program[i].announces ? 1 : 0;
        EXPECT_TRUE(!program[i].announces || needs[static_cast<std::size_t>(i)])
            << to_string(operation) << ", rank " << r << ", op " << i;
      }
    }
    EXPECT_GE(announcements, 3) << to_string(operation);
  }
}

TEST(NeedsArrival, ACopyOfWhatTheCallerGivesWaitsForTheCaller) {
  ProgramBuilder builder(3);
  builder.copy(1, {2, 3});  // rank 1's block to a slot of its own
  builder.send(0, {2, 3});
  const Shape shape{.operation = Operation::gather, .ranks = 2};
  EXPECT_THAT(needs_arrival(shape, 1, builder.take()), ElementsAre(true, true));
}

TEST(NeedsArrival, WhatWasReceivedOverTheCallersDataIsNoLongerTheCallers) {
  ProgramBuilder builder(1);
  builder.recv(1, {0, 1});
  builder.send(2, {0, 1});
  const Shape shape{.operation = Operation::allreduce, .ranks = 3};
  EXPECT_THAT(needs_arrival(shape, 0, builder.take()), ElementsAre(false, false));
}

// The verifier must see it where what is added up is used before all of it is there.
TEST(Verifier, FindsASumThatIsSentBeforeAllHaveJoined) {
  Schedule schedule = make(Operation::reduce, 3);
  ASSERT_EQ(find_violation(schedule), std::nullopt);
  Program& program = schedule.programs[1];
  Program changed;
  for (int i = 0; i < program.size(); ++i) {
    std::vector<int> after(program.after(i).begin(), program.after(i).end());
    if (i + 1 == program.size()) after.pop_back();  // the sum's send
    changed.append(program[i], after);
  }
  program = changed;
  EXPECT_THAT(find_violation(schedule).value_or("nothing"), HasSubstr("races"));
}

}  // namespace
}  // namespace papfft::comm
