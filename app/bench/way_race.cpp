// SPDX-License-Identifier: MIT
#include "app/bench/way_race.hpp"

#include <algorithm>
#include <limits>

#include "app/bench/mann_whitney.hpp"
#include "app/bench/turns.hpp"

namespace papfft::app {

double WayRace::Runner::least() const {
  return times_s.empty() ? std::numeric_limits<double>::infinity() : *std::ranges::min_element(times_s);
}

double WayRace::Runner::typical() const {
  if (times_s.size() < kFewestToTell) return least();
  std::vector<double> sorted = times_s;
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

void WayRace::add(const std::string& way, bool keep) {
  if (std::ranges::find(runners_, way, &Runner::name) == runners_.end()) runners_.push_back({way, keep});
}

std::vector<std::string> WayRace::round(int calls, double factor) {
  std::vector<std::string> broken;
  Turns turns(runners_.size(), random_());
  for (int call = 0; call < calls; ++call) {
    for (const std::size_t turn : turns.next()) {
      Runner& runner = runners_[turn];
      const bool is_out = std::ranges::find(broken, runner.name) != broken.end();
      const bool must_run = runner.keep && runner.times_s.empty();
      if (is_out || (!has_time() && !must_run)) continue;
      if (const std::optional<double> time_s = time_of_(runner.name)) {
        runner.times_s.push_back(*time_s);
        spent_s_ += *time_s;
      } else {
        broken.push_back(runner.name);
      }
    }
  }
  double best_s = std::numeric_limits<double>::infinity();
  std::erase_if(runners_, [&](const Runner& r) {
    return r.times_s.empty() || std::ranges::find(broken, r.name) != broken.end();
  });
  for (const Runner& r : runners_) best_s = std::min(best_s, r.least());
  std::vector<std::string> dropped;
  std::erase_if(runners_, [&](const Runner& r) {
    const bool is_slow = !r.keep && r.least() > factor * best_s;
    if (is_slow) dropped.push_back(r.name);
    return is_slow;
  });
  return dropped;
}

bool WayRace::is_surely_faster(const Runner& way, const Runner& usual) {
  if (usual.is_confirmed && !way.is_confirmed) return false;
  if (std::min(way.times_s.size(), usual.times_s.size()) < kFewestToTell) return true;
  std::vector<double> handicapped = way.times_s;
  for (double& time_s : handicapped) time_s *= 1 + kLeastGain;
  return mann_whitney_p(usual.times_s, handicapped) < kMostDoubt;
}

WayRace::Runner* WayRace::find(const std::string& way) {
  const auto runner = std::ranges::find(runners_, way, &Runner::name);
  return runner == runners_.end() ? nullptr : &*runner;
}

void WayRace::confirm(const std::string& usual, int calls, double budget_s) {
  const Runner* const known = find(usual);
  if (known == nullptr || budget_s <= 0) return;
  WayRace again(time_of_, budget_s);
  again.random_ = random_;
  again.add(usual, true);
  for (const comm::DecisionTable::Way& way : ways(usual)) {
    if (way.name == usual || again.runners_.size() > kConfirmed) break;
    again.add(way.name, true);
  }
  if (again.runners_.size() == 1) return;
  again.round(calls, std::numeric_limits<double>::infinity());
  random_ = again.random_;
  const auto has_few = [](const Runner& r) { return r.times_s.size() < kFewestToTell; };
  if (std::ranges::any_of(again.runners_, has_few)) return;  // calls so long vary little
  for (Runner& r : runners_) {
    const Runner* const met = again.find(r.name);
    if (met != nullptr) r.times_s = met->times_s;
    r.is_confirmed = met != nullptr;
  }
}

std::vector<comm::DecisionTable::Way> WayRace::ways(const std::string& usual) const {
  constexpr double kUsPerS = 1e6;
  const auto known = std::ranges::find(runners_, usual, &Runner::name);
  std::vector<comm::DecisionTable::Way> ways;
  for (const Runner& r : runners_) {
    const bool is_in_doubt =
        known != runners_.end() && r.typical() < known->typical() && !is_surely_faster(r, *known);
    ways.push_back({r.name, (is_in_doubt ? *known : r).typical() * kUsPerS});
  }
  std::ranges::stable_sort(ways, {}, &comm::DecisionTable::Way::us);
  return ways;
}

}  // namespace papfft::app
