// SPDX-License-Identifier: MIT
#include "app/bench/predictor_replay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

#include "comm/arrival/decision_board.hpp"
#include "comm/arrival/estimators.hpp"
#include "comm/arrival/prediction_judge.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::app {

namespace {

using Times = std::vector<std::int64_t>;

constexpr std::size_t kRanks = 8;
constexpr int kCalls = 120;
constexpr std::size_t kWarmUpCalls = 10;  // at a position
constexpr std::int64_t kPicoseconds = 1000;

Times plus(const Times& a, const Times& b) {
  Times sum(a.size());
  std::ranges::transform(a, b, sum.begin(), std::plus<>());
  return sum;
}

/// Random numbers that are the same with every library.
class Random {
 public:
  /// In [0, 1).
  double next() { return static_cast<double>(engine_()) / 4294967296.0; }

 private:
  std::mt19937 engine_{20261123};
};

/// A phase's length in ms, without noise.
double length_ms(std::string_view kind, int call, std::size_t rank, Random& random) {
  const auto r = static_cast<double>(rank);
  if (kind == "trend") return 30 + 4 * r + (r - 3.5) * 0.07 * call;
  if (kind == "bimodal") return random.next() < 0.5 ? 15 : 45;
  if (kind == "two-phase") return 20 + 5 * (call / 40 % 2 == 0 ? r : 7 - r);
  if (kind == "alternating") return call % 2 == 0 ? 10 + r : 60 - 4 * r;
  if (kind == "uniform") return 10 + 50 * random.next();
  throw std::invalid_argument("no synthetic phases '" + std::string(kind) + "'; there are " +
                              std::string(kSyntheticNames));
}

struct Position {
  std::vector<comm::DurationEstimator> ranks;
  comm::PredictionJudge judge;
  std::size_t calls = 0;
};

ReplayedCall predict(const Position& position, const PhaseTrace::Call& call) {
  ReplayedCall result{.arrival_ns = call.arrival_ns(),
                      .by = std::vector<Times>(comm::kEstimatorCount),
                      .error = position.judge.error()};
  for (std::size_t r = 0; r < position.ranks.size(); ++r) {
    const comm::DurationEstimator& rank = position.ranks[r];
    for (std::size_t e = 0; e < comm::kEstimatorCount; ++e) {
      if (const auto ns = rank.predict(static_cast<comm::Estimator>(e))) {
        result.by[e].push_back(call.start_ns[r] + *ns);
      }
    }
    if (const auto chosen = rank.predict()) {
      result.chosen_ns.push_back(call.start_ns[r] + chosen->duration_ns);
    }
  }
  std::erase_if(result.by, [](const Times& times) { return times.empty(); });
  return result;
}

ReplayError summary(std::string name, std::vector<double> errors_ns) {
  ReplayError error{.name = std::move(name)};
  if (errors_ns.empty()) return error;
  for (const double e : errors_ns) error.mean_ns += e / static_cast<double>(errors_ns.size());
  const auto middle = errors_ns.begin() + static_cast<std::ptrdiff_t>((errors_ns.size() - 1) / 2);
  std::ranges::nth_element(errors_ns, middle);
  error.median_ns = *middle;
  return error;
}

/// Simulates calls of one operation as a session would carry them out.
class CallSimulation {
 public:
  CallSimulation(comm::Operation operation, std::size_t bytes, int ranks)
      : ranks_(ranks),
        bytes_(comm::moves_per_rank(operation) ? bytes / static_cast<std::size_t>(ranks) : bytes),
        early_(comm::is_rooted(operation) && !comm::is_reduction(operation) ? comm::Early::nothing
                                                                            : comm::Early::background),
        algorithm_(comm::select_algorithm(operation, ranks, bytes_, false)),
        segments_(segments_of(algorithm_)) {}

  [[nodiscard]] std::int64_t round_ns() const {
    return std::llround(
        comm::message_ns(options_.link, algorithm_.operation, static_cast<double>(bytes_) / segments_));
  }
  [[nodiscard]] bool is_worth_planning(const comm::PredictionError& error) const {
    return comm::is_worth_planning(algorithm_.operation, error, round_ns());
  }
  /// @param planned_by  empty: oblivious
  [[nodiscard]] double run_ns(const Times& planned_by, const Times& arrival_ns) const {
    const comm::Algorithm& algorithm = planned_by.empty() ? comm::without_arrivals(algorithm_) : algorithm_;
    comm::Schedule schedule = comm::make_schedule(algorithm, {.operation = algorithm.operation,
                                                              .ranks = ranks_,
                                                              .segments = segments_of(algorithm),
                                                              .arrival_ns = planned_by,
                                                              .round_ns = round_ns()});
    if (comm::is_reduction(algorithm.operation)) schedule = comm::combine_own_last(schedule);
    const auto ps = [](double ns) { return static_cast<comm::Ticks>(std::llround(ns * kPicoseconds)); };
    const comm::Machine machine{.alpha = ps(options_.link.alpha_ns),
                                .beta = ps(options_.link.beta_ns_per_byte),
                                .gamma = ps(options_.link.gamma_ns_per_byte)};
    const Times slot_bytes =
        comm::slot_sizes(schedule.shape, Times{static_cast<std::int64_t>(bytes_) / schedule.shape.segments});
    const std::int64_t first_ns = *std::ranges::min_element(arrival_ns);
    Times arrivals;
    for (const std::int64_t ns : arrival_ns) arrivals.push_back((ns - first_ns) * kPicoseconds);
    const comm::Simulation run =
        comm::simulate(schedule, slot_bytes, arrivals, machine,
                       {.window = comm::select_window(schedule.shape, bytes_, options_), .early = early_});
    return static_cast<double>(run.run_time) / static_cast<double>(kPicoseconds);
  }

 private:
  [[nodiscard]] int segments_of(const comm::Algorithm& algorithm) const {
    return comm::select_segments(algorithm, ranks_, bytes_, options_);
  }

  comm::Options options_;
  int ranks_;
  std::size_t bytes_;  // of a block or of the vector
  comm::Early early_;
  const comm::Algorithm& algorithm_;
  int segments_;
};

}  // namespace

Times PhaseTrace::Call::arrival_ns() const { return plus(start_ns, duration_ns); }

PhaseTrace recorded_phases(std::string name, const comm::ArrivalRecording& recording) {
  PhaseTrace trace{.name = std::move(name), .ranks = static_cast<std::size_t>(recording.ranks)};
  std::map<std::string, std::int32_t> positions;
  std::string before;
  for (const comm::RecordedCall& call : recording.calls) {
    const auto number = static_cast<std::int32_t>(
        std::min<std::size_t>(positions.size(), static_cast<std::size_t>(comm::kPositions) - 1));
    const std::int32_t position = positions.try_emplace(before, number).first->second;
    before = std::string(comm::to_string(call.operation)) + " " + call.algorithm + " " +
             std::to_string(call.root) + " " + std::to_string(call.bytes);
    const auto computed =
        std::ranges::count_if(call.ranks, [](const comm::RecordedArrival& a) { return a.compute_ns > 0; });
    if (2 * computed < std::ssize(call.ranks)) continue;
    PhaseTrace::Call& phases = trace.calls.emplace_back(PhaseTrace::Call{.position = position});
    for (const comm::RecordedArrival& a : call.ranks) {
      phases.start_ns.push_back(a.arrival_ns - a.compute_ns);
      phases.duration_ns.push_back(a.compute_ns);
    }
  }
  if (trace.calls.empty()) throw std::invalid_argument(trace.name + ": no rank computed before a call");
  return trace;
}

PhaseTrace synthetic_phases(std::string_view kind) {
  PhaseTrace trace{.name = std::string(kind), .ranks = kRanks};
  Random random;
  for (int i = 0; i < kCalls; ++i) {
    PhaseTrace::Call& call = trace.calls.emplace_back();
    call.start_ns.assign(kRanks, 0);
    for (std::size_t r = 0; r < kRanks; ++r) {
      const double ms = length_ms(kind, i, r, random) * (1 + 0.01 * (random.next() - 0.5));
      call.duration_ns.push_back(std::llround(ms * 1e6));
    }
  }
  return trace;
}

std::vector<std::string_view> candidate_names() {
  std::vector<std::string_view> names;
  for (std::size_t e = 0; e < comm::kEstimatorCount; ++e) {
    if (static_cast<comm::Estimator>(e) != comm::Estimator::edge)
      names.push_back(to_string(static_cast<comm::Estimator>(e)));
  }
  return names;
}

std::vector<ReplayedCall> replay_predictor(const PhaseTrace& trace) {
  std::map<std::int32_t, Position> positions;
  std::vector<ReplayedCall> result;
  for (const PhaseTrace::Call& call : trace.calls) {
    Position& position = positions[call.position];
    position.ranks.resize(trace.ranks);
    ReplayedCall replayed = predict(position, call);
    if (!replayed.chosen_ns.empty()) position.judge.compare(replayed.chosen_ns, replayed.arrival_ns);
    for (std::size_t r = 0; r < trace.ranks; ++r) position.ranks[r].finish(call.duration_ns[r]);
    if (++position.calls > kWarmUpCalls) result.push_back(std::move(replayed));
  }
  return result;
}

std::vector<ReplayError> replay_errors(const std::vector<ReplayedCall>& calls) {
  const std::vector<std::string_view> names = candidate_names();
  std::vector<std::vector<double>> by(names.size());
  std::vector<double> chosen;
  std::vector<double> together;
  std::vector<double> decided;
  for (const ReplayedCall& call : calls) {
    const auto error_of = [&](const Times& predicted) {
      return static_cast<double>(comm::group_error_ns(predicted, call.arrival_ns));
    };
    for (std::size_t c = 0; c < names.size(); ++c) by[c].push_back(error_of(call.by.at(c)));
    chosen.push_back(error_of(call.chosen_ns));
    together.push_back(error_of(Times(call.arrival_ns.size())));
    const bool is_worth = comm::is_worth_planning(comm::Operation::scatter, call.error, 0);
    decided.push_back(is_worth ? chosen.back() : together.back());
  }
  std::vector<ReplayError> errors;
  for (std::size_t c = 0; c < names.size(); ++c) errors.push_back(summary(std::string(names[c]), by[c]));
  errors.push_back(summary("chosen", chosen));
  errors.push_back(summary("together", together));
  errors.push_back(summary("decided", decided));
  return errors;
}

ReplayTimes replay_times(const std::vector<ReplayedCall>& calls, comm::Operation operation,
                         std::size_t bytes) {
  ReplayTimes mean{.calls = calls.size()};
  if (calls.empty()) return mean;
  const CallSimulation simulation(operation, bytes, static_cast<int>(calls.front().arrival_ns.size()));
  const auto n = static_cast<double>(calls.size());
  for (const ReplayedCall& call : calls) {
    const double oblivious_ns = simulation.run_ns({}, call.arrival_ns);
    const double chosen_ns = simulation.run_ns(call.chosen_ns, call.arrival_ns);
    const bool is_worth = simulation.is_worth_planning(call.error);
    mean.planned += is_worth ? 1 : 0;
    mean.oblivious_ns += oblivious_ns / n;
    mean.chosen_ns += chosen_ns / n;
    mean.decided_ns += (is_worth ? chosen_ns : oblivious_ns) / n;
    mean.true_ns += simulation.run_ns(call.arrival_ns, call.arrival_ns) / n;
  }
  return mean;
}

}  // namespace papfft::app
