// SPDX-License-Identifier: MIT
#include "comm/schedule/core/transform.hpp"

#include <gtest/gtest.h>

#include "comm/model/simulator.hpp"
#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/contract.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/verify/verify.hpp"
#include "tests/support/orders.hpp"
#include "tests/support/sanitized.hpp"

namespace papfft::comm {
namespace {

Schedule make(Operation operation, std::string_view name, int p, Rank root, int segments) {
  return make_schedule(find_algorithm(operation, name),
                       {.operation = operation, .ranks = p, .root = root, .segments = segments});
}

TEST(Reverse, TurnsEveryAlgorithmIntoACorrectOneOfTheReversedOperation) {
  int reversed_count = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (!traits(algorithm->operation).reverse) continue;
    for (int p = 1; p <= 33; ++p) {
      const Schedule original =
          make(algorithm->operation, algorithm->name, p, is_rooted(algorithm->operation) ? p / 2 : 0, 3);
      bool has_reverse = original.shape.credits == 0;
      for (const Program& program : original.programs) {
        for (const Op& op : program.ops()) {
          const bool gets_back = op.kind == OpKind::recv && is_reduction(algorithm->operation) &&
                                 op.blocks.first < original.shape.blocks();
          has_reverse = has_reverse && !is_local(op.kind) && !gets_back;
        }
      }
      if (!has_reverse) {
        EXPECT_THROW((void)reverse(original), std::invalid_argument);
        continue;
      }
      const Schedule backwards = reverse(original);
      ASSERT_EQ(backwards.shape.operation, reversed(algorithm->operation));
      ASSERT_EQ(find_violation(backwards), std::nullopt) << algorithm->name << " P=" << p;
      ++reversed_count;
    }
  }
  EXPECT_GT(reversed_count, 100);
}

TEST(Reverse, OfTheBinomialScatterIsTheBinomialGather) {
  for (int p = 1; p <= 20; ++p) {
    const Schedule gather = make(Operation::gather, "bnom", p, 0, 2);
    const Schedule backwards = reverse(make(Operation::scatter, "bnom", p, 0, 2));
    Shape in_rounds = gather.shape;
    in_rounds.single_port = true;  // a gather takes blocks as they come
    ASSERT_EQ(backwards.shape, in_rounds);
    ASSERT_EQ(backwards.programs, gather.programs) << "P=" << p;
  }
}

TEST(Reverse, RefusesWhatHasNoReverse) {
  EXPECT_THROW((void)reverse({{.operation = Operation::allreduce}, {}}), std::invalid_argument);
  Schedule local{{.operation = Operation::bcast, .ranks = 1, .segments = 2}, {}};
  ProgramBuilder builder(2);
  builder.copy(0, {1, 2});
  local.programs = {builder.take()};
  EXPECT_THROW((void)reverse(local), std::invalid_argument);
}

TEST(Relabel, KeepsAScheduleCorrectForAnyOrder) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const int p : {1, 2, 5, 8, 13}) {
      const Schedule original = make(algorithm->operation, algorithm->name, p, 0, 2);
      for (const std::uint32_t seed : {1U, 2U, 3U}) {
        const auto order = test::shuffled(p, seed);
        const Schedule renamed = relabel(original, order);
        ASSERT_EQ(find_violation(renamed), std::nullopt) << algorithm->name << " P=" << p << " seed=" << seed;
        if (is_rooted(algorithm->operation)) {
          ASSERT_EQ(renamed.shape.root, order[0]);
        }
      }
    }
  }
}

TEST(Relabel, RefusesWhatIsNoPermutation) {
  const Schedule schedule = make(Operation::bcast, "bnom", 3, 0, 1);
  for (const std::vector<Rank>& bad : {std::vector<Rank>{}, {0, 1}, {0, 1, 1}, {0, 1, 3}, {-1, 0, 1}}) {
    EXPECT_THROW((void)relabel(schedule, bad), std::invalid_argument);
  }
}

TEST(CombineOwnLast, DocumentedExample) {
  const RankSchedule plain = make_rank_schedule(find_algorithm(Operation::reduce, "bnom"),
                                                {.operation = Operation::reduce, .ranks = 4}, 0);
  const RankSchedule part = combine_own_last(plain);
  EXPECT_EQ(part.shape.scratch, std::vector<int>{0});
  ASSERT_EQ(part.program.size(), 3);
  EXPECT_EQ(describe(part.program[0]), "recv <-1 [1,2)");
  EXPECT_EQ(describe(part.program[1]), "recv_combine <-2 [1,2)");
  EXPECT_EQ(describe(part.program[2]), "combine 1 => [0,1)");
  EXPECT_EQ(needs_arrival(part), (std::vector<bool>{false, false, true}));
}

std::vector<const Algorithm*> reductions() {
  std::vector<const Algorithm*> result;
  for (const Algorithm* a : algorithms()) {
    if (is_reduction(a->operation)) result.push_back(a);
  }
  return result;
}

int receives_before_arrival(const Schedule& schedule, Rank rank) {
  const Program& program = schedule.programs[static_cast<std::size_t>(rank)];
  const std::vector<bool> needs = needs_arrival(schedule.shape, rank, program);
  int count = 0;
  for (int i = 0; i < program.size(); ++i) {
    count += is_receive(program[i].kind) && !needs[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  return count;
}

TEST(CombineOwnLast, KeepsEveryReductionCorrectAndItsMessages) {
  for (const Algorithm* algorithm : reductions()) {
    for (int p = 1; p <= (test::kSanitized ? 24 : 64); ++p) {
      const Schedule plain = make(algorithm->operation, algorithm->name, p,
                                  is_rooted(algorithm->operation) ? p / 2 : 0, p % 3 + 1);
      if (plain.shape.credits > 0 && p > 14) break;  // of these, many orders of events are tried
      const Schedule last = combine_own_last(plain);
      ASSERT_EQ(find_violation(last), std::nullopt) << algorithm->name << " P=" << p;
      for (Rank r = 0; r < p; ++r) {
        ASSERT_EQ(combine_own_last(RankSchedule{plain.shape, r, plain.programs[static_cast<std::size_t>(r)]})
                      .program,
                  last.programs[static_cast<std::size_t>(r)]);
        ASSERT_GE(receives_before_arrival(last, r), receives_before_arrival(plain, r));
      }
    }
  }
}

// In trees a rank hands a segment on once, after all that it receives of it.
TEST(CombineOwnLast, LetsAllReceivesOfATreeComeBeforeTheCaller) {
  for (const std::string_view name : {"bnom", "papbi", "bi-greedy", "uni-greedy", "chain", "binary"}) {
    for (const int p : {2, 3, 8, 21, 64}) {
      const Schedule plain = make(Operation::reduce, name, p, p - 1, 5);
      const Schedule last = combine_own_last(plain);
      for (Rank r = 0; r < p; ++r) {
        const Program& program = plain.programs[static_cast<std::size_t>(r)];
        const auto receives =
            std::ranges::count_if(program.ops(), [](const Op& op) { return is_receive(op.kind); });
        ASSERT_EQ(receives_before_arrival(plain, r), 0);
        ASSERT_EQ(receives_before_arrival(last, r), receives) << name << " P=" << p << " rank " << r;
      }
    }
  }
}

// Of a butterfly, those of the first exchange.
TEST(CombineOwnLast, LetsTheFirstExchangeComeBeforeTheCaller) {
  const Schedule last = combine_own_last(make(Operation::reduce, "rab", 16, 0, 1));
  for (Rank r = 0; r < 16; ++r) EXPECT_GE(receives_before_arrival(last, r), 1) << r;
}

TEST(CombineOwnLast, LeavesALateRootWithItsOwnContributionOnly) {
  constexpr int p = 16;
  const Schedule plain = make(Operation::reduce, "papbi", p, 0, 8);
  const Schedule last = combine_own_last(plain);
  std::vector<Ticks> arrivals(p);
  arrivals[0] = 10000;
  const auto run_time = [&](const Schedule& schedule) {
    const std::vector<std::int64_t> one{1};
    return simulate(schedule, slot_sizes(schedule.shape, one), arrivals, {.alpha = 10, .beta = 5, .gamma = 1},
                    {.early = Early::background})
        .run_time;
  };
  EXPECT_EQ(run_time(last), 10000 + 8) << "eight segments combined";
  EXPECT_GE(run_time(plain), 10000 + 8 * 15) << "eight segments received";
}

TEST(CombineOwnLast, RefusesWhatItCannotServe) {
  Schedule ordered = make(Operation::reduce, "bnom", 4, 0, 1);
  ordered.shape.ordered = true;
  EXPECT_THROW((void)combine_own_last(ordered), std::invalid_argument);
  EXPECT_THROW((void)combine_own_last(make(Operation::gather, "lin", 4, 0, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::comm
