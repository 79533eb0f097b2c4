// SPDX-License-Identifier: MIT
#include "app/bench/way_race.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "app/bench/mann_whitney.hpp"

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
  std::vector<std::size_t> order(runners_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int call = 0; call < calls; ++call) {
    std::ranges::shuffle(order, random_);
    for (const std::size_t turn : order) {
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
  const bool can_tell = std::min(way.times_s.size(), usual.times_s.size()) >= kFewestToTell;
  return !can_tell || mann_whitney_p(usual.times_s, way.times_s) < kMostDoubt;
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
