// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "comm/schedule/core/arrival_order.hpp"
#include "tests/support/orders.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;

constexpr auto kLatestFirst = ArrivalOrder::latest_first;

TEST(ArrivalOrder, PutsTheRootFirstAndSortsOnlyTheOthers) {
  const std::vector<std::int64_t> arrivals{30, 10, 50, 10};
  EXPECT_THAT(arrival_order(4, 2, arrivals), ElementsAre(2, 1, 3, 0)) << "the documented example";
  EXPECT_THAT(arrival_order(4, 2, arrivals, kLatestFirst), ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(arrival_order(4, 0, arrivals), ElementsAre(0, 1, 3, 2));
}

TEST(ArrivalOrder, BreaksTiesByRankInBothDirections) {
  const std::vector<std::int64_t> arrivals{5, 7, 5, 7, 5};
  EXPECT_THAT(arrival_order(5, 4, arrivals), ElementsAre(4, 0, 2, 1, 3));
  EXPECT_THAT(arrival_order(5, 4, arrivals, kLatestFirst), ElementsAre(4, 1, 3, 0, 2));
}

TEST(ArrivalOrder, TakesAllToArriveAtOnceIfNothingIsKnown) {
  EXPECT_THAT(arrival_order(4, 2, {}), ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(arrival_order(4, 2, {}, kLatestFirst), ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(arrival_order(1, 0, {}), ElementsAre(0));
}

TEST(JoiningTree, HasTheDocumentedShape) {
  const JoiningTree tree{6};
  EXPECT_THAT(tree.children(0), ElementsAre(1, 2, 4));
  EXPECT_THAT(tree.children(1), ElementsAre(3, 5));
  EXPECT_THAT(tree.children(2), ElementsAre());
  EXPECT_THAT(tree.slot_order(), ElementsAre(0, 4, 2, 1, 5, 3));
  EXPECT_EQ(tree.rounds(), 3);
}

TEST(JoiningTree, KeepsEverySubtreeTogetherInSlotOrder) {
  for (int p = 1; p <= 130; ++p) {
    const JoiningTree tree{p};
    const std::vector<int> order = tree.slot_order();
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), static_cast<std::size_t>(p));
    for (int x = 0; x < p; ++x) {
      std::set<int> subtree{x};  // by its definition: whoever has a parent in it
      for (int y = x + 1; y < p; ++y) {
        if (subtree.contains(tree.parent(y))) subtree.insert(y);
      }
      EXPECT_EQ(tree.subtree_size(x), static_cast<int>(subtree.size())) << "P=" << p << " x=" << x;
      const auto first = std::ranges::find(order, x);
      EXPECT_EQ(subtree, std::set<int>(first, first + tree.subtree_size(x))) << "P=" << p << " x=" << x;
      for (const int child : tree.children(x)) {
        EXPECT_EQ(tree.parent(child), x);
        EXPECT_GT(tree.round_of(child), x == 0 ? -1 : tree.round_of(x));
      }
    }
  }
}

TEST(JoiningPart, AgreesBetweenParentAndChild) {
  for (const int p : {2, 5, 8, 13}) {
    const std::vector<Rank> order = test::shuffled(p, 3);
    for (const Rank r : order) {
      for (const auto& child : joining_part(order, 2, r).children) {
        const JoiningPart other = joining_part(order, 2, child.rank);
        EXPECT_EQ(other.parent, r);
        EXPECT_EQ(other.slots, child.slots);
        EXPECT_EQ(other.round, child.round);
      }
    }
    EXPECT_EQ(joining_part(order, 2, order[0]).parent, -1);
    EXPECT_EQ(joining_part(order, 2, order[0]).slots, (BlockRange{0, 2 * p}));
  }
}

}  // namespace
}  // namespace papfft::comm
