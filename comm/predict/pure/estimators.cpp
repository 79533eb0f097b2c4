// SPDX-License-Identifier: MIT
#include "comm/predict/pure/estimators.hpp"

#include <algorithm>
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
    : error_weight_(checked_weight(settings.error_weight, "estimator: error_weight")),
      sma_(settings.sma_count),
      ewma_(settings.ewma_alpha) {}

void DurationEstimator::edge(std::int64_t elapsed_ns, double fraction) {
  edge_ns_ = extrapolate_edge(elapsed_ns, fraction);
}

void DurationEstimator::finish(std::int64_t duration_ns) {
  for (std::size_t e = 0; e < kEstimatorCount; ++e) {
    const auto predicted = predict(static_cast<Estimator>(e));
    if (!predicted) continue;
    const double error = std::abs(static_cast<double>(*predicted - duration_ns));
    std::optional<double>& mean = errors_ns_[e];
    mean = mean ? error_weight_ * error + (1 - error_weight_) * *mean : error;
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
  double best_error = 0;
  for (std::size_t e = 0; e < kEstimatorCount; ++e) {
    const auto estimator = static_cast<Estimator>(e);
    const auto predicted = predict(estimator);
    if (!predicted) continue;
    const double error = errors_ns_[e].value_or(std::numeric_limits<double>::infinity());
    if (best && error >= best_error) continue;
    best = Prediction{*predicted, estimator};
    best_error = error;
  }
  return best;
}

std::optional<std::int64_t> DurationEstimator::error_ns(Estimator estimator) const {
  const auto& mean = errors_ns_.at(static_cast<std::size_t>(estimator));
  if (!mean) return std::nullopt;
  return std::llround(*mean);
}

}  // namespace papfft::comm
