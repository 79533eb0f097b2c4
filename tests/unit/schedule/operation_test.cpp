// SPDX-License-Identifier: MIT
// The table of operations, and what follows from its rows.
#include "papfft/operation.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "comm/schedule/core/contract.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

TEST(Operations, AreFoundByTheirNames) {
  for (const OperationTraits& row : kOperations) EXPECT_EQ(parse_operation(row.name), row.operation);
  EXPECT_THROW((void)parse_operation("nonsense"), std::invalid_argument);
}

TEST(Operations, HaveAlgorithms) {
  for (const OperationTraits& row : kOperations) {
    int found = 0;
    for (const Algorithm* a : algorithms()) found += a->operation == row.operation ? 1 : 0;
    EXPECT_GT(found, 0) << row.name;
  }
}

// A schedule that runs backwards begins where the other ends. What was copied is combined then, and the other way round.
TEST(Operations, AreReversedByTheMirrorOfTheirRow) {
  for (const OperationTraits& row : kOperations) {
    if (!row.reverse) {
      EXPECT_THROW((void)reversed(row.operation), std::invalid_argument) << row.name;
      continue;
    }
    const OperationTraits& reverse = traits(reversed(row.operation));
    EXPECT_EQ(reverse.before, row.after) << row.name;
    EXPECT_EQ(reverse.after, row.before) << row.name;
    EXPECT_EQ(reverse.is_per_rank(), row.is_per_rank()) << row.name;
    const bool copies = row.after == Holder::all || reverse.after == Holder::all;
    EXPECT_EQ(reverse.reduces, copies && !row.reduces) << row.name;
  }
}

struct Promise {
  Operation operation;
  Held before_at_root;
  Held before_elsewhere;  ///< of the block of the rank that is asked
  Held after_at_root;
  Held after_elsewhere;
};

// Independent of the table: what MPI's manual says.
TEST(Operations, PromiseWhatMpiPromises) {
  constexpr Promise kPromises[] = {
      {Operation::scatter, Held::root, Held::nothing, Held::root, Held::root},
      {Operation::gather, Held::owner, Held::owner, Held::owner, Held::nothing},
      {Operation::bcast, Held::root, Held::nothing, Held::root, Held::root},
      {Operation::reduce, Held::own, Held::own, Held::all, Held::nothing},
      {Operation::allgather, Held::owner, Held::owner, Held::owner, Held::owner},
      {Operation::allgatherv, Held::owner, Held::owner, Held::owner, Held::owner},
      {Operation::allreduce, Held::own, Held::own, Held::all, Held::all},
      {Operation::reduce_scatter, Held::own, Held::own, Held::all, Held::all},
      {Operation::gatherv, Held::owner, Held::owner, Held::owner, Held::nothing},
      {Operation::scatterv, Held::root, Held::nothing, Held::root, Held::root},
  };
  for (const Promise& p : kPromises) {
    const Shape shape{.operation = p.operation, .ranks = 4, .root = 1, .segments = 1};
    const auto block = [&](Rank r) { return shape.per_rank() ? r : 0; };
    EXPECT_EQ(held_before(shape, 1, block(1)), p.before_at_root) << to_string(p.operation);
    EXPECT_EQ(held_before(shape, 2, block(2)), p.before_elsewhere) << to_string(p.operation);
    EXPECT_EQ(held_after(shape, 1, block(1)), p.after_at_root) << to_string(p.operation);
    EXPECT_EQ(held_after(shape, 2, block(2)), p.after_elsewhere) << to_string(p.operation);
  }
}

// Block a*P + b is what a has for b, whatever the slots of the rank that is asked.
TEST(Operations, WithABlockPerPairTakeItFromOneRankToAnother) {
  for (const Operation operation : {Operation::alltoall, Operation::alltoallv}) {
    const Shape shape{.operation = operation, .ranks = 4, .segments = 3};
    for (Rank source = 0; source < 4; ++source) {
      for (Rank target = 0; target < 4; ++target) {
        const int block = (source * 4 + target) * 3 + 2;
        for (Rank r = 0; r < 4; ++r) {
          EXPECT_EQ(held_before(shape, r, block), r == source ? Held::owner : Held::nothing);
          EXPECT_EQ(held_after(shape, r, block), r == target ? Held::owner : Held::nothing);
        }
        EXPECT_EQ(shape.block_of(source, target * 3 + 2), block);
        EXPECT_EQ(shape.block_of(target, (4 + source) * 3 + 2), block);
      }
    }
  }
}

}  // namespace
}  // namespace papfft::comm
