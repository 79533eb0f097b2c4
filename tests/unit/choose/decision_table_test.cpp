// SPDX-License-Identifier: MIT
#include "comm/choose/decision_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/engine/call_planner.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm {
namespace {

using testing::HasSubstr;

const GroupProfile kGroup{.library = "Open MPI v4.1.4", .ranks = 32, .hosts = 8, .is_crowded = true};

/// What parse() says of a table with this line in it.
std::string complaint(const std::string& line) {
  try {
    (void)DecisionTable::parse("papfft-decisions 1\nranks 4\n" + line + "\n");
    return "nothing";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST(DecisionTable, IsReadAsItWasWritten) {
  DecisionTable table(kGroup);
  table.set({Operation::reduce, 4096, {{"mpi", 20.5}, {"circulant/8", 10}}});
  table.set({Operation::bcast, 1048576, {{"chain", 900}, {"mpi:3/64K", 800}}});
  const DecisionTable again = DecisionTable::parse(table.text());
  EXPECT_EQ(again.group(), kGroup);
  EXPECT_EQ(again.rows(), table.rows());
  EXPECT_EQ(again.text(), table.text());
  EXPECT_THAT(table.text(),
              HasSubstr("\nbcast 1048576 mpi:3/64K=800.0 chain=900.0\nreduce 4096 circulant/8=10.0"));
}

TEST(DecisionTable, KeepsThatItIsForUnknownArrivals) {
  DecisionTable table(kGroup);
  EXPECT_FALSE(DecisionTable::parse(table.text()).is_for_unknown_arrivals());
  table.set_for_unknown_arrivals();
  EXPECT_TRUE(DecisionTable::parse(table.text()).is_for_unknown_arrivals());
}

TEST(DecisionTable, KeepsTheOrderOfWaysWithoutTimes) {
  const DecisionTable table = DecisionTable::parse("papfft-decisions 1\n\n# by hand\ngather 100 lin mpi=1\n");
  ASSERT_EQ(table.rows().size(), 1U);
  EXPECT_EQ(table.rows()[0].ways, (std::vector<DecisionTable::Way>{{"lin", 0}, {"mpi", 1}}));
}

TEST(DecisionTable, TakesTheNearestMeasuredSizeWithinReach) {
  DecisionTable table(kGroup);
  table.set({Operation::bcast, 1024, {{"bnom", 1}}});
  table.set({Operation::bcast, 16384, {{"chain", 1}}});
  const auto first = [&](std::size_t bytes) {
    const auto ways = table.ways(Operation::bcast, bytes);
    return ways.empty() ? std::string("none") : ways.front().name;
  };
  EXPECT_EQ(first(1024), "bnom");
  EXPECT_EQ(first(4000), "bnom");
  EXPECT_EQ(first(4200), "chain");
  EXPECT_EQ(first(65536), "chain");
  EXPECT_EQ(first(66000), "none");
  EXPECT_EQ(first(255), "none");
  EXPECT_TRUE(table.ways(Operation::reduce, 1024).empty());
  table.set({Operation::bcast, 1024, {{"mpi", 1}}});
  EXPECT_EQ(first(1024), "mpi") << "measured again";
  EXPECT_EQ(table.rows().size(), 2U);
}

std::string names(const std::vector<DecisionTable::Way>& ways) {
  std::string text;
  for (const DecisionTable::Way& way : ways) text += (text.empty() ? "" : " ") + way.name;
  return text;
}

TEST(DecisionTable, InterpolatesBetweenMeasuredSizes) {
  // bnom costs what the bytes cost, chain has a start-up cost: they are equal at 4 KB, in the middle.
  const DecisionTable table = DecisionTable::parse(
      "papfft-decisions 1\n"
      "bcast 1023 bnom=10 chain=20 scatter-allgather=25\n"
      "bcast 16383 chain=80 bnom=160\n");
  EXPECT_EQ(names(table.ways(Operation::bcast, 1023)), "bnom chain scatter-allgather");
  EXPECT_EQ(names(table.ways(Operation::bcast, 4000)), "bnom chain scatter-allgather")
      << "the last was not timed at both";
  EXPECT_EQ(names(table.ways(Operation::bcast, 4200)), "chain bnom");
  EXPECT_EQ(names(table.ways(Operation::bcast, 16383)), "chain bnom");
  const auto middle = table.ways(Operation::bcast, 4095);
  EXPECT_NEAR(middle[0].us, 40, 1e-9);
  EXPECT_NEAR(middle[1].us, 40, 1e-9);
}

TEST(DecisionTable, InterpolationMayChooseAWayThatIsFastestAtNeitherSize) {
  const DecisionTable table = DecisionTable::parse(
      "papfft-decisions 1\n"
      "bcast 999 bnom=10 chain=12 circulant=100\n"
      "bcast 9999 circulant=10 chain=12 bnom=100\n");
  EXPECT_EQ(names(table.ways(Operation::bcast, 3100)), "chain bnom circulant");
}

TEST(DecisionTable, TakesTheNearestSizeWhereNothingIsKnownOfItsFastestAtTheOther) {
  const DecisionTable table = DecisionTable::parse(
      "papfft-decisions 1\n"
      "bcast 1000 bnom=10 mpi=20\n"
      "bcast 4000 chain=30 mpi=35\n"
      "bcast 100000 chain=60 bnom=61 mpi=900\n"
      "gather 1000 lin mpi\n"
      "gather 4000 mpi lin\n");
  EXPECT_EQ(names(table.ways(Operation::bcast, 1500)), "bnom mpi");
  EXPECT_EQ(names(table.ways(Operation::bcast, 3000)), "chain mpi");
  EXPECT_EQ(names(table.ways(Operation::bcast, 5000)), "chain mpi") << "100000 is too far off";
  EXPECT_EQ(names(table.ways(Operation::gather, 1500)), "lin mpi") << "without times";
  EXPECT_EQ(names(table.ways(Operation::gather, 3000)), "mpi lin");
}

TEST(DecisionTable, StaysWithTheDefaultUntilItIsKnownToBeOvertaken) {
  const DecisionTable table = DecisionTable::parse(
      "papfft-decisions 1\n"
      "bcast 1000 mpi=10 bnom=20\n"
      "bcast 4000 chain=30 mpi=60\n"
      "bcast 16000 circulant=60 mpi=130\n");
  EXPECT_EQ(names(table.ways(Operation::bcast, 3000)), "mpi chain");
  EXPECT_EQ(names(table.ways(Operation::bcast, 4000)), "chain mpi");
  EXPECT_EQ(names(table.ways(Operation::bcast, 10000)), "circulant mpi") << "the default wins at neither end";
}

TEST(DecisionTable, SaysWhichLineIsWrong) {
  EXPECT_EQ(complaint("bcast 5 chain"), "nothing");
  EXPECT_THAT(complaint("bcast 5 nonsense"), HasSubstr("line 3: "));
  EXPECT_THAT(complaint("bcast 5 nonsense"), HasSubstr("nonsense"));
  EXPECT_THAT(complaint("bcast 5"), HasSubstr("names no algorithm"));
  EXPECT_THAT(complaint("bcast -5 chain"), HasSubstr("'-5' is no number of bytes"));
  EXPECT_THAT(complaint("bcast 5 chain=-1"), HasSubstr("'-1' is no time"));
  EXPECT_THAT(complaint("bcast 5 chain=nan"), HasSubstr("'nan' is no time"));
  EXPECT_THAT(complaint("bcast 5 chain=1e300"), HasSubstr("'1e300' is no time"));
  EXPECT_THAT(complaint("bcast 5 chain=0"), HasSubstr("'0' is no time"));
  EXPECT_THAT(complaint("bcast 5 mpi:x"), HasSubstr("names no algorithm"));
  EXPECT_THAT(complaint("bcast 5 auto"), HasSubstr("what the table is for"));
  EXPECT_THAT(complaint("broadcast 5 chain"), HasSubstr("broadcast"));
  EXPECT_THAT(complaint("ranks 0"), HasSubstr("'0' is no number of ranks"));
  EXPECT_THAT(complaint("crowded perhaps"), HasSubstr("yes or no"));
  EXPECT_EQ(complaint("arrivals unknown"), "nothing");
  EXPECT_THAT(complaint("arrivals late"), HasSubstr("arrivals are unknown"));
  EXPECT_THROW((void)DecisionTable::parse(""), std::invalid_argument);
  EXPECT_THROW((void)DecisionTable::parse("papfft-decisions 2\n"), std::invalid_argument);
}

TEST(StockAlgorithm, IsReadAsItIsWritten) {
  for (const char* text : {"1", "3/64K", "3/1000", "7/1M", "2/1G"}) {
    EXPECT_EQ(StockAlgorithm::parse(text).text(), text);
  }
  EXPECT_EQ(StockAlgorithm::parse("3/65536").text(), "3/64K");
  for (const char* text : {"", "0", "-1", "x", "3/", "3/0", "3/4G", "3/K", "3/64k"}) {
    EXPECT_THROW((void)StockAlgorithm::parse(text), std::invalid_argument) << text;
  }
}

/// Two ranks of one host, as far as a planner can tell.
class TwoRanks final : public Transport {
 public:
  [[nodiscard]] Rank rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  [[nodiscard]] int max_tag() const override { return 32767; }
  [[nodiscard]] int ranks_on_host() const override { return 2; }
  [[nodiscard]] bool threads_allowed() const override { return true; }
  [[nodiscard]] std::unique_ptr<Channel> open() override { return nullptr; }
};

class PlannerByTable : public testing::Test {
 protected:
  std::string planned(Operation operation, std::size_t bytes, std::string_view algorithm = "auto",
                      bool waits = true) {
    const PlannedCall plan =
        planner_.plan({.operation = operation, .bytes = bytes, .algorithm = algorithm}, waits);
    return plan.signature.algorithm.data() +
           (plan.signature.segments > 0 ? "/" + std::to_string(plan.signature.segments) : "") +
           (plan.is_background() ? " early" : "");
  }
  void use(const std::string& rows, bool tuned_stock) {
    planner_.use_decisions(DecisionTable::parse("papfft-decisions 1\n" + rows), tuned_stock);
  }

  TwoRanks transport_;
  Options options_;
  CallPlanner planner_{transport_, options_};
};

TEST_F(PlannerByTable, TakesTheFirstWayThatCanBeGone) {
  const std::string rows = "gather 1000 mpi:3/64K mpi lin/2 bnom\n";
  use(rows, true);
  EXPECT_EQ(planned(Operation::gather, 1000), "lin/2") << "there is no MPI library";
  planner_.offer_stock();
  EXPECT_EQ(planned(Operation::gather, 1000), "mpi:3/64K");
  EXPECT_EQ(planned(Operation::gather, 1000, "auto", false), "lin/2") << "MPI's calls cannot be started";
  EXPECT_EQ(planned(Operation::gather, 1000, "bnom"), "bnom") << "the user named one";
  use(rows, false);
  EXPECT_EQ(planned(Operation::gather, 1000), "mpi");
  options_.stuck_after = std::chrono::seconds(1);
  EXPECT_EQ(planned(Operation::gather, 1000), "lin/2") << "within MPI nobody can tell who is stuck";
}

TEST_F(PlannerByTable, LeavesWatchedCallsToTheLibraryIfTheyCannotBeTakenForStuck) {
  use("bcast 1000 mpi bnom\nbcast 100000000 mpi bnom\n", false);
  planner_.offer_stock();
  options_.stuck_after = std::chrono::seconds(1);
  EXPECT_EQ(planned(Operation::bcast, 1000), "bnom");
  planner_.stock_is_watched();
  EXPECT_EQ(planned(Operation::bcast, 1000), "mpi");
  EXPECT_EQ(planned(Operation::bcast, 100'000'000), "bnom") << "moving 100 MB takes 0.8 s";
  options_.stuck_after = std::chrono::seconds(0);
  EXPECT_EQ(planned(Operation::bcast, 100'000'000), "mpi");
}

TEST_F(PlannerByTable, TakesWhatWasSimulatedOnlyWhereNothingWasMeasured) {
  use("gather 1000 lin\n", false);
  planner_.add_simulated({Operation::gather, 1000, {{"bnom"}}});
  planner_.add_simulated({Operation::gather, 100'000, {{"bnom/3"}}});
  EXPECT_EQ(planned(Operation::gather, 1000), "lin");
  EXPECT_EQ(planned(Operation::gather, 70'000), "bnom/3") << "as many bits as 100,000";
  EXPECT_NE(planned(Operation::gather, 200'000), "bnom/3");
  EXPECT_NE(planned(Operation::gather, 100'000, "auto", false), "bnom/3")
      << "ranks may start a call before or after it was simulated";
  EXPECT_EQ(planner_.plan({.operation = Operation::gather, .bytes = 100'000, .algorithm = "auto"}).reason,
            "a simulation");
  planner_.offer_background(true);
  EXPECT_NE(planned(Operation::gather, 100'000), "bnom/3") << "nothing that begins early was simulated";
}

TEST_F(PlannerByTable, TellsWhoChose) {
  const auto reason = [&](std::string_view algorithm, std::size_t bytes = 1000) {
    return planner_.plan({.operation = Operation::gather, .bytes = bytes, .algorithm = algorithm}).reason;
  };
  EXPECT_EQ(reason("auto"), "the rules");
  use("gather 1000 lin=5\n", true);
  EXPECT_EQ(reason("auto"), "a table");
  EXPECT_EQ(reason("auto", 10), "the rules") << "the table says nothing of so few bytes";
  EXPECT_EQ(reason("lin"), "the caller");
  use("arrivals unknown\ngather 1000 lin\n", true);
  EXPECT_EQ(reason("auto"), "a table for unknown arrivals");
}

TEST_F(PlannerByTable, SizesThatWereNotMeasuredGoByTheRules) {
  const std::string before = planned(Operation::gather, 10);
  use("gather 1000 bnom/7\n", true);
  EXPECT_EQ(planned(Operation::gather, 10), before);
  EXPECT_EQ(planned(Operation::gather, 999), "bnom/7");
}

TEST_F(PlannerByTable, ABackgroundThreadIsNotGivenUpForAStockCallThatWasFastestWithoutDelays) {
  use("allreduce 4000000 mpi ring\n", true);
  planner_.offer_stock();
  planner_.offer_background(true);
  EXPECT_EQ(planned(Operation::allreduce, 4000000), "mpi") << "nothing of an allreduce can begin early";
}

}  // namespace
}  // namespace papfft::comm
