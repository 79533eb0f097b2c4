// SPDX-License-Identifier: MIT
#include "comm/engine/call_planner.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace papfft::comm {
namespace {

/// Eight ranks with a host each, as far as a planner can tell.
class EightHosts final : public Transport {
 public:
  [[nodiscard]] Rank rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 8; }
  [[nodiscard]] int max_tag() const override { return 32767; }
  [[nodiscard]] int ranks_on_host() const override { return 1; }
  [[nodiscard]] bool is_any_crowded() const override { return false; }
  [[nodiscard]] bool threads_allowed() const override { return true; }
  [[nodiscard]] std::unique_ptr<Channel> open() override { return nullptr; }
};

// A table has an allgather that is planned by arrivals. Without arrivals the ring takes its place, in fewer segments.
TEST(CallPlanner, CutsAnewWhatGoesByAnotherAlgorithmWithoutArrivals) {
  const EightHosts transport;
  const Options options;
  CallPlanner planner(transport, options);
  planner.expect_arrivals();
  planner.offer_background(true);
  DecisionTable table;
  table.set({Operation::allgather, 1 << 17, {{"gossip"}}});
  planner.use_decisions(table, false);
  const PlannedCall plan =
      planner.plan({.operation = Operation::allgather, .bytes = 1 << 17, .algorithm = "auto"});
  EXPECT_EQ(plan.choice.algorithm->name, "gossip");
  EXPECT_TRUE(plan.is_background());
  EXPECT_GT(plan.segments, 3);
  EXPECT_EQ(planner.part(plan, std::vector<std::int64_t>(8, 0)).shape.segments, plan.segments);
  EXPECT_EQ(planner.part(plan, {}).shape.segments, 3) << "the ring's";
  const PlannedCall asked =
      planner.plan({.operation = Operation::allgather, .bytes = 1 << 17, .algorithm = "gossip/7"});
  EXPECT_EQ(planner.part(asked, {}).shape.segments, 7) << "as the caller asked";
}

// What no session plans goes by the ring at once.
TEST(CallPlanner, PlansByNoArrivalsWhereNobodyPredictsThem) {
  const EightHosts transport;
  const Options options;
  const CallPlanner planner(transport, options);
  const PlannedCall plan =
      planner.plan({.operation = Operation::allgather, .bytes = 1 << 20, .algorithm = "auto"});
  EXPECT_EQ(plan.choice.algorithm->name, "ring");
  EXPECT_EQ(plan.segments, 17) << "that need no handshake";
  EXPECT_FALSE(plan.is_background());
}

}  // namespace
}  // namespace papfft::comm
