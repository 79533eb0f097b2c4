// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace papfft::comm::preload {
namespace {

/// @param arrivals, exits  one per rank
RecordedCall called(Operation operation, int root, const std::vector<std::int64_t>& arrivals,
                    const std::vector<std::int64_t>& exits) {
  RecordedCall call{.operation = operation, .algorithm = "mpi", .root = root, .bytes = 1000, .ranks = {}};
  for (std::size_t r = 0; r < arrivals.size(); ++r)
    call.ranks.push_back({.arrival_ns = arrivals[r], .exit_ns = exits[r]});
  return call;
}

WaitingRow only_row(const RecordedCall& call) {
  const std::vector<WaitingRow> rows = waiting_rows({.ranks = 3, .calls = {call}});
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? WaitingRow{} : rows.front();
}

TEST(Waiting, OfABroadcastRanksWaitForTheRootAlone) {
  const WaitingRow row = only_row(called(Operation::bcast, 1, {0, 50, 90}, {100, 100, 100}));
  EXPECT_EQ(row.waiting_ns, 50);
  EXPECT_EQ(row.inside_ns, 100 + 50 + 10);
  EXPECT_EQ(row.imbalance_ns, 90);
  EXPECT_EQ(row.last_rank, 2);
}

TEST(Waiting, OfAReductionTheRootWaitsForTheLastRank) {
  EXPECT_EQ(only_row(called(Operation::reduce, 0, {10, 20, 70}, {100, 30, 90})).waiting_ns, 60);
}

TEST(Waiting, WhereAllExchangeAllWaitForTheLastRank) {
  EXPECT_EQ(only_row(called(Operation::allreduce, 0, {10, 20, 70}, {100, 100, 100})).waiting_ns, 60 + 50);
}

TEST(Waiting, NobodyWaitsLongerThanItIsInTheCall) {
  EXPECT_EQ(only_row(called(Operation::gather, 0, {0, 500, 500}, {100, 600, 600})).waiting_ns, 100);
}

TEST(Waiting, CallsOfOneKindAreAddedUp) {
  const std::vector<WaitingRow> rows =
      waiting_rows({.ranks = 2,
                    .calls = {called(Operation::bcast, 0, {0, 10}, {20, 20}),
                              called(Operation::bcast, 1, {0, 10}, {20, 20}),
                              called(Operation::bcast, 0, {40, 30}, {90, 90})}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].inside_ns, 20 + 10 + 50 + 60);
  EXPECT_EQ(rows[0].imbalance_ns, 10 + 10);
  EXPECT_EQ(rows[0].times_last, 1);
  EXPECT_EQ(rows[1].root, 1);
}

TEST(Waiting, Text) {
  EXPECT_EQ(waiting_text({}), "");
  const ArrivalRecording recording{
      .ranks = 3, .dropped = 4, .calls = {called(Operation::bcast, 1, {0, 50, 90}, {100, 100, 100})}};
  EXPECT_THAT(waiting_text(recording),
              testing::HasSubstr("31 %  rank 2 (100 %)\n  4 calls more were not kept\n"));
}

TEST(Waiting, RecordingAsJson) {
  EXPECT_EQ(
      recording_json({.ranks = 2, .dropped = 1, .calls = {called(Operation::reduce, 1, {0, 5}, {8, 9})}}),
      "{\"arrivals\": 1, \"ranks\": 2, \"dropped_calls\": 1,\n"
      " \"calls\": [{\"operation\": \"reduce\", \"algorithm\": \"mpi\", \"root\": 1, \"bytes\": 1000, "
      "\"compute_ns\": [0, 0], \"arrival_ns\": [0, 5], \"predicted_ns\": [null, null], \"exit_ns\": [8, "
      "9]}]}\n");
}

}  // namespace
}  // namespace papfft::comm::preload
