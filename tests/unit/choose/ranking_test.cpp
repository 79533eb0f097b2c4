// SPDX-License-Identifier: MIT
#include "comm/choose/ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/bounds/host_bounds.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

using testing::Contains;
using testing::Not;

/// So many hosts of so many ranks.
Hosts hosts_of(int hosts, int per_host) {
  std::vector<int> layout;
  for (int r = 0; r < hosts * per_host; ++r) layout.push_back(r / per_host);
  return Hosts(hosts * per_host, layout);
}

RankedCall call_of(Operation operation, int hosts, int per_host, std::size_t bytes) {
  return {.operation = operation, .hosts = hosts_of(hosts, per_host), .bytes = bytes};
}

Ranking ranked(const RankedCall& call, const std::vector<ArrivalCase>& cases,
               const RankingLimits& limits = {}) {
  return rank_ways(call, {}, candidate_ways(call.operation, call.group()), cases, limits);
}

TEST(Ranking, TakesTimesThatFollowFromTheModel) {
  // Two hosts: one message of 1000 bytes, which arrives a latency after it was sent.
  const MachineLinks links{.between = {.link = {.alpha_ns = 500, .beta_ns_per_byte = 2, .latency_ns = 100}}};
  const Ranking ranking = rank_ways(call_of(Operation::bcast, 2, 1, 1000), links,
                                    std::array<std::string, 1>{"bnom/1"}, std::array{all_together(2)});
  ASSERT_EQ(ranking.ways.size(), 1U);
  EXPECT_DOUBLE_EQ(ranking.ways[0].run_ns[0], 2600);
  EXPECT_DOUBLE_EQ(ranking.ways[0].worst_slowdown, 1);
}

TEST(Ranking, KnowsBothLevels) {
  const MachineLinks links{.between = {.link = {.alpha_ns = 500, .beta_ns_per_byte = 2, .latency_ns = 0}},
                           .inside = {.link = {.alpha_ns = 10, .beta_ns_per_byte = 1, .latency_ns = 7}}};
  const std::array<std::string, 1> way{"bnom/1"};
  const std::array cases{all_together(2)};
  EXPECT_DOUBLE_EQ(rank_ways(call_of(Operation::bcast, 1, 2, 1000), links, way, cases).ways[0].run_ns[0],
                   1017);
  EXPECT_DOUBLE_EQ(rank_ways(call_of(Operation::bcast, 2, 1, 1000), links, way, cases).ways[0].run_ns[0],
                   2500);
}

TEST(Ranking, PutsTheFastestFirstAndKeepsAboveTheBound) {
  for (const OperationTraits& row : kOperations) {
    for (const std::size_t bytes : {1000U, 300000U}) {
      const RankedCall call = call_of(row.operation, 3, 2, bytes);
      const Ranking ranking = ranked(call, {all_together(6)});
      ASSERT_GE(ranking.ways.size(), row.sizes_are_own ? 1U : 2U) << row.name;
      EXPECT_TRUE(ranking.left_out.empty()) << row.name;
      EXPECT_TRUE(std::ranges::is_sorted(ranking.ways, {}, [](const auto& way) { return way.run_ns[0]; }));
      EXPECT_DOUBLE_EQ(ranking.ways.front().worst_slowdown, 1);
      const auto bound =
          bound_on_hosts(row.operation, call.hosts, 0, static_cast<std::int64_t>(bytes),
                         {.alpha = 8'000'000, .beta = 8000, .inside_alpha = 1'000'000, .inside_beta = 200});
      EXPECT_GE(ranking.ways.front().run_ns[0] * 1000, static_cast<double>(bound)) << row.name << bytes;
    }
  }
}

TEST(Ranking, FindsThatLongVectorsNeedAPipelineAndShortOnesATree) {
  const auto best = [](std::size_t bytes) {
    const std::string name = ranked(call_of(Operation::bcast, 16, 1, bytes), {all_together(16)}).ways[0].name;
    return name.substr(0, name.find('/'));
  };
  EXPECT_THAT(best(8 << 20), testing::AnyOf("circulant", "chain"));
  const Ranking small = ranked(call_of(Operation::bcast, 16, 1, 64), {all_together(16)});
  EXPECT_LE(small.find("bnom")->worst_slowdown, 1.05);
  EXPECT_GE(small.find("chain")->worst_slowdown, 2);
}

TEST(Ranking, HasCompositionsOnlyWhereHostsHaveSeveralRanks) {
  EXPECT_THAT(candidate_ways(Operation::bcast, GroupSize(8, 2)), Contains("circulant@hosts"));
  EXPECT_THAT(candidate_ways(Operation::bcast, GroupSize(8, 8)), Not(Contains("circulant@hosts")));
  EXPECT_THAT(candidate_ways(Operation::bcast, GroupSize(8, 1)), Not(Contains("circulant@hosts")));
  EXPECT_THAT(candidate_ways(Operation::reduce, GroupSize(8, 8)), Not(Contains("papbi")))
      << "it plans by arrivals";
  EXPECT_THAT(candidate_ways(Operation::allreduce, GroupSize(8, 8)), Not(Contains("census")))
      << "sums may differ";
}

TEST(Ranking, RenamesRanksHostByHostOnlyWhereThatChangesThem) {
  const RankedCall by_host = call_of(Operation::allgather, 4, 2, 1000);
  const RankedCall in_turn{
      .operation = Operation::allgather, .hosts = Hosts(4, std::vector{0, 1, 0, 1}), .bytes = 1000};
  EXPECT_THAT(candidate_ways(by_host), Not(Contains("ring@byhost")));
  EXPECT_THAT(candidate_ways(by_host), Contains("ring@hosts"));
  EXPECT_THAT(candidate_ways(in_turn), Contains("ring@byhost"));
}

TEST(Ranking, SaysWhatItLeavesOut) {
  const RankedCall call = call_of(Operation::bcast, 8, 1, 1 << 20);
  RankingLimits limits{.most_steps = 100};
  const Ranking few =
      rank_ways(call, {}, std::array<std::string, 2>{"chain", "bnom/1"}, std::array{all_together(8)}, limits);
  ASSERT_EQ(few.ways.size(), 1U);
  EXPECT_EQ(few.ways[0].name, "bnom/1") << "it sends and receives 14 messages";
  ASSERT_EQ(few.left_out.size(), 1U);
  EXPECT_EQ(few.left_out[0].name, "chain");
  EXPECT_THAT(few.left_out[0].why, testing::HasSubstr("steps"));
  int asked = 0;
  limits = {.may_go_on = [&] { return ++asked <= 1; }};
  const Ranking one = ranked(call, {all_together(8)}, limits);
  EXPECT_EQ(one.ways.size(), 1U);
  EXPECT_EQ(one.left_out.front().why, "no time is left");
}

// Whoever looks for the best alone finds the same one, and simulates less.
TEST(Ranking, LeavesOutWhatCannotBeTheBest) {
  std::size_t beaten = 0;
  for (const OperationTraits& row : kOperations) {
    for (const std::size_t bytes : {1000U, 100'000U}) {
      for (const bool are_together : {true, false}) {
        const RankedCall call = call_of(row.operation, 4, 2, bytes);
        const auto cases = are_together ? std::vector{all_together(8)}
                                        : unknown_arrivals(8, 0, 8.0 * static_cast<double>(bytes));
        const std::string mine = rule_choice(call, {});
        std::vector<std::string> ways = candidate_ways(call.operation, call.group());
        if (std::ranges::find(ways, mine) == ways.end()) ways.push_back(mine);
        const Ranking all = rank_ways(call, {}, ways, cases, {.cuts_anew = false});
        const Ranking best = rank_ways(call, {}, ways, cases, {.cuts_anew = false, .compared = mine});
        ASSERT_NE(best.find(mine), nullptr) << row.name << " " << mine;
        EXPECT_EQ(best.find(mine)->run_ns, all.find(mine)->run_ns);
        EXPECT_EQ(best.ways.front().run_ns, all.ways.front().run_ns) << row.name << " " << bytes;
        for (const Ranking::LeftOut& way : best.left_out) {
          EXPECT_TRUE(way.is_beaten);
          EXPECT_THAT(way.why, testing::EndsWith("us or more"));
          EXPECT_LE(way.least_ns, std::ranges::min(all.find(way.name)->run_ns))
              << row.name << " " << way.name;
        }
        beaten += best.left_out.size();
      }
    }
  }
  EXPECT_GT(beaten, 50U);
}

// Each port of a chain is busy for one message. It takes 15 of them one after another, and a tree four.
TEST(Ranking, EndsASimulationThatTakesLongerThanTheBest) {
  const RankedCall call = call_of(Operation::bcast, 16, 1, 1000);
  const std::array<std::string, 2> ways{"bnom", "chain"};
  const std::array cases{all_together(16)};
  const Ranking all = rank_ways(call, {}, ways, cases);
  const Ranking best = rank_ways(call, {}, ways, cases, {.cuts_anew = false, .compared = "bnom"});
  ASSERT_EQ(best.left_out.size(), 1U);
  EXPECT_EQ(best.left_out[0].name, "chain");
  EXPECT_TRUE(best.left_out[0].is_beaten);
  EXPECT_GT(best.left_out[0].least_ns, best.find("bnom")->run_ns[0]);
  EXPECT_LT(best.left_out[0].least_ns, 1.5 * best.find("bnom")->run_ns[0]) << "no longer than it must";
  EXPECT_GT(all.find("chain")->run_ns[0], 3 * all.find("bnom")->run_ns[0]);
}

TEST(Ranking, RefusesWhatMakesNoSense) {
  const RankedCall call = call_of(Operation::bcast, 2, 1, 1000);
  const std::array<std::string, 1> way{"bnom"};
  EXPECT_THROW((void)rank_ways(call, {}, way, {}), std::invalid_argument);
  EXPECT_THROW((void)rank_ways(call, {}, way, std::array{all_together(3)}), std::invalid_argument);
  EXPECT_THROW((void)rank_ways(call, {}, std::array<std::string, 1>{"mpi"}, std::array{all_together(2)}),
               std::invalid_argument);
  EXPECT_THROW((void)rank_ways(call, {}, std::array<std::string, 1>{"nonsense"}, std::array{all_together(2)}),
               std::invalid_argument);
}

/// 10 Gb/s, 8 hosts of 4 ranks.
const MachineLinks kFast{
    .between = {.link = {.alpha_ns = 4000, .beta_ns_per_byte = 0.8, .latency_ns = 20000}}};

TEST(SimulatedChoice, IsNeverABadOneOfThoseThatWereSimulated) {
  int changed = 0;
  for (const OperationTraits& row : kOperations) {
    if (row.sizes_are_own) continue;
    for (const std::size_t bytes : {2000U, 60'000U}) {
      const RankedCall call = call_of(row.operation, 8, 2, bytes);
      const std::string by_rules = rule_choice(call, kFast.between.link);
      const std::string chosen = simulated_choice(call, kFast, {});
      changed += chosen != by_rules ? 1 : 0;
      const double message = message_ns(kFast.between.link, row.operation,
                                        static_cast<double>(vector_bytes(row.operation, bytes, 16)));
      const Ranking pair = rank_ways(call, kFast, std::vector{by_rules, chosen},
                                     unknown_arrivals(16, 0, message), {.cuts_anew = false});
      EXPECT_TRUE(chosen == by_rules || pair.ways.front().name == chosen) << row.name << " " << bytes;
    }
  }
  EXPECT_GT(changed, 0) << "else this test shows nothing";
}

TEST(SimulatedChoice, StaysWithTheRulesIfTheyCannotBeSimulated) {
  const RankedCall call = call_of(Operation::allreduce, 8, 2, 100'000);
  const std::string by_rules = rule_choice(call, kFast.between.link);
  EXPECT_EQ(simulated_choice(call, kFast, {.most_steps = 1}), by_rules);
  EXPECT_EQ(simulated_choice(call, kFast, {.may_go_on = [] { return false; }}), by_rules);
}

TEST(UnknownArrivals, AreTenCasesWithDelaysUpToThreeMessageTimes) {
  for (const int ranks : {2, 5, 32}) {
    const auto cases = unknown_arrivals(ranks, 1, 1000);
    ASSERT_EQ(cases.size(), 10U);
    EXPECT_EQ(cases[0].delay_ns, all_together(ranks).delay_ns);
    EXPECT_EQ(cases[2].name, "one late x0.3");
    const auto late = [&](std::size_t c, std::int64_t by) {
      return std::ranges::count(cases[c].delay_ns, by);
    };
    EXPECT_EQ(late(2, 300), 1) << "one late";
    EXPECT_EQ(late(9, 3000), ranks / 2) << "half of them late";
    EXPECT_EQ(cases[8].delay_ns[1], 0) << "the root is not the one";
    for (const ArrivalCase& c : cases) {
      for (const std::int64_t delay : c.delay_ns) EXPECT_TRUE(delay >= 0 && delay <= 3000) << c.name;
    }
  }
}

TEST(WorstSlowdown, IsAgainstTheBestInEachCase) {
  const std::vector<std::vector<double>> times = {{10, 40, 6}, {20, 20, 6}, {15, 25, 0}};
  const auto worst = worst_slowdowns(std::span(times).first(2));
  ASSERT_EQ(worst.size(), 2U);
  EXPECT_DOUBLE_EQ(worst[0].slowdown, 2);
  EXPECT_EQ(worst[0].in_case, 1U);
  EXPECT_DOUBLE_EQ(worst[1].slowdown, 2);
  EXPECT_EQ(worst[1].in_case, 0U);
  EXPECT_DOUBLE_EQ(worst_slowdowns(times)[2].slowdown, 1.5)
      << "neither best nor worst anywhere, but the best choice";
  EXPECT_TRUE(worst_slowdowns({}).empty());
}

TEST(RobustRanking, MinimisesTheWorstSlowdownOverTheCases) {
  for (const OperationTraits& row : kOperations) {
    const RankedCall call = call_of(row.operation, 5, 1, 100000);
    const auto cases = unknown_arrivals(5, 0, message_ns({}, row.operation, 100000));
    const Ranking ranking = ranked(call, cases);
    const auto best_in = [&](std::size_t c) {
      return std::ranges::min(ranking.ways, {}, [&](const auto& way) { return way.run_ns[c]; }).run_ns[c];
    };
    for (const SimulatedWay& way : ranking.ways) {
      double worst = 0;
      for (std::size_t c = 0; c < cases.size(); ++c) worst = std::max(worst, way.run_ns[c] / best_in(c));
      EXPECT_DOUBLE_EQ(way.worst_slowdown, worst) << row.name << " " << way.name;
      EXPECT_DOUBLE_EQ(way.run_ns[way.worst_case] / best_in(way.worst_case), worst);
      EXPECT_GE(way.worst_slowdown, ranking.ways.front().worst_slowdown);
    }
  }
}

TEST(RobustRanking, NeverTakesAWayThatIsSlowerInEveryCase) {
  const RankedCall call = call_of(Operation::reduce, 16, 1, 1 << 20);
  const Ranking ranking = ranked(call, unknown_arrivals(16, 0, message_ns({}, Operation::reduce, 1 << 20)));
  const SimulatedWay& chosen = ranking.ways.front();
  for (const SimulatedWay& other : ranking.ways) {
    const bool dominates = std::ranges::equal(other.run_ns, chosen.run_ns, std::less<>{});
    EXPECT_FALSE(dominates) << other.name << " beats " << chosen.name << " in each case";
  }
}

TEST(RuleChoice, DependsOnTheLink) {
  const RankedCall call = call_of(Operation::bcast, 8, 1, 32768);
  EXPECT_EQ(rule_choice(call, {}), "circulant");
  EXPECT_EQ(rule_choice(call, {.beta_ns_per_byte = 0.8}), "bnom") << "as 3277 bytes at 1 Gb/s";
  EXPECT_EQ(rule_choice(call_of(Operation::reduce, 8, 1, 1 << 20), {}), "circulant") << "not papbi";
}

}  // namespace
}  // namespace papfft::comm
