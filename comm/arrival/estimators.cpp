// SPDX-License-Identifier: MIT
#include "comm/arrival/estimators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace papfft::comm {

namespace {
constexpr std::array<std::string_view, kEstimatorCount> kNames = {"edge", "last", "sma", "ewma"};
constexpr double kLongestNs = 1e18;

double checked_weight(double weight, const char* what) {
  if (!(weight > 0 && weight <= 1)) throw std::invalid_argument(std::string(what) + " must be in (0, 1]");
  return weight;
}
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

void RecentMedian::add(std::int64_t value) {
  if (last_.size() == count_) last_.pop_front();
  last_.push_back(value);
}

std::optional<std::int64_t> RecentMedian::value() const {
  if (last_.empty()) return std::nullopt;
  std::vector<std::int64_t> sorted(last_.begin(), last_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

SimpleMovingAverage::SimpleMovingAverage(int count) : count_(static_cast<std::size_t>(count)) {
  if (count < 1) throw std::invalid_argument("moving average: needs a count of at least 1");
}

void SimpleMovingAverage::add(std::int64_t duration_ns) {
  if (last_ns_.size() == count_) {
    sum_ns_ -= last_ns_.front();
    last_ns_.pop_front();
  }
  last_ns_.push_back(duration_ns);
  sum_ns_ += duration_ns;
}

std::optional<std::int64_t> SimpleMovingAverage::predict() const {
  if (last_ns_.empty()) return std::nullopt;
  return sum_ns_ / static_cast<std::int64_t>(last_ns_.size());
}

ExponentialMovingAverage::ExponentialMovingAverage(double alpha)
    : alpha_(checked_weight(alpha, "moving average: alpha")) {}

void ExponentialMovingAverage::add(std::int64_t duration_ns) {
  const auto d = static_cast<double>(duration_ns);
  mean_ns_ = mean_ns_ ? alpha_ * d + (1 - alpha_) * *mean_ns_ : d;
}

std::optional<std::int64_t> ExponentialMovingAverage::predict() const {
  if (!mean_ns_) return std::nullopt;
  return std::llround(*mean_ns_);
}

DurationEstimator::DurationEstimator(const Settings& settings)
    : sma_(settings.sma_count),
      ewma_(settings.ewma_alpha),
      errors_ns_(kEstimatorCount, RecentMedian(settings.error_count)) {}

void DurationEstimator::edge(std::int64_t elapsed_ns, double fraction) {
  edge_ns_ = extrapolate_edge(elapsed_ns, fraction);
}

void DurationEstimator::finish(std::int64_t duration_ns) {
  for (std::size_t e = 0; e < kEstimatorCount; ++e) {
    const auto predicted = predict(static_cast<Estimator>(e));
    if (predicted) errors_ns_[e].add(std::abs(*predicted - duration_ns));
  }
  edge_ns_.reset();
  last_.add(duration_ns);
  sma_.add(duration_ns);
  ewma_.add(duration_ns);
}

std::optional<std::int64_t> DurationEstimator::predict(Estimator estimator) const {
  switch (estimator) {
    case Estimator::edge:
      return edge_ns_;
    case Estimator::last:
      return last_.predict();
    case Estimator::sma:
      return sma_.predict();
    case Estimator::ewma:
      return ewma_.predict();
  }
  return std::nullopt;
}

std::optional<DurationEstimator::Prediction> DurationEstimator::predict() const {
  std::optional<Prediction> best;
  std::int64_t best_error_ns = 0;
  for (std::size_t e = 0; e < kEstimatorCount; ++e) {
    const auto estimator = static_cast<Estimator>(e);
    const auto predicted = predict(estimator);
    if (!predicted) continue;
    const std::int64_t error_ns = errors_ns_[e].value().value_or(std::numeric_limits<std::int64_t>::max());
    if (best && error_ns >= best_error_ns) continue;
    best = Prediction{*predicted, estimator};
    best_error_ns = error_ns;
  }
  return best;
}

std::optional<std::int64_t> DurationEstimator::error_ns(Estimator estimator) const {
  return errors_ns_.at(static_cast<std::size_t>(estimator)).value();
}

}  // namespace papfft::comm
