// SPDX-License-Identifier: MIT
#include "app/run/arrival_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

namespace papfft::app {
namespace {

using comm::Rank;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::int64_t> delays(const std::string& spec, int ranks, Rank root = 0,
                                 std::int64_t iteration = 0, std::uint64_t seed = 1) {
  const auto pattern = ArrivalPattern::parse(spec, seed);
  std::vector<std::int64_t> v;
  for (Rank r = 0; r < ranks; ++r) v.push_back(pattern.delay_ns(iteration, r, ranks, root));
  return v;
}

std::string error_of(const std::string& spec) {
  try {
    (void)ArrivalPattern::parse(spec, 1);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "no error";
}

TEST(Duration, Units) {
  EXPECT_EQ(parse_duration_ns("0"), 0);
  EXPECT_EQ(parse_duration_ns("10ns"), 10);
  EXPECT_EQ(parse_duration_ns("250us"), 250'000);
  EXPECT_EQ(parse_duration_ns("1.5ms"), 1'500'000);
  EXPECT_EQ(parse_duration_ns("2s"), 2'000'000'000);
  EXPECT_EQ(parse_duration_ns("864000s"), 864'000'000'000'000);
  for (const char* bad : {"", "5", "ms", "-1ms", "1m", "1 ms", "1e3ms", "864001s", "nanms", "infs", "5msx"}) {
    EXPECT_THROW((void)parse_duration_ns(bad), std::invalid_argument) << bad;
  }
}

TEST(ArrivalPattern, Shapes) {
  EXPECT_THAT(delays("none", 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(delays("flat:7ns", 3), ElementsAre(7, 7, 7));
  EXPECT_THAT(delays("ascending:30ns", 4), ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(delays("descending:30ns", 4), ElementsAre(30, 20, 10, 0));
  EXPECT_THAT(delays("first-late:9ns", 3, 1), ElementsAre(9, 0, 0));
  EXPECT_THAT(delays("last-late:9ns", 3, 1), ElementsAre(0, 0, 9));
  EXPECT_THAT(delays("root-late:9ns", 3, 1), ElementsAre(0, 9, 0));
  EXPECT_THAT(delays("half-late:9ns", 5), ElementsAre(0, 0, 0, 9, 9));
  EXPECT_THAT(delays("late:1:9ns", 3), ElementsAre(0, 9, 0));
  EXPECT_THAT(delays("bell:1000ns", 7), ElementsAre(11, 135, 607, 1000, 607, 135, 11));
}

TEST(ArrivalPattern, DelaysInTimesOfAMessage) {
  const ArrivalPattern pattern = ArrivalPattern::parse("late:1:2.5x", 1);
  EXPECT_TRUE(pattern.is_in_messages());
  EXPECT_THROW((void)pattern.delay_ns(0, 1, 2, 0), std::invalid_argument);
  EXPECT_EQ(pattern.for_message(100).delay_ns(0, 1, 2, 0), 250);
  EXPECT_EQ(pattern.for_message(10).delay_ns(0, 1, 2, 0), 25);
  EXPECT_EQ(pattern.for_message(10).spec(), "late:1:2.5x");
  const ArrivalPattern fixed = ArrivalPattern::parse("late:1:9ns", 1);
  EXPECT_FALSE(fixed.is_in_messages());
  EXPECT_EQ(fixed.for_message(100).delay_ns(0, 1, 2, 0), 9);
  for (const char* bad :
       {"uniform:x", "uniform:-1x", "uniform:2xs", "uniform:2y", "uniform:1e9x", "uniform:nanx"})
    EXPECT_THROW((void)ArrivalPattern::parse(bad, 1), std::invalid_argument) << bad;
}

TEST(ArrivalPattern, OneRankAlone) {
  for (const char* spec : {"none", "ascending:5ns", "descending:5ns", "bell:5ns", "uniform:5ns",
                           "k-late:1:5ns", "half-late:5ns", "exponential:5ns"}) {
    EXPECT_GE(delays(spec, 1).front(), 0) << spec;
  }
}

TEST(ArrivalPattern, UniformFillsItsRange) {
  const auto pattern = ArrivalPattern::parse("uniform:50ms", 3);
  double sum = 0;
  std::int64_t least = 50'000'000;
  std::int64_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    for (Rank r = 0; r < 8; ++r) {
      const std::int64_t d = pattern.delay_ns(i, r, 8, 0);
      sum += static_cast<double>(d);
      least = std::min(least, d);
      most = std::max(most, d);
    }
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 100'000);
  EXPECT_GT(most, 49'900'000);
  EXPECT_LE(most, 50'000'000);
  EXPECT_NEAR(sum / 8000, 25e6, 0.6e6);  // sigma of the mean is 0.16e6
}

TEST(ArrivalPattern, ExponentialHasItsMean) {
  const auto pattern = ArrivalPattern::parse("exponential:10ms", 3);
  double sum = 0;
  for (int i = 0; i < 8000; ++i) sum += static_cast<double>(pattern.delay_ns(i, i % 8, 8, 0));
  EXPECT_NEAR(sum / 8000, 10e6, 0.5e6);  // sigma of the mean is 0.11e6
}

TEST(ArrivalPattern, KLateDrawsExactlyK) {
  const auto pattern = ArrivalPattern::parse("k-late:3:10ms", 11);
  std::vector<int> times_late(8);
  for (int i = 0; i < 400; ++i) {
    int late = 0;
    for (Rank r = 0; r < 8; ++r) {
      const bool is = pattern.delay_ns(i, r, 8, 0) == 10'000'000;
      late += is ? 1 : 0;
      times_late[static_cast<std::size_t>(r)] += is ? 1 : 0;
    }
    ASSERT_EQ(late, 3) << "iteration " << i;
  }
  for (const int n : times_late) EXPECT_NEAR(n, 150, 50);  // sigma 9.7
  EXPECT_THAT(delays("k-late:9:1ns", 2), ElementsAre(1, 1));
}

TEST(ArrivalPattern, DependsOnNothingButItsArguments) {
  for (const char* spec : {"uniform:50ms", "exponential:5ms", "k-late:2:1ms"}) {
    const auto one = ArrivalPattern::parse(spec, 42);
    const auto other = ArrivalPattern::parse(spec, 42);
    std::vector<std::int64_t> forwards;
    for (int i = 0; i < 20; ++i) {
      for (Rank r = 0; r < 5; ++r) forwards.push_back(one.delay_ns(i, r, 5, 0));
    }
    for (int i = 19; i >= 0; --i) {
      for (Rank r = 4; r >= 0; --r) {
        EXPECT_EQ(other.delay_ns(i, r, 5, 0), forwards[static_cast<std::size_t>(i * 5 + r)]) << spec;
      }
    }
    EXPECT_NE(delays(spec, 16, 0, 0, 42), delays(spec, 16, 0, 1, 42)) << spec << ": not anew";
    EXPECT_NE(delays(spec, 16, 0, 0, 42), delays(spec, 16, 0, 0, 43)) << spec << ": seed without effect";
  }
  // A fixed value: recorded experiments stay what they were.
  EXPECT_EQ(delays("uniform:1s", 3, 0, 5, 7), (std::vector<std::int64_t>{758068738, 26493221, 2800906}));
}

TEST(ArrivalPattern, ErrorsSayWhatIsKnown) {
  const std::string unknown = error_of("uniformly:5ms");
  EXPECT_THAT(unknown, HasSubstr("'uniformly'"));
  for (const char* usage :
       {"none", "uniform:D", "late:RANK:D", "k-late:K:D", "trace:FILE", "half-late:D", "bell:D"}) {
    EXPECT_THAT(unknown, HasSubstr(usage));
  }
  EXPECT_THAT(error_of(""), AllOf(HasSubstr("known are"), Not(HasSubstr("\n"))));
  EXPECT_THAT(error_of("uniform"), HasSubstr("expected uniform:D"));
  EXPECT_THAT(error_of("none:5ms"), HasSubstr("expected none"));
  EXPECT_THAT(error_of("late:5ms"), HasSubstr("expected late:RANK:D"));
  EXPECT_THAT(error_of("k-late:x:5ms"), HasSubstr("expected k-late:K:D"));
  EXPECT_THAT(error_of("late:-1:5ms"), HasSubstr("expected late:RANK:D"));
  EXPECT_THAT(error_of("uniform:5"), HasSubstr("'5'"));
  EXPECT_THAT(error_of("trace:/no/such/file"), HasSubstr("cannot read '/no/such/file'"));
  EXPECT_THAT(error_of("trace:/"), HasSubstr("cannot read '/'"));
}

TEST(ArrivalPattern, RefusesRanksThatDoNotExist) {
  EXPECT_THROW((void)delays("late:3:5ms", 3), std::invalid_argument);
  const auto pattern = ArrivalPattern::parse("flat:5ms", 1);
  EXPECT_THROW((void)pattern.delay_ns(0, 3, 3, 0), std::invalid_argument);
  EXPECT_THROW((void)pattern.delay_ns(0, 0, 3, 3), std::invalid_argument);
  EXPECT_THROW((void)pattern.delay_ns(-1, 0, 3, 0), std::invalid_argument);
}

TEST(ArrivalTraceFile, IsReplayedAgainAndAgain) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("papfft_trace_" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) + "_" +
                     std::to_string(reinterpret_cast<std::uintptr_t>(&error_of)) + ".csv");
  std::ofstream(file) << "0,0,1\n0,1,2\n1,0,3\n1,1,4\n";
  const std::string spec = "trace:" + file.string();
  EXPECT_THAT(delays(spec, 2, 0, 0), ElementsAre(1, 2));
  EXPECT_THAT(delays(spec, 2, 0, 3), ElementsAre(3, 4));
  EXPECT_THROW((void)delays(spec, 3), std::invalid_argument);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace papfft::app
