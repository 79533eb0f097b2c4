// SPDX-License-Identifier: MIT
#include "app/bench/replay_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string_view>

#include "app/bench/bench_common.hpp"
#include "app/bench/predictor_replay.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/version.hpp"
#include "app/io/errors.hpp"
#include "app/io/recording_file.hpp"
#include "app/report/text_table.hpp"
#include "comm/arrival/estimators.hpp"

namespace papfft::app {

namespace {

PhaseTrace read_trace(const std::string& spec) {
  constexpr std::string_view kSynthetic = "synthetic:";
  try {
    if (spec.starts_with(kSynthetic)) return synthetic_phases(spec.substr(kSynthetic.size()));
  } catch (const std::invalid_argument& e) {
    throw UsageError(std::string("--replay: ") + e.what());
  }
  std::ifstream in(spec);
  if (!in) {
    throw io::DataError(spec, "cannot be read; what would work: a file of papfft record, or synthetic:KIND");
  }
  try {
    return recorded_phases(spec.substr(spec.find_last_of('/') + 1), io::read_recording(in));
  } catch (const std::invalid_argument& e) {
    throw io::DataError(spec, e.what());
  }
}

/// What a rank computes for one call: a prediction, and learning from what came. The least of several rounds.
double arithmetic_ns(const PhaseTrace& trace) {
  using Clock = std::chrono::steady_clock;
  double least_ns = 1e300;
  std::int64_t sum = 0;
  for (int round = 0; round < 20; ++round) {
    comm::DurationEstimator estimator;
    const Clock::time_point start = Clock::now();
    for (const PhaseTrace::Call& call : trace.calls) {
      if (const auto predicted = estimator.predict()) sum += predicted->duration_ns;
      estimator.finish(call.duration_ns.front());
    }
    const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
    least_ns = std::min(least_ns, spent.count() / static_cast<double>(trace.calls.size()));
  }
  return sum < 0 ? 0 : least_ns;  // `sum` must not be optimised away
}

std::string ms(double ns) { return fmt::format("{:.3f}", ns * 1e-6); }

}  // namespace

void replay_traces(const std::vector<std::string>& traces, std::size_t bytes, const std::string& json,
                   bool quiet) {
  std::vector<std::string> headings = {"trace"};
  for (const std::string_view name : candidate_names()) headings.emplace_back(name);
  headings.insert(headings.end(), {"chosen", "together", "decided", "ns/call"});
  report::TextTable errors(headings);
  report::TextTable times({"trace", "call", "calls", "planned", "oblivious", "chosen", "decided", "true"});
  io::Json rows = io::Json::array();
  for (const std::string& spec : traces) {
    const PhaseTrace trace = read_trace(spec);
    const std::vector<ReplayedCall> calls = replay_predictor(trace);
    if (calls.empty())
      throw io::DataError(spec, "too few calls to predict from; what would work: 11 or more");
    const double cost_ns = arithmetic_ns(trace);
    io::Json row = {
        {"trace", spec}, {"ranks", trace.ranks}, {"calls", calls.size()}, {"arithmetic_ns", cost_ns}};
    std::vector<std::string> cells = {trace.name};
    for (const ReplayError& error : replay_errors(calls)) {
      cells.push_back(ms(error.mean_ns) + " " + ms(error.median_ns));
      row["error_ns"][error.name] = {{"mean", error.mean_ns}, {"median", error.median_ns}};
    }
    cells.push_back(fmt::format("{:.0f}", cost_ns));
    errors.add(cells);
    for (const comm::Operation operation : {comm::Operation::reduce, comm::Operation::scatter}) {
      const ReplayTimes t = replay_times(calls, operation, bytes);
      const std::string name(to_string(operation));
      times.add({trace.name, name, std::to_string(t.calls), std::to_string(t.planned), ms(t.oblivious_ns),
                 ms(t.chosen_ns), ms(t.decided_ns), ms(t.true_ns)});
      row["simulated"][name] = {{"planned", t.planned},
                                {"oblivious_ns", t.oblivious_ns},
                                {"chosen_ns", t.chosen_ns},
                                {"decided_ns", t.decided_ns},
                                {"true_arrivals_ns", t.true_ns}};
    }
    rows.push_back(row);
  }
  if (!quiet) {
    fmt::print("error of predicted arrivals in ms, mean and median over the calls:\n{}\n", errors.text());
    fmt::print("simulated run time in ms, {} bytes at 1 Gb/s, planned by:\n{}", bytes, times.text());
  }
  if (json.empty()) return;
  const io::Json document = {{"papfft", kVersion}, {"settings", {{"bytes", bytes}}}, {"replays", rows}};
  write_text(json, document.dump(2) + "\n");
}

}  // namespace papfft::app
