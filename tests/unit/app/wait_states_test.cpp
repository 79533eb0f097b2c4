// SPDX-License-Identifier: MIT
#include "app/run/wait_states.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "app/run/timeline_layout.hpp"

namespace papfft::app {
namespace {

using comm::Operation;
using testing::ElementsAre;
using testing::IsEmpty;
using enum WaitState;

std::vector<Wait> waits(Operation operation, int root, std::vector<std::int64_t> arrival_ns,
                        std::vector<std::int64_t> exit_ns) {
  return classify_waits(operation, root, arrival_ns, exit_ns);
}

TEST(WaitStates, ReceiversOfALateRootsDataHaveALateSender) {
  for (const Operation operation : {Operation::scatter, Operation::bcast}) {
    EXPECT_THAT(waits(operation, 1, {10, 50, 60}, {70, 90, 80}),
                ElementsAre(Wait{0, 1, late_sender, 10, 50}, Wait{1, 2, late_receiver, 50, 60}));
  }
}

TEST(WaitStates, ARootThatCouldLeaveDidNotWaitForAReceiver) {
  // Its message went to rank 0's memory, which came much later.
  EXPECT_THAT(waits(Operation::scatter, 1, {100, 50}, {120, 55}), IsEmpty());
  EXPECT_THAT(waits(Operation::scatter, 1, {100, 50}, {120, 110}),
              ElementsAre(Wait{1, 0, late_receiver, 50, 100}));
}

TEST(WaitStates, ARootThatGathersHasALateSenderTheLastOne) {
  for (const Operation operation : {Operation::gather, Operation::reduce}) {
    EXPECT_THAT(waits(operation, 0, {10, 30, 80}, {100, 40, 95}),
                ElementsAre(Wait{0, 2, late_sender, 10, 80}));
  }
}

TEST(WaitStates, SendersToALateRootHaveALateReceiverUnlessTheyLeft) {
  EXPECT_THAT(waits(Operation::gather, 2, {10, 20, 90}, {100, 60, 110}),
              ElementsAre(Wait{0, 2, late_receiver, 10, 90}));
}

TEST(WaitStates, AllWaitForTheLastWhereEverybodyNeedsEverybody) {
  for (const Operation operation :
       {Operation::allgather, Operation::allgatherv, Operation::allreduce, Operation::reduce_scatter}) {
    EXPECT_THAT(waits(operation, 0, {10, 70, 30}, {90, 90, 60}),
                ElementsAre(Wait{0, 1, wait_at_nxn, 10, 70}, Wait{2, 1, wait_at_nxn, 30, 60}));
  }
}

TEST(WaitStates, NobodyWaitsWhoCameLastOrAlone) {
  EXPECT_THAT(waits(Operation::allreduce, 0, {5, 5, 5}, {9, 9, 9}), IsEmpty());
  EXPECT_THAT(waits(Operation::gather, 0, {5}, {9}), IsEmpty());
  EXPECT_THAT(waits(Operation::allreduce, 0, {5}, {9}), IsEmpty());
}

TEST(WaitStates, EachIsWithinItsCall) {
  // Whatever the times: bits of a counter as arrivals and durations.
  for (int bits = 0; bits < 4096; ++bits) {
    std::vector<std::int64_t> arrival_ns;
    std::vector<std::int64_t> exit_ns;
    for (int r = 0; r < 3; ++r) {
      arrival_ns.push_back((bits >> (4 * r)) & 3);
      exit_ns.push_back(arrival_ns.back() + ((bits >> (4 * r + 2)) & 3));
    }
    for (const Operation operation : {Operation::scatter, Operation::reduce, Operation::allgather}) {
      for (const Wait& wait : waits(operation, 1, arrival_ns, exit_ns)) {
        const auto r = static_cast<std::size_t>(wait.rank);
        ASSERT_EQ(wait.begin_ns, arrival_ns[r]);
        ASSERT_GT(wait.end_ns, wait.begin_ns);
        ASSERT_LE(wait.end_ns, exit_ns[r]);
        ASSERT_NE(wait.for_rank, wait.rank);
        ASSERT_GE(arrival_ns[static_cast<std::size_t>(wait.for_rank)], wait.end_ns);
      }
    }
  }
}

TEST(WaitStates, TheNamesOfPerformanceTools) {
  EXPECT_EQ(to_string(late_sender), "Late Sender");
  EXPECT_EQ(to_string(late_receiver), "Late Receiver");
  EXPECT_EQ(to_string(wait_at_nxn), "Wait at N x N");
}

TEST(WaitStates, RefusesWhatDoesNotFit) {
  EXPECT_THROW((void)waits(Operation::gather, 0, {1, 2}, {3}), std::invalid_argument);
  EXPECT_THROW((void)waits(Operation::gather, 2, {1, 2}, {3, 4}), std::invalid_argument);
  EXPECT_THROW((void)waits(Operation::gather, -1, {1, 2}, {3, 4}), std::invalid_argument);
}

TEST(TimelineLanes, NothingOverlapsWithinOne) {
  EXPECT_THAT(assign_lanes({{0, 10}, {5, 7}, {7, 20}, {10, 12}, {11, 13}, {12, 12}}),
              ElementsAre(0, 1, 1, 0, 2, 0));
  EXPECT_THAT(assign_lanes({}), IsEmpty());
}

}  // namespace
}  // namespace papfft::app
