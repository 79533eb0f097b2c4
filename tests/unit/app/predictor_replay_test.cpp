// SPDX-License-Identifier: MIT
// The predictor on jobs it has not seen: two that were recorded, and drifting ones that are made up.
#include "app/bench/predictor_replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>

#include "comm/arrival/prediction_judge.hpp"

namespace papfft::app {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;

PhaseTrace trace_of(const std::string& name) {
  if (name.find('.') == std::string::npos) return synthetic_phases(name);
  std::ifstream in(std::string(PAPFFT_REPOSITORY "/data/arrivals/") + name);
  EXPECT_TRUE(in) << name;
  return recorded_phases(name, comm::read_recording(in));
}

bool is_predictable(const std::string& name) {
  return name.starts_with("psd") || name == "trend" || name == "two-phase" || name == "alternating";
}

class PredictorReplay : public testing::TestWithParam<std::string> {
 protected:
  const std::vector<ReplayedCall> calls = replay_predictor(trace_of(GetParam()));

  [[nodiscard]] std::map<std::string, double> mean_errors() const {
    std::map<std::string, double> result;
    for (const ReplayError& error : replay_errors(calls)) result[error.name] = error.mean_ns;
    return result;
  }
};

/// Of traces that do not change: what follows a change has a test of its own.
class PredictorReplayOfOnePhase : public PredictorReplay {};

TEST_P(PredictorReplayOfOnePhase, TheChoiceIsAboutAsGoodAsTheBestEstimator) {
  const auto errors = mean_errors();
  double best = std::numeric_limits<double>::max();
  for (const std::string_view name : candidate_names()) best = std::min(best, errors.at(std::string(name)));
  // Where nothing can be predicted, no estimator is worth choosing.
  if (best < errors.at("together")) {
    EXPECT_LE(errors.at("chosen"), 1.1 * best);
  }
  EXPECT_LE(errors.at("decided"), 1.15 * std::min(best, errors.at("together")));
}

TEST_P(PredictorReplay, DecidedCallsAreNotSlowerThanObliviousOnes) {
  for (const comm::Operation operation :
       {comm::Operation::scatter, comm::Operation::reduce, comm::Operation::allgather}) {
    const ReplayTimes times = replay_times(calls, operation, kBytes);
    EXPECT_GT(times.calls, 10U);
    EXPECT_LE(times.decided_ns, 1.01 * times.oblivious_ns) << to_string(operation);
    EXPECT_LE(times.true_ns, 1.01 * times.decided_ns) << to_string(operation);
    if (is_predictable(GetParam())) {
      EXPECT_GE(10 * times.planned, 9 * times.calls) << to_string(operation);
    } else {
      EXPECT_LE(50 * times.planned, times.calls) << to_string(operation);
    }
  }
}

TEST(PredictorReplayAfterAChange, OnlyTwoCallsArePredictedWrongly) {
  // The loads change places twice. The first call after a change cannot be foreseen; the second shows that it was no disturbance.
  int wrong = 0;
  const auto calls = replay_predictor(synthetic_phases("two-phase"));
  for (const ReplayedCall& call : calls) {
    if (comm::group_error_ns(call.chosen_ns, call.arrival_ns) > 1'000'000) ++wrong;
  }
  EXPECT_EQ(wrong, 4);
}

TEST(PredictorReplayOfPositions, TheSamePhasesAtTwoPositionsAreToldApart) {
  PhaseTrace apart = synthetic_phases("alternating");
  for (std::size_t i = 0; i < apart.calls.size(); ++i) {
    apart.calls[i].position = static_cast<std::int32_t>(i % 2);
  }
  for (const ReplayedCall& call : replay_predictor(apart)) {
    EXPECT_LT(comm::group_error_ns(call.chosen_ns, call.arrival_ns), 500'000);
  }
}

TEST(PredictorReplayOfPositions, RefusesWhatIsNoTrace) {
  EXPECT_THROW((void)synthetic_phases("fog"), std::invalid_argument);
  EXPECT_THROW((void)recorded_phases("empty", {}), std::invalid_argument);
}

std::string name_of(const testing::TestParamInfo<std::string>& test) {
  std::string name = test.param.substr(0, test.param.find('.'));
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<std::string> one_phase() {
  return {"fft-8-hosts-uniform-50ms.csv",
          "psd-4-ranks-2-cores.csv",
          "trend",
          "bimodal",
          "alternating",
          "uniform"};
}

INSTANTIATE_TEST_SUITE_P(Traces, PredictorReplayOfOnePhase, testing::ValuesIn(one_phase()), name_of);
INSTANTIATE_TEST_SUITE_P(Traces, PredictorReplay, testing::ValuesIn(one_phase()), name_of);
INSTANTIATE_TEST_SUITE_P(ChangingTraces, PredictorReplay, testing::Values("two-phase"), name_of);
}  // namespace
}  // namespace papfft::app
