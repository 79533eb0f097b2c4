// SPDX-License-Identifier: MIT
#include "comm/arrival/arrival_predictor.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace papfft::comm {

namespace {
Basis basis_of(ArrivalUse use) {
  if (use == ArrivalUse::alone) return Basis::alone;
  return use == ArrivalUse::urgent ? Basis::waiting : Basis::arrived;
}
}  // namespace

ArrivalPredictor::ArrivalPredictor(ArrivalExchange& exchange, const ClockSync& clock, Background& background)
    : exchange_(exchange), clock_(clock), background_(background) {}

/// To wake the thread costs two switches of threads, on a core that another rank may compute on.
void ArrivalPredictor::wake_if_announced(std::unique_lock<std::mutex> lock) {
  fresh_ = announces_;
  if (!fresh_) return;
  lock.unlock();
  background_.notify();
}

void ArrivalPredictor::processing_start() {
  std::unique_lock lock(mutex_);
  start_ns_ = clock_.local_now_ns();
  present().estimator.start();
  prediction_.reset();
  phase_ = Phase::processing;
  has_edge_ = false;
  wake_if_announced(std::move(lock));
}

void ArrivalPredictor::edge(double fraction) {
  std::unique_lock lock(mutex_);
  if (phase_ != Phase::processing) return;
  present().estimator.edge(clock_.local_now_ns() - start_ns_, fraction);
  has_edge_ = true;
  wake_if_announced(std::move(lock));
}

void ArrivalPredictor::processing_end() {
  std::unique_lock lock(mutex_);
  if (phase_ != Phase::processing) return;
  end_ns_ = clock_.local_now_ns();
  phase_ = Phase::ended;
  wake_if_announced(std::move(lock));
}

void ArrivalPredictor::arrive(ArrivalUse use) {
  const std::int64_t now_ns = clock_.local_now_ns();
  ArrivalReport arrival;
  {
    const std::lock_guard lock(mutex_);
    arrival = report(now_ns, basis_of(use));
    Phases& phases = present();
    phases.past = {.arrived_ns = arrival.arrival_ns};
    if (phase_ != Phase::idle) {
      if (const auto prediction = phases.estimator.predict()) {
        phases.past.predicted_ns = clock_.to_reference(start_ns_ + prediction->duration_ns);
      }
      phases.estimator.finish(now_ns - start_ns_);
    }
    phase_ = Phase::idle;
    fresh_ = false;
  }
  if (use == ArrivalUse::none) return;
  exchange_.report(arrival);
  background_.notify();
}

void ArrivalPredictor::leave(std::int32_t position, bool announces) {
  if (position < 0 || position >= kPositions) {
    throw std::invalid_argument("arrival predictor: no position " + std::to_string(position));
  }
  const std::lock_guard lock(mutex_);
  ++iteration_;
  position_ = position;
  announces_ = announces;
  if (phases_.size() <= static_cast<std::size_t>(position)) {
    phases_.resize(static_cast<std::size_t>(position) + 1);
  }
}

/// Of the present phase. @param arrival_ns  local clock
ArrivalReport ArrivalPredictor::report(std::int64_t arrival_ns, Basis basis) {
  return {.iteration = iteration_,
          .arrival_ns = clock_.to_reference(arrival_ns),
          .past = present().past,
          .basis = basis,
          .position = position_};
}

std::int64_t ArrivalPredictor::iteration() const {
  const std::lock_guard lock(mutex_);
  return iteration_;
}

std::optional<DurationEstimator::Prediction> ArrivalPredictor::prediction_locked() const {
  if (announces_) return prediction_;
  return phases_[static_cast<std::size_t>(position_)].estimator.predict();
}

std::optional<DurationEstimator::Prediction> ArrivalPredictor::prediction() const {
  const std::lock_guard lock(mutex_);
  return prediction_locked();
}

std::optional<std::int64_t> ArrivalPredictor::predicted_arrival_ns() const {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::idle) return std::nullopt;
  const auto prediction = prediction_locked();
  if (!prediction) return std::nullopt;
  return clock_.to_reference(start_ns_ + prediction->duration_ns);
}

bool ArrivalPredictor::step() {
  ArrivalReport expected;
  {
    const std::lock_guard lock(mutex_);
    if (!fresh_) return false;
    fresh_ = false;
    if (phase_ == Phase::ended) {
      expected = report(end_ns_, Basis::edge);
    } else {
      prediction_ = present().estimator.predict();
      if (!prediction_) return false;
      expected = report(start_ns_ + prediction_->duration_ns, has_edge_ ? Basis::edge : Basis::history);
    }
  }
  // Should the call begin right now, the exchange drops this: an arrival is the better basis.
  exchange_.report(expected);
  return true;
}

BackgroundTask::Clock::time_point ArrivalPredictor::due() const {
  const std::lock_guard lock(mutex_);
  return fresh_ ? Clock::time_point::min() : Clock::time_point::max();
}

}  // namespace papfft::comm
