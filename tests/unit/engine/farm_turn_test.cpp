// SPDX-License-Identifier: MIT
#include "comm/engine/farm_turn.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace papfft::comm::farm {
namespace {

using Others = std::vector<Candidate>;
constexpr std::size_t kSends = 2;

TEST(FarmTurn, WhoHasFewestTasksIsNext) {
  EXPECT_EQ(next_rank(Others{{1, 1}, {2, 0}, {3, 0}}, kSends), 1U);
  EXPECT_EQ(next_rank(Others{{1, 2}, {2, 1}, {3, 1}}, kSends), 1U);
  const Others full = {{1, kPerRank}, {2, kPerRank}};
  EXPECT_EQ(next_rank(full, kSends), full.size()) << "the root works itself";
  EXPECT_EQ(next_rank(Others{}, kSends), 0U) << "and where it is alone";
}

TEST(FarmTurn, WhatIsOnItsWayOverTheLinkHoldsUpOtherHostsOnly) {
  const Others busy = {{0, 0}, {1, 1, true}, {1, 1, true}, {2, 0}};
  EXPECT_EQ(next_rank(busy, kSends), 0U) << "a rank of the root's host needs no link";
  const Others far = {{0, 1, true}, {1, 1, true}, {1, 1, true}, {2, 0}};
  EXPECT_EQ(next_rank(far, kSends), far.size());
  EXPECT_EQ(next_rank(far, kSends + 1), 3U);
  const Others near = {{0, 1, true}, {0, 1, true}, {0, 1, true}, {1, 0}};
  EXPECT_EQ(first_sends_over_link(near), 0U);
  EXPECT_EQ(next_rank(near, kSends), 3U);
}

TEST(FarmTurn, HostsTakeTurnsBecauseTheirRanksShareALink) {
  EXPECT_EQ(next_rank(Others{{1, 1, true}, {1, 0}, {2, 0}, {2, 0}}, kSends), 2U);
  EXPECT_EQ(next_rank(Others{{1, 0}, {1, 0}, {2, 1, true}, {2, 0}}, kSends), 0U);
}

TEST(FarmTurn, OnOneHostNothingWaitsForALink) {
  EXPECT_EQ(next_rank(Others{{0, 1, true}, {0, 1, true}, {0, 1, true}, {0, 0}}, kSends), 3U);
}

}  // namespace
}  // namespace papfft::comm::farm
