// SPDX-License-Identifier: MIT
#include "comm/schedule/core/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "comm/verify/verify.hpp"
#include "tests/support/sanitized.hpp"

namespace papfft::comm {
namespace {

class EveryAlgorithm : public testing::TestWithParam<const Algorithm*> {};

std::vector<std::int64_t> random_arrivals_ns(int p, std::uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<std::int64_t> arrivals(static_cast<std::size_t>(p));
  for (auto& a : arrivals) a = static_cast<std::int64_t>(rng() % 1000) * (rng() % 4 == 0 ? 10 : 1);
  return arrivals;
}

std::vector<Request> requests(const Algorithm& algorithm, int p) {
  std::vector<Request> result;
  for (const Rank root : std::set<Rank>{0, 1 % p, p / 2, p - 1}) {
    for (const int segments : {1, 2, 5}) {
      for (const bool ordered : {false, true}) {
        if (ordered && !algorithm.can_be_ordered) continue;
        Request request{.operation = algorithm.operation,
                        .ranks = p,
                        .root = is_rooted(algorithm.operation) ? root : 0,
                        .segments = segments,
                        .ordered = ordered,
                        .round_ns = 100};
        result.push_back(request);
        if (!algorithm.uses_arrival) continue;
        for (const std::uint32_t seed : {1U, 2U}) {
          request.arrival_ns = random_arrivals_ns(p, seed);
          result.push_back(request);
        }
      }
    }
    if (!is_rooted(algorithm.operation)) break;
  }
  return result;
}

// No message is buffered and one send and one receive at a time: what passes here cannot deadlock in any executor
// that keeps to the window rule (verify.hpp).
TEST_P(EveryAlgorithm, IsCorrectForEveryGroupUpTo64) {
  const Algorithm& algorithm = *GetParam();
  // Credits are verified once for each rank that stays away; with a message for each pair of ranks that grows with P^3.
  const OperationTraits& row = traits(algorithm.operation);
  const bool to_root_alone = row.before == Holder::owner && row.after == Holder::root;
  const bool is_long = algorithm.name == "credit" && !to_root_alone;
  const int most = is_long ? 14 : 64;
  for (int p = 1; p <= (papfft::test::kSanitized ? most / 4 : most); ++p) {
    for (const Request& request : requests(algorithm, p)) {
      const Schedule schedule = make_schedule(algorithm, request);
      ASSERT_EQ(find_violation(schedule), std::nullopt)
          << algorithm.name << " P=" << p << " root=" << request.root << " segments=" << request.segments
          << (request.ordered ? " ordered" : "") << (request.arrival_ns.empty() ? "" : " with arrivals");
      ASSERT_EQ(schedule.shape.ordered, request.ordered);
    }
  }
}

TEST_P(EveryAlgorithm, GivesOneRankThePartItHasInTheWhole) {
  const Algorithm& algorithm = *GetParam();
  for (const int p : {1, 2, 5, 8, 13}) {
    for (const Request& request : requests(algorithm, p)) {
      const Schedule whole = make_schedule(algorithm, request);
      for (Rank r = 0; r < p; ++r) {
        const RankSchedule part = make_rank_schedule(algorithm, request, r);
        ASSERT_EQ(part.shape, whole.shape);
        ASSERT_EQ(part.program, whole.programs[static_cast<std::size_t>(r)]);
        ASSERT_EQ(part.rank, r);
      }
    }
  }
}

/// The part without its rounds, which are for printing.
Program ops_of(const RankSchedule& part) {
  Program ops;
  for (int i = 0; i < part.program.size(); ++i) {
    Op op = part.program[i];
    op.round = 0;
    ops.append(op, part.program.after(i));
  }
  return ops;
}

// Whoever makes the same part whatever the arrivals need not wait to hear of them.
TEST_P(EveryAlgorithm, SaysWhetherTheRootAlonePlansByArrivals) {
  const Algorithm& algorithm = *GetParam();
  bool others_plan = false;
  for (const Request& request : requests(algorithm, 8)) {
    if (request.arrival_ns.empty()) continue;
    Request together = request;
    together.arrival_ns.clear();
    for (Rank r = 0; r < request.ranks; ++r) {
      const RankSchedule part = make_rank_schedule(algorithm, request, r);
      const RankSchedule other = make_rank_schedule(algorithm, together, r);
      const bool is_same = ops_of(part) == ops_of(other) && part.shape == other.shape;
      others_plan = others_plan || (r != request.root && !is_same);
    }
  }
  EXPECT_EQ(algorithm.plans_root_alone, algorithm.uses_arrival && !others_plan);
  if (algorithm.uses_arrival && traits(algorithm.operation).sizes_are_own) {
    EXPECT_TRUE(algorithm.plans_root_alone) << "ranks that know other sizes could not agree whether to ask";
  }
}

TEST_P(EveryAlgorithm, IsDescribedWhole) {
  const Algorithm& a = *GetParam();
  for (const std::string_view text : {a.name, a.summary, a.rounds, a.bytes, a.source})
    EXPECT_FALSE(text.empty());
  EXPECT_EQ((a.whole != nullptr) + (a.local != nullptr) + (a.transfers != nullptr), 1);
  EXPECT_EQ(&find_algorithm(a.operation, a.name), &a) << "two algorithms of one name";
}

TEST_P(EveryAlgorithm, RefusesWhatMakesNoSense) {
  const Algorithm& a = *GetParam();
  const auto refuses = [&](Request request) {
    request.operation = a.operation;
    EXPECT_THROW((void)make_schedule(a, request), std::invalid_argument);
    EXPECT_THROW((void)make_rank_schedule(a, request, 0), std::invalid_argument);
  };
  refuses({.ranks = 0});
  refuses({.ranks = 4, .root = 4});
  refuses({.ranks = 4, .root = -1});
  refuses({.ranks = 4, .segments = 0});
  refuses({.ranks = 4, .arrival_ns = {1, 2, 3}});
  if (!a.can_be_ordered) refuses({.ranks = 4, .ordered = true});
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()), [](const auto& test) {
                           std::string name = std::string(to_string(test.param->operation)) + "_" +
                                              std::string(test.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Registry, NamesWhatItKnowsWhenAskedForWhatItDoesNot) {
  try {
    (void)find_algorithm(Operation::gather, "magic");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("no gather algorithm 'magic'; known: lin, ls, bnom"))
        << e.what();
  }
  EXPECT_THROW((void)parse_operation("scan"), std::invalid_argument);
  EXPECT_EQ(parse_operation("reduce_scatter"), Operation::reduce_scatter);
}

}  // namespace
}  // namespace papfft::comm
