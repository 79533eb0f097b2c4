// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/report/bench_run.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/messages_plot.hpp"
#include "app/report/plot.hpp"
#include "app/report/statistics.hpp"
#include "app/report/text_table.hpp"

namespace papfft::app::report {
namespace {

TEST(Statistics, OfAKnownSample) {
  const std::array<double, 5> values = {5, 1, 4, 2, 3};
  const Summary s = summarize(values);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.mean, 3);
  EXPECT_DOUBLE_EQ(s.stddev, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(s.p10, 1.4);
  EXPECT_DOUBLE_EQ(s.p90, 4.6);  // between the 4th and 5th, at index 0.9 * 4 = 3.6
  EXPECT_DOUBLE_EQ(s.p99, 4.96);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.max, 5);
}

TEST(Statistics, OfOneValueAndOfAnEvenNumber) {
  const std::array<double, 1> one = {7};
  EXPECT_DOUBLE_EQ(summarize(one).stddev, 0);
  EXPECT_DOUBLE_EQ(summarize(one).p99, 7);
  const std::array<double, 4> four = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(median(four), 2.5);
  EXPECT_DOUBLE_EQ(percentile(four, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(four, 1), 4);
}

TEST(Statistics, IntervalOfTheMedianHoldsWhateverTheOutliers) {
  // 30 values: fewer than 10 of them are below the median with a probability of 2.1 %, fewer than 11 with 4.9 %.
  std::vector<double> values;
  for (int i = 1; i <= 30; ++i) values.push_back(i);
  EXPECT_DOUBLE_EQ(summarize(values).median_low, 10);
  EXPECT_DOUBLE_EQ(summarize(values).median_high, 21);
  EXPECT_EQ(summarize(values).outliers, 0);
  values[28] = values[29] = 1e6;
  EXPECT_DOUBLE_EQ(summarize(values).median, 15.5);
  EXPECT_DOUBLE_EQ(summarize(values).median_high, 21);
  EXPECT_EQ(summarize(values).outliers, 2);
  const std::array<double, 6> six = {6, 5, 4, 3, 2, 1};  // both ends beyond it: 2 / 64
  EXPECT_DOUBLE_EQ(summarize(six).median_low, 1);
  EXPECT_DOUBLE_EQ(summarize(six).median_high, 6);
  const std::array<double, 9> nine = {9, 8, 7, 6, 5, 4, 3, 2, 1};  // at most 1 of 9: 2 %
  EXPECT_DOUBLE_EQ(summarize(nine).median_low, 2);
  EXPECT_DOUBLE_EQ(summarize(nine).median_high, 8);
}

TEST(Statistics, OutlierIsBeyondThreeStandardDeviations) {
  // The median distance to 4 is 2, and that of a normal distribution is its standard deviation / 1.4826: the limit is 8.9.
  std::array<double, 7> values = {1, 2, 3, 4, 5, 6, 12};
  EXPECT_EQ(summarize(values).outliers, 0);
  values.back() = 13;
  EXPECT_EQ(summarize(values).outliers, 1);
}

TEST(Link, IsSteadyWithinATenth) {
  EXPECT_TRUE(is_steady_link(8, 8.7));
  EXPECT_TRUE(is_steady_link(8.7, 8));
  EXPECT_FALSE(is_steady_link(8, 8.9));
  EXPECT_FALSE(is_steady_link(8, 4));
}

TEST(Gantt, DrawsBarsAndMarksOfItsRows) {
  Gantt chart{.rows = {"0", "1"},
              .kinds = {{"computes", palette_color(0)}, {"waits", palette_color(1)}},
              .mark_name = "predicted"};
  chart.bars = {{0, {0, 1}, 0}, {0, {1, 4}, 1}, {1, {0, 2}, 0}, {1, {2, 4}, 1}, {1, {3, std::nan("")}, 1}};
  chart.marks = {{0, 1.5}, {1, std::nan("")}};
  const auto count = [](const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++n;
    return n;
  };
  const std::string whole = draw(chart, {.title = "t"}, Format::svg).bytes;
  EXPECT_NE(whole.find("predicted"), std::string::npos);
  Gantt without = chart;
  without.bars.clear();
  without.marks.clear();
  const std::string bare = draw(without, {.title = "t"}, Format::svg).bytes;
  EXPECT_EQ(count(whole, "<rect") - count(bare, "<rect"), 4U);  // the bar to nowhere is left out
  EXPECT_FALSE(draw(Gantt{}, {}, Format::png).bytes.empty());
  chart.bars.push_back({2, {0, 1}, 0});
  EXPECT_THROW((void)draw(chart, {}, Format::svg), std::invalid_argument);
  chart.bars.back() = {0, {0, 1}, 2};
  EXPECT_THROW((void)draw(chart, {}, Format::svg), std::invalid_argument);
  chart.bars.pop_back();
  chart.links = {{0, 1, 2, 3, 0}};
  chart.link_kinds = {{"message", kText}};
  EXPECT_THROW((void)draw(chart, {}, Format::svg), std::invalid_argument);
  chart.links = {{0, 1, 1, 3, 1}};
  EXPECT_THROW((void)draw(chart, {}, Format::svg), std::invalid_argument);
}

TEST(Gantt, WritesWhatFitsIntoBarsAndJoinsRowsByLines) {
  Gantt chart{
      .rows = {"0", "1"}, .kinds = {{"calls", palette_color(0)}}, .link_kinds = {{"message", kMuted}}};
  chart.bars = {{0, {0, 10}, 0, {0, 1}, "gather"},
                {1, {0, 0.01}, 0, {0, 1}, "scatter"},
                {1, {1, 9}, 0, {0.99, 1}, "flat"}};
  chart.links = {{0, 1, 1, 5, 0}, {0, std::nan(""), 1, 5, 0}};
  const std::string svg = draw(chart, {.title = "t"}, Format::svg).bytes;
  EXPECT_NE(svg.find(">gather</text>"), std::string::npos);
  EXPECT_EQ(svg.find(">scatter</text>"), std::string::npos);
  EXPECT_EQ(svg.find(">flat</text>"), std::string::npos);
  EXPECT_NE(svg.find(">message</text>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Gantt, DrawsBoxesWithNamesAroundRowsThatBelongTogether) {
  Gantt chart{.rows = {"0", "1", "2", "3"}, .bands = {{0, 1, "host 7"}, {2, 3, "host 9"}}};
  const std::string svg = draw(chart, {.title = "t"}, Format::svg).bytes;
  EXPECT_NE(svg.find(">host 7</text>"), std::string::npos);
  EXPECT_NE(svg.find(">host 9</text>"), std::string::npos);
  // 400 boxes have no room for 400 names.
  Gantt many;
  for (std::size_t r = 0; r < 400; ++r) {
    many.rows.push_back(std::to_string(r));
    many.bands.push_back({r, r, "host " + std::to_string(r) + "."});
  }
  const std::string crowded = draw(many, {.title = "t"}, Format::svg).bytes;
  int names = 0;
  for (std::size_t at = 0; (at = crowded.find(">host ", at)) != std::string::npos; ++at) ++names;
  EXPECT_GT(names, 10);
  EXPECT_LT(names, 100);
  chart.bands = {{2, 4, "beyond"}};
  EXPECT_THROW((void)draw(chart, {}, Format::svg), std::invalid_argument);
  chart.bands = {{2, 1, "the wrong way around"}};
  EXPECT_THROW((void)draw(chart, {}, Format::svg), std::invalid_argument);
}

TEST(MessagesPlot, PutsTheRanksOfAHostIntoABox) {
  Messages call{.messages = {{.from = 1, .to = 2, .end_s = 3, .combined_s = 3}},
                .arrival_s = {0, 0, 0, 0},
                .exit_s = {0, 3, 3, 0},
                .host = {5, 8, 5, 8}};
  const Gantt chart = messages_plot(call, {});
  EXPECT_EQ(chart.rows, (std::vector<std::string>{"0", "2", "1", "3"}));
  ASSERT_EQ(chart.bands.size(), 2U);
  EXPECT_EQ(chart.bands[0].name, "host 5");
  EXPECT_EQ(chart.bands[1].first_row, 2U);
  EXPECT_EQ(chart.bands[1].last_row, 3U);
  ASSERT_EQ(chart.links.size(), 1U);
  EXPECT_EQ(chart.links[0].from_row, 2U);
  EXPECT_EQ(chart.links[0].to_row, 1U);
  EXPECT_EQ(chart.kinds.size(), 1U) << "nobody computes, nothing is combined";
  call.messages[0].combined_s = 4;
  EXPECT_EQ(messages_plot(call, {}).kinds.back().name, "combines");
  call.host = {1, 2, 3, 4};
  EXPECT_TRUE(messages_plot(call, {}).bands.empty()) << "a box around each row tells nothing";
  call.host.clear();
  EXPECT_EQ(messages_plot(call, {}).rows[1], "1");
}

TEST(Statistics, RefusesWhatHasNone) {
  const std::vector<double> none;
  const std::array<double, 2> two = {1, 2};
  EXPECT_THROW((void)summarize(none), std::invalid_argument);
  EXPECT_THROW((void)percentile(two, 1.5), std::invalid_argument);
  EXPECT_THROW((void)percentile(two, std::nan("")), std::invalid_argument);
}

TEST(ByteCount, ReadsPowersOfTwo) {
  EXPECT_EQ(parse_byte_count("0"), 0U);
  EXPECT_EQ(parse_byte_count("1000"), 1000U);
  EXPECT_EQ(parse_byte_count("64K"), 65536U);
  EXPECT_EQ(parse_byte_count("8M"), 8388608U);
  EXPECT_EQ(parse_byte_count("2G"), 2147483648U);
}

TEST(ByteCount, RefusesTheRest) {
  for (const char* text :
       {"", "K", "-1", "1.5M", "8MB", "8 M", "8m", "99999999999G", "99999999999999999999"}) {
    EXPECT_THROW((void)parse_byte_count(text), std::invalid_argument) << text;
  }
}

TEST(ByteCount, WritesWhatItReads) {
  EXPECT_EQ(byte_count_text(8388608), "8M");
  EXPECT_EQ(byte_count_text(1536), "1536");
  EXPECT_EQ(byte_count_text(3U << 20U), "3M");
  for (const std::uint64_t bytes : {0ULL, 1ULL, 1023ULL, 1024ULL, 1048575ULL, 1ULL << 40U}) {
    EXPECT_EQ(parse_byte_count(byte_count_text(bytes)), bytes);
  }
}

TEST(TextTable, AlignsNumbersRightAndWordsLeft) {
  TextTable table({"algorithm", "ms"});
  table.add({"mpi", "10.5"});
  table.add({"a-long-name", "-"});
  EXPECT_EQ(table.text(),
            "algorithm      ms\n"
            "mpi          10.5\n"
            "a-long-name     -\n");
}

TEST(TextTable, CsvQuotesWhatNeedsIt) {
  TextTable table({"a", "b"});
  table.add({"1,5", "say \"so\""});
  table.add({"plain", ""});
  EXPECT_EQ(table.csv(), "a,b\n\"1,5\",\"say \"\"so\"\"\"\nplain,\n");
}

TEST(TextTable, RefusesARowOfAnotherWidth) {
  TextTable table({"a", "b"});
  EXPECT_THROW(table.add({"1"}), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::app::report
