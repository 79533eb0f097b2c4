// SPDX-License-Identifier: MIT
#include "comm/arrival/estimators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace papfft::comm {

namespace {
constexpr std::array<std::string_view, kEstimatorCount> kNames = {"edge", "last", "periodic", "median",
                                                                  "sma",  "ewma", "trend"};
constexpr double kLongestNs = 1e18;
/// Estimators that go by single durations. On the traces of docs/explanation/predictor.md this margin keeps the choice within a tenth
/// of the best estimator.
constexpr double kMargin = 1.3;

double margin(Estimator estimator) {
  const bool averages =
      estimator == Estimator::median || estimator == Estimator::sma || estimator == Estimator::ewma;
  return averages || estimator == Estimator::edge ? 1 : kMargin;
}

double checked_weight(double weight, const char* what) {
  if (!(weight > 0 && weight <= 1)) throw std::invalid_argument(std::string(what) + " must be in (0, 1]");
  return weight;
}

void keep_last(std::deque<std::int64_t>& last, std::int64_t value, std::size_t count) {
  if (last.size() == count) last.pop_front();
  last.push_back(value);
}

double mean(const std::deque<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Where the line through the values, which are one apart, is at the value after the last.
double next_on_line(const std::deque<std::int64_t>& values) {
  const auto n = static_cast<double>(values.size());
  const double centre = (n - 1) / 2;
  double tilt = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    tilt += (static_cast<double>(i) - centre) * static_cast<double>(values[i]);
  }
  return mean(values) + tilt / (n * (n * n - 1) / 12) * (n - centre);
}

/// A duration is not negative, whatever a line says.
std::int64_t as_duration(double ns) { return std::llround(std::clamp(ns, 0.0, kLongestNs)); }

}  // namespace

std::string_view to_string(Estimator estimator) { return kNames.at(static_cast<std::size_t>(estimator)); }

std::int64_t extrapolate_edge(std::int64_t elapsed_ns, double fraction) {
  checked_weight(fraction, "edge: the fraction of the work that is done");
  if (elapsed_ns < 0) throw std::invalid_argument("edge: before the start of the processing");
  return std::llround(std::min(static_cast<double>(elapsed_ns) / fraction, kLongestNs));
}

RecentMedian::RecentMedian(int count) : count_(static_cast<std::size_t>(count)) {
  if (count < 1) throw std::invalid_argument("median: needs a count of at least 1");
}

void RecentMedian::add(std::int64_t value) { keep_last(last_, value, count_); }

std::optional<std::int64_t> RecentMedian::value() const {
  if (last_.empty()) return std::nullopt;
  std::vector<std::int64_t> sorted(last_.begin(), last_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

FadingMean::FadingMean(double weight) : weight_(checked_weight(weight, "fading mean: the weight")) {}

void FadingMean::add(double value) {
  count_ = std::min(count_ + 1, 1 << 20);
  mean_ += std::max(weight_, 1.0 / count_) * (value - mean_);
}

std::optional<double> FadingMean::value() const {
  if (count_ == 0) return std::nullopt;
  return mean_;
}

void PeriodicEstimator::add(std::int64_t duration_ns) {
  for (std::size_t n = kLeastPeriod; n <= last_ns_.size(); ++n) {
    error_ns_.at(n).add(static_cast<double>(std::abs(last_ns_[n - 1] - duration_ns)));
  }
  last_ns_.push_front(duration_ns);
  if (last_ns_.size() > kMostPeriod) last_ns_.pop_back();
}

std::optional<std::int64_t> PeriodicEstimator::predict() const {
  std::optional<std::int64_t> best;
  double least_ns = std::numeric_limits<double>::infinity();
  for (std::size_t n = kLeastPeriod; n <= last_ns_.size(); ++n) {
    const double error_ns = error_ns_.at(n).value().value_or(std::numeric_limits<double>::infinity());
    if (error_ns >= least_ns) continue;
    least_ns = error_ns;
    best = last_ns_[n - 1];
  }
  return best;
}

void DurationEstimator::edge(std::int64_t elapsed_ns, double fraction) {
  edge_ns_ = extrapolate_edge(elapsed_ns, fraction);
}

void DurationEstimator::finish(std::int64_t duration_ns) {
  for (std::size_t e = 0; e < kEstimatorCount; ++e) {
    const auto predicted = predict(static_cast<Estimator>(e));
    if (predicted) errors_ns_.at(e).add(static_cast<double>(std::abs(*predicted - duration_ns)));
  }
  edge_ns_.reset();
  keep_last(last_ns_, duration_ns, kWindow);
  median_.add(duration_ns);
  periodic_.add(duration_ns);
  ewma_.add(static_cast<double>(duration_ns));
}

std::optional<std::int64_t> DurationEstimator::predict(Estimator estimator) const {
  if (estimator == Estimator::edge) return edge_ns_;
  if (last_ns_.empty()) return std::nullopt;
  switch (estimator) {
    case Estimator::edge:
      break;
    case Estimator::last:
      return last_ns_.back();
    case Estimator::periodic:
      return periodic_.predict();
    case Estimator::median:
      return median_.value();
    case Estimator::sma:
      return as_duration(mean(last_ns_));
    case Estimator::ewma:
      return as_duration(*ewma_.value());
    case Estimator::trend:
      if (last_ns_.size() >= 3) return as_duration(next_on_line(last_ns_));
      break;
  }
  return std::nullopt;
}

std::optional<DurationEstimator::Prediction> DurationEstimator::predict() const {
  std::optional<Prediction> best;
  double least_ns = 0;
  for (std::size_t e = 0; e < kEstimatorCount; ++e) {
    const auto estimator = static_cast<Estimator>(e);
    const auto predicted = predict(estimator);
    if (!predicted) continue;
    const double recent_ns =
        margin(estimator) * error_ns(estimator).value_or(std::numeric_limits<double>::infinity());
    if (best && recent_ns >= least_ns) continue;
    best = Prediction{*predicted, estimator};
    least_ns = recent_ns;
  }
  return best;
}

std::optional<double> DurationEstimator::error_ns(Estimator estimator) const {
  return errors_ns_.at(static_cast<std::size_t>(estimator)).value();
}

}  // namespace papfft::comm
