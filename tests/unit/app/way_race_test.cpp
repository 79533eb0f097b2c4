// SPDX-License-Identifier: MIT
#include "app/bench/way_race.hpp"

#include <gtest/gtest.h>

#include <map>

namespace papfft::app {
namespace {

/// Ways whose calls take what they are said to take, one after another, the last again and again.
class Track {
 public:
  std::map<std::string, std::vector<double>> times_s;
  std::map<std::string, std::size_t> calls;

  WayRace race(double budget_s = 1000) {
    return {[this](const std::string& way) -> std::optional<double> {
              const std::vector<double>& times = times_s.at(way);
              const std::size_t call = calls[way]++;
              if (times.empty()) return std::nullopt;
              return times[std::min(call, times.size() - 1)];
            },
            budget_s};
  }
};

TEST(WayRace, GivesMoreCallsToTheFast) {
  Track track;
  track.times_s = {{"a", {3}}, {"b", {1}}, {"c", {10}}, {"kept", {50}}, {"broken", {}}};
  WayRace race = track.race();
  for (const char* way : {"a", "b", "c", "broken"}) race.add(way);
  race.add("kept", true);
  race.add("a");  // again
  EXPECT_EQ(race.round(1, 4), std::vector<std::string>{"c"});
  EXPECT_EQ(race.round(2, 2), std::vector<std::string>{"a"});
  EXPECT_EQ(race.round(3, 1), std::vector<std::string>());
  EXPECT_EQ(track.calls,
            (std::map<std::string, std::size_t>{{"a", 3}, {"b", 6}, {"c", 1}, {"kept", 6}, {"broken", 1}}));
  const auto ways = race.ways();
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_EQ(ways[0], (comm::DecisionTable::Way{"b", 1e6}));
  EXPECT_EQ(ways[1], (comm::DecisionTable::Way{"kept", 50e6}));
}

TEST(WayRace, JudgesByTheMedian) {
  Track track;
  track.times_s = {{"steady", {2}}, {"lucky", {1, 3, 3, 1, 3}}};
  WayRace race = track.race();
  race.add("lucky");
  race.add("steady");
  race.round(5, 10);
  EXPECT_EQ(race.ways().front().name, "steady");
  EXPECT_EQ(race.ways().back().us, 3e6);
}

TEST(WayRace, TheMedianOfAnEvenNumberOfCallsIsBetweenTheTwoInTheMiddle) {
  Track track;
  track.times_s = {{"a", {1, 9, 4, 2, 1, 9}}};
  WayRace race = track.race();
  race.add("a");
  race.round(6, 10);
  EXPECT_EQ(race.ways().front().us, 3e6);
}

TEST(WayRace, WhatIsNotSurelyFasterHasTheUsualTime) {
  Track track;
  track.times_s = {{"usual", {5, 4, 6, 5, 7, 5}},
                   {"lucky", {4, 6, 3, 5, 7, 4}},
                   {"faster", {3, 2, 3, 2, 3, 2}},
                   {"slower", {8}}};
  WayRace race = track.race();
  for (const char* way : {"lucky", "slower", "faster", "usual"}) race.add(way);
  race.round(6, 10);
  const auto us_of = [&](const std::string& name, const std::string& usual) {
    const auto ways = race.ways(usual);
    return std::ranges::find(ways, name, &comm::DecisionTable::Way::name)->us;
  };
  EXPECT_EQ(us_of("lucky", "usual"), 5e6);
  EXPECT_EQ(us_of("faster", "usual"), 2.5e6);
  EXPECT_EQ(us_of("slower", "usual"), 8e6);
  EXPECT_EQ(us_of("lucky", ""), 4.5e6);
  EXPECT_EQ(us_of("lucky", "nobody"), 4.5e6);
}

TEST(WayRace, TheBestMeetTheUsualWayAgain) {
  const auto then = [](std::vector<double> race, std::initializer_list<double> later) {
    race.insert(race.end(), later);
    return race;
  };
  Track track;
  track.times_s = {{"usual", {5, 6, 5, 6, 5, 6}},
                   {"lucky", then({1, 1, 1, 1, 1, 1}, {5, 6, 5, 6, 5, 6})},
                   {"good", {3}},
                   {"fair", then({3.5, 3.5, 3.5, 3.5, 3.5, 3.5}, {4, 4, 4, 4, 4, 4})},
                   {"fourth", {4, 4, 4, 4, 4, 4}},
                   {"slow", {8}}};
  WayRace race = track.race();
  for (const char* way : {"slow", "fourth", "lucky", "fair", "good", "usual"}) race.add(way);
  race.round(6, 10);
  EXPECT_EQ(race.ways("usual").front().name, "lucky");
  race.confirm("usual", 6, 1000);
  const auto ways = race.ways("usual");
  EXPECT_EQ(ways[0], (comm::DecisionTable::Way{"good", 3e6}));
  EXPECT_EQ(ways[1], (comm::DecisionTable::Way{"fair", 4e6}));
  EXPECT_EQ(ways[2].us, 6e6);  // the rest is as slow as the usual way, as far as anybody knows
  EXPECT_EQ(ways.back().name, "slow");
  EXPECT_EQ(track.calls["good"], 12U);
  EXPECT_EQ(track.calls["fourth"], 6U);
  race.confirm("nobody", 6, 1000);
  EXPECT_EQ(track.calls["good"], 12U);
}

TEST(WayRace, WithoutTimeNobodyMeetsAgain) {
  Track track;
  track.times_s = {{"usual", {5}}, {"fast", {1}}};
  WayRace race = track.race();
  for (const char* way : {"usual", "fast"}) race.add(way, true);
  race.round(6, 10);
  race.confirm("usual", 6, 0);
  EXPECT_EQ(track.calls["fast"], 6U);
  race.confirm("usual", 6, 20);  // fewer calls than can tell
  EXPECT_EQ(race.ways("usual").front().name, "fast");
  EXPECT_EQ(track.calls["usual"], 10U);
}

TEST(WayRace, OfFewCallsTheLeastCounts) {
  Track track;
  track.times_s = {{"usual", {5}}, {"faster", {40, 4}}};
  WayRace race = track.race();
  for (const char* way : {"usual", "faster"}) race.add(way);
  race.round(4, 10);
  EXPECT_EQ(race.ways("usual").front(), (comm::DecisionTable::Way{"faster", 4e6}));
}

TEST(WayRace, BeyondTheBudgetOnlyTheKeptGetTheirFirstCall) {
  Track track;
  track.times_s = {{"kept", {1}}, {"other", {1}}, {"late", {1}}, {"kept late", {1}}};
  WayRace race = track.race(3.5);
  race.add("kept", true);
  race.add("other");
  race.round(10, 5);
  EXPECT_EQ(track.calls["kept"] + track.calls["other"], 4U);
  race.add("late");
  race.add("kept late", true);
  race.round(10, 5);
  EXPECT_EQ(track.calls["late"], 0U);
  EXPECT_EQ(track.calls["kept late"], 1U);
}

}  // namespace
}  // namespace papfft::app
