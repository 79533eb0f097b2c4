// SPDX-License-Identifier: MIT
#include "comm/arrival/arrival_predictor.hpp"

#include <algorithm>

namespace papfft::comm {

ArrivalPredictor::ArrivalPredictor(ArrivalExchange& exchange, const ClockSync& clock, Background& background,
                                   const DurationEstimator::Settings& settings)
    : exchange_(exchange), clock_(clock), background_(background), estimator_(settings) {}

void ArrivalPredictor::processing_start() {
  {
    const std::lock_guard lock(mutex_);
    start_ns_ = clock_.local_now_ns();
    estimator_.start();
    prediction_.reset();
    phase_ = Phase::processing;
    has_edge_ = false;
    fresh_ = true;
  }
  background_.notify();
}

void ArrivalPredictor::edge(double fraction) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::processing) return;
    estimator_.edge(clock_.local_now_ns() - start_ns_, fraction);
    has_edge_ = true;
    fresh_ = true;
  }
  background_.notify();
}

void ArrivalPredictor::processing_end() {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::processing) return;
    end_ns_ = clock_.local_now_ns();
    phase_ = Phase::ended;
    fresh_ = true;
  }
  background_.notify();
}

void ArrivalPredictor::arrive(ArrivalUse use) {
  const std::int64_t now_ns = clock_.local_now_ns();
  std::int64_t iteration = 0;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::idle) estimator_.finish(now_ns - start_ns_);
    phase_ = Phase::idle;
    fresh_ = false;
    iteration = iteration_;
  }
  if (use == ArrivalUse::none) return;
  exchange_.report(iteration, clock_.to_reference(now_ns),
                   use == ArrivalUse::urgent ? Basis::waiting : Basis::arrived);
  background_.notify();
}

void ArrivalPredictor::leave() {
  const std::lock_guard lock(mutex_);
  ++iteration_;
}

std::int64_t ArrivalPredictor::iteration() const {
  const std::lock_guard lock(mutex_);
  return iteration_;
}

std::optional<DurationEstimator::Prediction> ArrivalPredictor::prediction() const {
  const std::lock_guard lock(mutex_);
  return prediction_;
}

std::optional<std::int64_t> ArrivalPredictor::predicted_arrival_ns() const {
  const std::lock_guard lock(mutex_);
  if (!prediction_ || phase_ == Phase::idle) return std::nullopt;
  return clock_.to_reference(start_ns_ + prediction_->duration_ns);
}

std::optional<std::int64_t> ArrivalPredictor::error_ns() const {
  const std::lock_guard lock(mutex_);
  std::optional<std::int64_t> least;
  for (std::size_t e = 0; e < kEstimatorCount; ++e) {
    const auto error = estimator_.error_ns(static_cast<Estimator>(e));
    if (error) least = std::min(least.value_or(*error), *error);
  }
  return least;
}

bool ArrivalPredictor::step() {
  ArrivalReport report;
  {
    const std::lock_guard lock(mutex_);
    if (!fresh_) return false;
    fresh_ = false;
    report.iteration = iteration_;
    if (phase_ == Phase::ended) {
      report.arrival_ns = end_ns_;
      report.basis = Basis::edge;
    } else {
      prediction_ = estimator_.predict();
      if (!prediction_) return false;
      report.arrival_ns = start_ns_ + prediction_->duration_ns;
      report.basis = has_edge_ ? Basis::edge : Basis::history;
      report.error_ns = estimator_.error_ns(prediction_->by).value_or(kUnknownErrorNs);
    }
  }
  // Should the call begin right now, the exchange drops this: an arrival is the better basis.
  exchange_.report(report.iteration, clock_.to_reference(report.arrival_ns), report.basis, report.error_ns);
  return true;
}

BackgroundTask::Clock::time_point ArrivalPredictor::due() const {
  const std::lock_guard lock(mutex_);
  return fresh_ ? Clock::time_point::min() : Clock::time_point::max();
}

}  // namespace papfft::comm
