// SPDX-License-Identifier: MIT
#include "comm/choose/guard.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace papfft::comm {

namespace {

template <typename Values>
auto median(Values values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// How probable it is that one of two equal ways wins `wins` of `pairs` or more.
double chance_of(std::size_t wins, std::size_t pairs) {
  double ways = 1;  // to win k of the pairs
  double sum = 0;
  for (std::size_t k = 0; k <= pairs; ++k) {
    if (k >= wins) sum += ways;
    ways = ways * static_cast<double>(pairs - k) / static_cast<double>(k + 1);
  }
  return std::ldexp(sum, -static_cast<int>(pairs));
}

}  // namespace

double Guard::Pair::gain() const {
  return static_cast<double>(std::max<std::int64_t>(1, incumbent_ns)) /
         static_cast<double>(std::max<std::int64_t>(1, challenger_ns));
}

/// The Thue-Morse sequence: each is first as often as the other, and in step with no pattern that the program's calls may have.
bool Guard::challenger_is_first() const {
  return std::popcount(static_cast<std::uint64_t>(pairs_made_)) % 2 == 1;
}

Guard::Turn Guard::turn() const {
  Turn turn;
  turn.reports = step_ == Step::report;
  turn.is_timed = step_ == Step::first || step_ == Step::second;
  turn.is_challenger = turn.is_timed && (step_ == Step::first) == challenger_is_first();
  turn.is_stock = is_stock_in_use_ != turn.is_challenger;
  return turn;
}

void Guard::call_ended(const GuardReport& all) {
  ++calls_;
  switch (step_) {
    case Step::plain:
      if (--plain_calls_left_ > 0) return;
      step_ = has_begun_ ? Step::first : Step::report;
      return;
    case Step::first:
      step_ = Step::second;
      return;
    case Step::second:
      step_ = Step::report;
      return;
    case Step::report:
      if (has_begun_) learn(all);
      has_begun_ = true;
      step_ = plain_calls_left_ > 0 ? Step::plain : Step::first;
  }
}

void Guard::learn(const GuardReport& all) {
  const Pair pair{all.incumbent_ns, all.challenger_ns};
  const bool won = pair.gain() > kWorth;
  lost_ns_ += static_cast<double>(all.overhead_ns);
  // A way's first call sets up what it needs, so it says nothing against the way.
  if (won || pairs_made_ > 0) {
    if (last_.size() == kPairsKept) last_.erase(last_.begin());
    last_.push_back(pair);
    lost_ns_ = std::max(0.0, lost_ns_ + static_cast<double>(pair.challenger_ns - pair.incumbent_ns));
    pause_ = won ? pause_ / 2 : std::min(kLongestPause, 4 * pause_ + 1);
  }
  ++pairs_made_;
  std::vector<std::int64_t> incumbent_ns{all.incumbent_ns};
  for (const Pair& p : last_) incumbent_ns.push_back(p.incumbent_ns);
  typical_ns_ = static_cast<double>(std::max<std::int64_t>(1, median(std::move(incumbent_ns))));
  spent_ns_ += typical_ns_ * static_cast<double>(calls_ - reported_calls_);
  reported_calls_ = calls_;
  if (challenger_wins_clearly() || challenger_wins_often()) change();
  plain_calls_left_ = std::max(pause_, pause_by_budget());
}

/// A way that is much slower is dropped soon.
bool Guard::challenger_wins_clearly() const {
  double least_gain = std::numeric_limits<double>::infinity();
  std::size_t n = 0;
  for (auto pair = last_.rbegin(); pair != last_.rend(); ++pair) {
    least_gain = std::min(least_gain, pair->gain());
    double power = 1;
    for (std::size_t i = 0; i <= n; ++i) power *= least_gain;
    if (++n >= kFewestPairs && power >= kClearWin) return true;
  }
  return false;
}

/// A sign test: no outlier, however far off, weighs more than one pair.
bool Guard::challenger_wins_often() const {
  if (last_.size() < kPairs) return false;
  std::vector<double> gains;
  for (const Pair& pair : last_) gains.push_back(pair.gain());
  const auto wins = std::ranges::count_if(gains, [](double gain) { return gain > 1; });
  return chance_of(static_cast<std::size_t>(wins), gains.size()) < kChance &&
         median(std::move(gains)) > kWorth;
}

/// What the dropped way lost is what it has lost of its budget as the challenger. The pairs are forgotten.
void Guard::change() {
  lost_ns_ = 0;
  std::vector<std::int64_t> winner_ns;
  for (const Pair& pair : last_) {
    lost_ns_ += static_cast<double>(pair.incumbent_ns - pair.challenger_ns);
    winner_ns.push_back(pair.challenger_ns);
  }
  lost_ns_ = std::max(0.0, lost_ns_);
  typical_ns_ = static_cast<double>(std::max<std::int64_t>(1, median(std::move(winner_ns))));
  last_.clear();
  pause_ = 0;
  is_stock_in_use_ = !is_stock_in_use_;
  ++changes_;
}

std::int64_t Guard::pause_by_budget() const {
  constexpr double kMost = 1e15;
  const double missing_ns = lost_ns_ / kBudget - spent_ns_;
  return static_cast<std::int64_t>(std::clamp(std::ceil(missing_ns / typical_ns_), 0.0, kMost));
}

}  // namespace papfft::comm
