// SPDX-License-Identifier: MIT
#include "app/bench/turns.hpp"

#include <gmock/gmock.h>

#include <set>

namespace papfft::app {
namespace {

using testing::UnorderedElementsAre;

TEST(Turns, AreOfEachWayOnceInOrdersThatDifferButAreTheSameOnAllRanks) {
  Turns mine(3, 7);
  Turns others(3, 7);
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 60; ++round) {
    const std::span<const std::size_t> order = mine.next();
    EXPECT_THAT(std::vector(order.begin(), order.end()), UnorderedElementsAre(0U, 1U, 2U));
    EXPECT_TRUE(std::ranges::equal(order, others.next()));
    orders.insert({order.begin(), order.end()});
  }
  EXPECT_EQ(orders.size(), 6U) << "every order comes";
}

}  // namespace
}  // namespace papfft::app
