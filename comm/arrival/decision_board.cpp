// SPDX-License-Identifier: MIT
#include "comm/arrival/decision_board.hpp"

#include <algorithm>
#include <stdexcept>

namespace papfft::comm {

DecisionBoard::DecisionBoard(int ranks, Rank decider, std::int64_t lead_ns)
    : decider_(decider), lead_ns_(lead_ns) {
  if (ranks < 1 || decider < 0 || decider >= ranks) {
    throw std::invalid_argument("arrival decisions: the decider is none of the ranks");
  }
  places_.resize(static_cast<std::size_t>(ranks));
}

void DecisionBoard::report(Rank rank, const ArrivalReport& report) {
  if (decided_ && report.iteration <= *decided_) return;
  Place& place = places_.at(static_cast<std::size_t>(rank));
  place = {report, true};
  place.report.arrival_ns = within_reach(report.arrival_ns);
  PastArrival& past = place.report.past;
  past.arrived_ns = within_reach(past.arrived_ns);
  if (past.predicted_ns != PastArrival::kNone) past.predicted_ns = within_reach(past.predicted_ns);
}

std::optional<std::int64_t> DecisionBoard::complete() const {
  const std::int64_t iteration = places_.front().report.iteration;
  const bool all =
      std::ranges::all_of(places_, [&](const Place& p) { return p.used && p.report.iteration == iteration; });
  if (!all) return std::nullopt;
  return iteration;
}

std::optional<Decision> DecisionBoard::decide(std::int64_t now_ns) {
  std::optional<std::int64_t> forced;
  bool firm = true;
  for (std::size_t r = 0; r < places_.size(); ++r) {
    const Place& place = places_[r];
    if (!place.used) continue;
    const Basis basis = place.report.basis;
    firm = firm && basis != Basis::history;
    const bool forces =
        basis >= Basis::waiting || (basis == Basis::arrived && static_cast<Rank>(r) == decider_);
    if (forces) forced = std::min(forced.value_or(place.report.iteration), place.report.iteration);
  }
  const std::optional<std::int64_t> full = complete();
  if (!forced && !(full && (firm || now_ns >= *due_ns()))) return std::nullopt;
  Decision decision{.iteration = forced ? *forced : *full, .arrival_ns = {}};
  if (full) {
    for (const Place& place : places_) decision.arrival_ns.push_back(place.report.arrival_ns);
    decision.error = judge();
  }
  decided_ = decision.iteration;
  for (Place& place : places_) {
    const bool is_about_it = place.used && place.report.iteration == *decided_;
    if (is_about_it && place.report.basis == Basis::alone) decision.is_for_all = false;
    place.used = place.used && place.report.iteration > *decided_;
  }
  return decision;
}

/// How good the full table's arrivals are.
PredictionError DecisionBoard::judge() {
  const auto position = static_cast<std::size_t>(places_[static_cast<std::size_t>(decider_)].report.position);
  if (judges_.size() <= position) judges_.resize(position + 1);
  PredictionJudge& judge = judges_[position];
  std::vector<std::int64_t> predicted_ns;
  std::vector<std::int64_t> arrived_ns;
  bool is_prediction = false;
  for (const auto& [report, used] : places_) {
    is_prediction = is_prediction || report.basis == Basis::history || report.basis == Basis::edge;
    if (report.past.predicted_ns == PastArrival::kNone) continue;
    predicted_ns.push_back(report.past.predicted_ns);
    arrived_ns.push_back(report.past.arrived_ns);
  }
  if (predicted_ns.size() == places_.size()) judge.compare(predicted_ns, arrived_ns);
  return is_prediction ? judge.error() : kNoError;
}

std::optional<std::int64_t> DecisionBoard::due_ns() const {
  std::optional<std::int64_t> due;
  for (const Place& place : places_) {
    const std::int64_t place_ns = place.report.arrival_ns - lead_ns_;
    if (place.used) due = std::min(due.value_or(place_ns), place_ns);
  }
  return due;
}

ArrivalUse arrival_use(Operation operation, Rank root, Rank decider, bool decider_has_thread,
                       std::size_t block_bytes, std::size_t eager_bytes) {
  const OperationTraits& row = traits(operation);
  if (row.is_rooted() && root != decider) return ArrivalUse::none;
  // A block that leaves its sender at once waits for nobody, so there is nothing to order. Nor would a leaf have waited for the root.
  const bool has_no_order = row.after == Holder::root || row.sizes_are_own;
  if (has_no_order && block_bytes <= eager_bytes) return ArrivalUse::none;
  if (row.before == Holder::root) return ArrivalUse::patient;
  if (row.after == Holder::root && !row.reduces) return ArrivalUse::urgent;
  // Early ranks exchange data among themselves before the decider is there: that must not have to wait for it.
  return decider_has_thread ? ArrivalUse::urgent : ArrivalUse::none;
}

}  // namespace papfft::comm
