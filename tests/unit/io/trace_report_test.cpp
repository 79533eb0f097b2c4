// SPDX-License-Identifier: MIT
// From the events of --timeline to pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/io/errors.hpp"
#include "app/report/input.hpp"
#include "app/report/trace_figures.hpp"

namespace papfft::app::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Json slice(int rank, int thread, const char* name, const char* category, double ts, double dur) {
  return {{"pid", rank},     {"tid", thread}, {"ph", "X"}, {"name", name},
          {"cat", category}, {"ts", ts},      {"dur", dur}};
}

Json document(Json events) {
  return {
      {"otherData",
       {{"papfft", "1"}, {"command", "transform x"}, {"machine", {{"host", "h"}}}, {"dropped_events", 0}}},
      {"traceEvents", std::move(events)}};
}

Trace trace_of(const Json& events) { return std::get<Trace>(parse_input("t.json", document(events).dump())); }

/// Seconds of one rank, of activities that have any.
std::map<Activity, double> times(const Trace& trace, std::size_t rank) {
  std::map<Activity, double> some;
  for (std::size_t a = 0; a < kActivities; ++a) {
    if (const double s = trace.times_s().at(rank).at(a); s > 0) some[static_cast<Activity>(a)] = s;
  }
  return some;
}

TEST(Trace, EachMomentCountsOnceForWhatSaysMost) {
  const Trace trace =
      trace_of({slice(0, 0, "read", "phase", 0, 1e6), slice(0, 0, "compute", "compute", 1e6, 4e6),
                slice(0, 1000, "gather ls", "call", 5e6, 3e6),
                slice(0, 1000, "Late Sender", "wait", 5e6, 2e6), slice(0, 0, "gather", "phase", 5e6, 3e6),
                slice(0, 2000, "gather sls, before its caller", "background", 2e6, 3e6),
                slice(0, 3000, "gather sls", "started", 0, 9e6), slice(1, 0, "wait", "phase", 2e6, 1e6),
                slice(1, 0, "MPI_Gather", "phase", 4e6, 1e6)});
  EXPECT_THAT(trace.ranks, ElementsAre("rank 0", "rank 1"));
  EXPECT_DOUBLE_EQ(trace.end_s, 9);
  const std::map<Activity, double> expected = {{Activity::other_work, 1},
                                               {Activity::computing, 4},
                                               {Activity::in_call, 1},
                                               {Activity::late_sender, 2}};
  for (const auto& [activity, seconds] : expected) EXPECT_NEAR(times(trace, 0)[activity], seconds, 1e-9);
  EXPECT_EQ(times(trace, 0).size(), expected.size());
  EXPECT_THAT(times(trace, 1),
              ElementsAre(std::pair(Activity::waiting, 1.0), std::pair(Activity::in_call, 1.0)));
  // What is nothing but a call is the call; the file's other phases stay.
  for (const TraceSlice& s : trace.slices) EXPECT_NE(s.name, "gather");
}

TEST(Trace, MessagesAreTheArrows) {
  const auto flow = [](const char* phase, int rank, int id, double ts) {
    return Json{{"ph", phase},      {"pid", rank}, {"tid", 4000}, {"name", "message"},
                {"cat", "message"}, {"id", id},    {"ts", ts}};
  };
  const Trace trace = trace_of({slice(0, 0, "compute", "compute", 0, 9), flow("s", 0, 1, 2),
                                flow("s", 1, 2, 3), flow("f", 0, 2, 5), flow("f", 1, 1, 8)});
  ASSERT_EQ(trace.messages.size(), 2U);
  EXPECT_EQ(trace.messages[0].from, 1U);
  EXPECT_EQ(trace.messages[0].to, 0U);
  EXPECT_DOUBLE_EQ(trace.messages[1].begin_s, 2e-6);
  EXPECT_DOUBLE_EQ(trace.messages[1].end_s, 8e-6);
}

TEST(Trace, SaysWhatIsWrong) {
  const auto error = [](const Json& input) -> std::string {
    try {
      (void)parse_input("t.json", input.dump());
    } catch (const io::DataError& e) {
      return e.what();
    }
    return "no error";
  };
  const Json good = slice(0, 0, "compute", "compute", 0, 5);
  EXPECT_EQ(error(document(Json::array({good}))), "no error");
  EXPECT_THAT(error({{"traceEvents", Json::array({good})}}), HasSubstr("another program"));
  EXPECT_THAT(error(document(Json::array())), HasSubstr("nothing"));
  EXPECT_THAT(error(document(Json::object({{"a", good}}))), HasSubstr("no list"));
  EXPECT_THAT(error(document(Json::array({good, 7}))), HasSubstr("event 2 is no object"));
  EXPECT_THAT(error(document(Json::array({good, Json::array({good})}))), HasSubstr("event 2 is no object"));
  for (const auto& [name, value] : std::vector<std::pair<const char*, Json>>{{"ts", -1},
                                                                             {"ts", "5"},
                                                                             {"ts", 1e300},
                                                                             {"dur", -1},
                                                                             {"pid", -1},
                                                                             {"pid", 1e9},
                                                                             {"name", 5},
                                                                             {"ph", "B"},
                                                                             {"ph", Json()},
                                                                             {"cat", 1},
                                                                             {"tid", -5}}) {
    Json bad = good;
    bad[name] = value;
    EXPECT_THAT(error(document(Json::array({good, bad}))), HasSubstr("t.json: event 2 "))
        << name << value.dump();
  }
  const Json end = {{"ph", "f"}, {"pid", 0}, {"name", "message"}, {"id", 4}, {"ts", 5}};
  EXPECT_THAT(error(document(Json::array({good, end}))), HasSubstr("nobody has sent"));
}

TEST(Trace, ALongJobGetsAPictureOfItsFirstCallsToo) {
  Json events;
  for (int i = 0; i < 50; ++i) {
    events.push_back(slice(0, 0, "compute", "compute", 100 * i, 50));
    events.push_back(slice(0, 1000, "gather ls", "call", 100 * i + 60, 30));
  }
  const std::vector<Figure> figures = make_figures(trace_of(events), "01");
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_THAT(figures[0].note, HasSubstr("All 50 calls"));
  EXPECT_THAT(figures[1].note, HasSubstr("The first 8 of 50 calls: "));
  const auto& first = std::get<Gantt>(figures[1].plot);
  EXPECT_LT(first.x.range->hi, 1e-3);
  std::vector<std::string> captions;
  for (const Gantt::Bar& bar : first.bars) captions.push_back(bar.caption);
  EXPECT_EQ(std::ranges::count(captions, "gather ls"), 8);
  Json short_job;
  for (std::size_t i = 0; i < 6; ++i) short_job.push_back(events[i]);
  EXPECT_EQ(make_figures(trace_of(short_job), "01").size(), 2U);
}

TEST(Trace, RanksOfAHostStandTogetherInABox) {
  Json events;
  for (int rank = 0; rank < 4; ++rank) {
    const char* host = rank % 2 == 0 ? "a" : "b";
    events.push_back(
        {{"pid", rank}, {"ph", "M"}, {"name", "process_name"}, {"args", {{"name", "r"}, {"host", host}}}});
    events.push_back(slice(rank, 0, "compute", "compute", 10 * rank, 5));
  }
  const auto plot = std::get<Gantt>(make_figures(trace_of(events), "01").at(0).plot);
  EXPECT_THAT(plot.rows, ElementsAre("0", "2", "1", "3"));
  ASSERT_EQ(plot.bands.size(), 2U);
  EXPECT_EQ(plot.bands[1].name, "b");
  EXPECT_EQ(plot.bands[1].first_row, 2U);
  EXPECT_EQ(plot.bands[1].last_row, 3U);
  for (const Gantt::Bar& bar : plot.bars) {
    const std::array<std::size_t, 4> rank_of_row = {0, 2, 1, 3};
    EXPECT_NEAR(bar.span.lo, 1e-5 * static_cast<double>(rank_of_row.at(bar.row)), 1e-9);
  }
  events[0]["args"].erase("host");  // as in a file of an older program
  EXPECT_THAT(std::get<Gantt>(make_figures(trace_of(events), "01").at(0).plot).bands, IsEmpty());
}

TEST(Trace, WhatCannotBeSeenIsNotDrawn) {
  Json events;
  for (int i = 0; i < 100000; ++i) events.push_back(slice(0, 0, "compute", "compute", 10 * i, 9));
  const Trace trace = trace_of(events);
  for (const Figure& figure : make_figures(trace, "01")) {
    if (figure.title.starts_with("What")) continue;
    EXPECT_LT(std::get<Gantt>(figure.plot).bars.size(), 10000U) << figure.title;
  }
}

TEST(Trace, HostileTextsAreClean) {
  const Trace trace = trace_of(Json::array({slice(0, 0, "a\x1b[31m\nb", "phase", 0, 5)}));
  EXPECT_THAT(trace.slices.at(0).name, Not(HasSubstr("\x1b")));
  EXPECT_THAT(trace.slices.at(0).name, Not(HasSubstr("\n")));
  EXPECT_THAT(conditions_of(trace), HasSubstr("Command: transform x"));
  EXPECT_EQ(title_of(trace), "timeline of transform");
  EXPECT_THAT(trace.messages, IsEmpty());
}

}  // namespace
}  // namespace papfft::app::report
