// SPDX-License-Identifier: MIT
#include "app/run/host_layout.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace papfft::app {
namespace {

HostLayout layout(const std::vector<int>& host_of_rank) {
  return {static_cast<int>(host_of_rank.size()), host_of_rank};
}

TEST(HostLayout, EvenHostsByHostAndInTurns) {
  const HostLayout by_host = layout({0, 0, 2, 2, 4, 4});
  EXPECT_EQ(by_host.text(), "3 hosts, 2 ranks each, by host");
  EXPECT_EQ(by_host.per_host_text(), "2");
  const HostLayout in_turns = layout({0, 1, 2, 0, 1, 2});
  EXPECT_EQ(in_turns.text(), "3 hosts, 2 ranks each, round robin");
  EXPECT_TRUE(in_turns.is_even());
  EXPECT_EQ(layout({0, 1, 1, 0}).order(), "other");
}

TEST(HostLayout, UnevenHostsNameEachHostsRanks) {
  const HostLayout by_host = layout({0, 1, 1, 3, 3, 3});
  EXPECT_EQ(by_host.text(), "3 hosts, 1,2,3 ranks, by host");
  EXPECT_FALSE(by_host.is_even());
  EXPECT_EQ(by_host.ranks_per_host(), (std::vector{1, 2, 3}));
  const HostLayout in_turns = layout({0, 1, 2, 1, 2, 2});  // a host that is full is passed over
  EXPECT_EQ(in_turns.text(), "3 hosts, 1,2,3 ranks, round robin");
  EXPECT_EQ(layout({0, 1, 2, 2, 1, 2}).order(), "other");
}

TEST(HostLayout, WhereThereIsOneOrderIsByHost) {
  EXPECT_EQ(layout({7, 7, 7}).text(), "one host");
  EXPECT_EQ(layout({7, 7, 7}).order(), "by host");
  EXPECT_EQ(layout({3, 1, 2}).text(), "3 hosts, one rank each");
  EXPECT_EQ(layout({3, 1, 2}).order(), "by host");
  EXPECT_EQ(HostLayout(4, {}).text(), "4 hosts, one rank each");
}

}  // namespace
}  // namespace papfft::app
