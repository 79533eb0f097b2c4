// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace papfft::comm::preload {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Counts counted() {
  Counters counters;
  counters.add_ours(Operation::bcast, 300000, 2'000'000'000);
  counters.add_ours(Operation::bcast, 262144, 1'000'000'000);
  counters.add_passed(Operation::bcast, 100, Reason::too_short, 0);
  counters.add_passed(Operation::alltoallv, std::size_t{1} << 40U, Reason::not_taken, 3'000'000'000);
  return counters.counts();
}

TEST(PreloadSummary, CountsCallsByOperationAndSize) {
  const Counts counts = counted();
  EXPECT_EQ(counts.of(Operation::bcast, 2).ours, 2);
  EXPECT_EQ(counts.of(Operation::bcast, 2).ours_ns, 3'000'000'000);
  EXPECT_EQ(counts.of(Operation::bcast, 0).passed, 1);
  EXPECT_EQ(counts.of(Operation::alltoallv, 5).passed_ns, 3'000'000'000);
  EXPECT_EQ(counts.passed_for(Operation::bcast, Reason::too_short), 1);
  EXPECT_EQ(counts.passed_for(Operation::bcast, Reason::not_taken), 0);
}

TEST(PreloadSummary, Text) {
  const std::string text = summary_text({.mode = Mode::on, .ranks = 2, .wall_ns = 12'000'000'000}, counted());
  EXPECT_THAT(text, AllOf(HasSubstr("mode on, 2 ranks, 4 calls seen on all ranks together, 2 of them ours"),
                          HasSubstr("50.0 % of the time in collective calls of 256 KiB and more"),
                          HasSubstr("1 calls passed: short"), HasSubstr("16 MiB")));
  EXPECT_THAT(text, Not(HasSubstr("gather")));
  EXPECT_THAT(text, Not(HasSubstr("predicted")));
  EXPECT_THAT(
      summary_text({.ranks = 2, .wall_ns = 1, .expected = {6, 4, 1}}, counted()),
      HasSubstr("of 3.0 calls per rank with predicted arrivals 2.0 planned by them, 0.5 begun early"));
  EXPECT_THAT(text, Not(HasSubstr("communicators")));
  EXPECT_THAT(summary_text({.ranks = 2, .wall_ns = 1, .own = {3, 6'000'000}}, counted()),
              HasSubstr("1.5 communicators of ours per rank, made in 0.003 s"));
}

TEST(PreloadSummary, SaysThatNothingWasSeen) {
  EXPECT_EQ(summary_text({.mode = Mode::observe, .ranks = 3}, Counts()),
            "papfft preload: mode observe, 3 ranks, 0 calls seen on all ranks together, 0 of them ours\n");
}

TEST(PreloadSummary, Json) {
  EXPECT_EQ(summary_json({.mode = Mode::on, .ranks = 2, .wall_ns = 7, .expected = {6, 4, 2}, .own = {8, 9}},
                         counted()),
            "{\"preload\": 1, \"mode\": \"on\", \"ranks\": 2, \"wall_ns\": 7,\n"
            " \"communicators\": {\"made\": 8, \"ns\": 9},\n"
            " \"expected\": {\"calls\": 6, \"planned\": 4, \"begun_early\": 2},\n"
            " \"calls\": [{\"operation\": \"bcast\", \"from_bytes\": 0, \"ours\": 0, \"passed\": 1, "
            "\"ours_ns\": 0, "
            "\"passed_ns\": 0},\n"
            "  {\"operation\": \"bcast\", \"from_bytes\": 262144, \"ours\": 2, \"passed\": 0, \"ours_ns\": "
            "3000000000, "
            "\"passed_ns\": 0},\n"
            "  {\"operation\": \"alltoallv\", \"from_bytes\": 16777216, \"ours\": 0, \"passed\": 1, "
            "\"ours_ns\": 0, "
            "\"passed_ns\": 3000000000}],\n"
            " \"passed\": [{\"operation\": \"bcast\", \"reason\": \"short\", \"calls\": 1},\n"
            "  {\"operation\": \"alltoallv\", \"reason\": \"operation not taken\", \"calls\": 1}]}\n");
}

}  // namespace
}  // namespace papfft::comm::preload
