// SPDX-License-Identifier: MIT
#include "comm/schedule/transform.hpp"

#include <gtest/gtest.h>

#include "comm/schedule/builder.hpp"
#include "comm/schedule/contract.hpp"
#include "comm/schedule/registry.hpp"
#include "comm/schedule/verify.hpp"
#include "tests/support/orders.hpp"

namespace papfft::comm {
namespace {

Schedule make(Operation operation, std::string_view name, int p, Rank root, int segments) {
  return make_schedule(find_algorithm(operation, name),
                       {.operation = operation, .ranks = p, .root = root, .segments = segments});
}

TEST(Reverse, TurnsEveryAlgorithmIntoACorrectOneOfTheReversedOperation) {
  int reversed_count = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation == Operation::allreduce) continue;
    for (int p = 1; p <= 33; ++p) {
      const Schedule original =
          make(algorithm->operation, algorithm->name, p, is_rooted(algorithm->operation) ? p / 2 : 0, 3);
      bool has_reverse = true;
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
    ASSERT_EQ(backwards.shape, gather.shape);
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

}  // namespace
}  // namespace papfft::comm
