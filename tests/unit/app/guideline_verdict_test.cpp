// SPDX-License-Identifier: MIT
// Samples in, verdicts out.
#include "app/bench/guideline_verdict.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace papfft::app {
namespace {

using Sample = std::vector<double>;

/// 20 values without ties, whose median is `median` and which reach `reach` to each side of it.
Sample around(double median, double reach) {
  Sample values;
  for (int i = 0; i < 20; ++i) values.push_back(median + reach * (i - 9.5) / 9.5);
  return values;
}

Verdict judge_one(const Sample& automatic, const Sample& peer, double tolerance = 0.03) {
  return judge(automatic, std::vector<Sample>{peer}, tolerance);
}

TEST(GuidelineVerdict, SlowerAndSurelySoIsAViolation) {
  const Verdict verdict = judge_one(around(110, 2), around(100, 2));
  EXPECT_EQ(verdict.finding, Finding::violated);
  EXPECT_NEAR(verdict.ratio, 1.1, 1e-12);
  EXPECT_NEAR(verdict.p, 1 / 137846528820.0, 1e-16);  // one of 40! / (20! 20!) orders
}

TEST(GuidelineVerdict, WithinTheToleranceIsKeptHoweverSure) {
  EXPECT_EQ(judge_one(around(102, 0.5), around(100, 0.5)).finding, Finding::kept);
  EXPECT_EQ(judge_one(around(102, 0.5), around(100, 0.5), 0.01).finding, Finding::violated);
  EXPECT_EQ(judge_one(around(50, 1), around(100, 1)).finding, Finding::kept);
}

TEST(GuidelineVerdict, SlowerByChanceIsUnproven) {
  const Verdict verdict = judge_one(around(104, 60), around(100.5, 60));
  EXPECT_EQ(verdict.finding, Finding::unproven);
  EXPECT_GT(verdict.p, kSignificance);
  EXPECT_GT(verdict.ratio, 1.03);
}

TEST(GuidelineVerdict, AFewDelayedCallsDecideNothing) {
  Sample automatic = around(100, 2);
  automatic[17] = automatic[18] = automatic[19] = 10000;
  EXPECT_EQ(judge_one(automatic, around(100, 2)).finding, Finding::kept);
}

TEST(GuidelineVerdict, OfSeveralPeersTheWorstCounts) {
  const std::vector<Sample> peers = {around(120, 2), around(90, 2), around(100, 2)};
  const Verdict verdict = judge(around(110, 2), peers, 0.03);
  EXPECT_EQ(verdict.peer, 1U);
  EXPECT_NEAR(verdict.ratio, 110.0 / 90, 1e-12);
  EXPECT_NEAR(verdict.p, 3 / 137846528820.0, 1e-16);
}

TEST(GuidelineVerdict, AViolationCountsBeforeALargerRatioThatMayBeChance) {
  const std::vector<Sample> peers = {Sample{60, 61, 80, 200, 201}, Sample{90, 91, 92, 93, 94}};
  const Verdict verdict = judge(Sample{99, 100, 101, 102, 103}, std::vector<Sample>{peers[0]}, 0.03);
  EXPECT_EQ(verdict.finding, Finding::unproven);
  EXPECT_EQ(judge(Sample{99, 100, 101, 102, 103}, peers, 0.03).peer, 1U);
}

TEST(GuidelineVerdict, ManyPeersNeedMoreEvidence) {
  const Sample automatic = {99, 100, 101, 102, 103};
  const Sample peer = {90, 91, 92, 93, 94};
  EXPECT_EQ(judge_one(automatic, peer).finding, Finding::violated);  // p = 1 / 252
  const Verdict verdict = judge(automatic, std::vector<Sample>(3, peer), 0.03);
  EXPECT_EQ(verdict.finding, Finding::unproven);
  EXPECT_NEAR(verdict.p, 3.0 / 252, 1e-15);
  EXPECT_DOUBLE_EQ(judge(peer, std::vector<Sample>(9, peer), 0.03).p, 1);
}

TEST(GuidelineVerdict, FewestCallsCanShowADifferenceAndOneLessCannot) {
  const Sample slow = {5, 6, 7, 8, 9};
  const Sample fast = {0.5, 1, 2, 3, 4};
  ASSERT_EQ(slow.size(), static_cast<std::size_t>(kFewestCalls));
  EXPECT_EQ(judge_one(slow, fast).finding, Finding::violated);
  EXPECT_EQ(judge_one({5, 6, 7, 8}, {0.5, 1, 2, 3}).finding, Finding::unproven);
}

TEST(GuidelineVerdict, OnlyViolationsBeyondTheLimitCount) {
  const std::vector<Verdict> verdicts = {{.ratio = 1.05, .p = 0.001, .finding = Finding::violated},
                                         {.ratio = 2, .p = 0.2, .finding = Finding::unproven}};
  EXPECT_TRUE(is_violated_beyond(verdicts, 0.04));
  EXPECT_FALSE(is_violated_beyond(verdicts, 0.06));
  EXPECT_FALSE(is_violated_beyond({}, 0));
}

TEST(GuidelineVerdict, NamesAreReadBack) {
  for (const std::string_view name : kGuidelineNames) EXPECT_EQ(to_string(parse_guideline(name)), name);
  EXPECT_THROW((void)parse_guideline("fastest"), std::invalid_argument);
  EXPECT_THROW((void)judge(Sample{1}, std::vector<Sample>{}, 0), std::invalid_argument);
  EXPECT_THROW((void)judge(Sample{1}, std::vector<Sample>{{}}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::app
