// SPDX-License-Identifier: MIT
// The circulant reduce-scatter that hides its combining. Its sums are verified with all others (registry_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/model/simulator.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

using Messages = std::vector<std::pair<Rank, BlockRange>>;

RankSchedule part_of(std::string_view name, int p, Rank rank) {
  return make_rank_schedule(find_algorithm(Operation::reduce_scatter, name),
                            {.operation = Operation::reduce_scatter, .ranks = p}, rank);
}

Messages messages_of(const RankSchedule& part, OpKind kind) {
  Messages found;
  for (const Op& op : part.program.ops()) {
    if (op.kind == kind) found.emplace_back(op.peer, op.blocks);
  }
  return found;
}

TEST(CirculantHalves, GivesWhatGoesOnBeforeWhatStays) {
  const RankSchedule part = part_of("circulant-halves", 4, 0);
  EXPECT_EQ(messages_of(part, OpKind::send), (Messages{{2, {3, 4}}, {2, {2, 3}}, {1, {1, 2}}}));
  EXPECT_EQ(messages_of(part, OpKind::recv_combine), (Messages{{2, {1, 2}}, {2, {0, 1}}, {3, {0, 1}}}));
}

TEST(CirculantHalves, SendsThatPassAlongWaitForNothingThatStays) {
  for (int p = 3; p <= 70; ++p) {
    const RankSchedule part = part_of("circulant-halves", p, p / 2);
    for (int i = 0; i < part.program.size(); ++i) {
      const Op& op = part.program[i];
      if (op.kind != OpKind::send) continue;
      for (const int before : part.program.after(i)) {
        const Op& other = part.program[before];
        EXPECT_TRUE(other.kind == OpKind::send || other.blocks.first < op.blocks.last) << p;
        EXPECT_TRUE(other.kind == OpKind::send || op.blocks.first < other.blocks.last) << p;
      }
    }
  }
}

/// Of 1000 bytes per block. A receive is under way until it is combined, so one alone would hide nothing.
Ticks run_time(std::string_view name, int p, Ticks alpha, Ticks gamma) {
  const Schedule s = make_schedule(find_algorithm(Operation::reduce_scatter, name),
                                   {.operation = Operation::reduce_scatter, .ranks = p});
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(s.shape.slots()), 1000);
  const Machine machine{.alpha = alpha, .beta = 8, .gamma = gamma};
  const Conduct conduct{.window = {2, 8}};
  return simulate(s, sizes, std::vector<Ticks>(static_cast<std::size_t>(p)), machine, conduct).run_time;
}

TEST(CirculantHalves, CombinesWhileMessagesCome) {
  for (const int p : {8, 64}) {
    EXPECT_EQ(run_time("circulant", p, 0, 4), (p - 1) * (8000 + 4000)) << "all combining shows";
    EXPECT_EQ(run_time("circulant-halves", p, 0, 4), (p - 1) * 8000 + 4000) << "only the last block's does";
  }
  for (const int p : {7, 12, 33, 100}) {
    EXPECT_LT(run_time("circulant-halves", p, 0, 4), run_time("circulant", p, 0, 4)) << p;
  }
  EXPECT_GT(run_time("circulant-halves", 64, 5000, 0), run_time("circulant", 64, 5000, 0)) << "more messages";
}

}  // namespace
}  // namespace papfft::comm
