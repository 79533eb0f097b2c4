// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/arrival/arrival_exchange.hpp"
#include "comm/arrival/background.hpp"
#include "comm/arrival/clock_sync.hpp"
#include "comm/arrival/estimators.hpp"

namespace papfft::comm {

/// One rank's side of the prediction: notes when its processing starts and how far it is, estimates the arrival at the
/// next collective call and reports it to the exchange. What the C functions PAT_ProcessingStart, PAT_Edge and
/// PAT_ProcessingEnd call: each notes a time under a mutex that is held for moments and wakes the background; the rest
/// is done by step(). Where nobody would plan by the report, none is made and nobody is woken up.
///
/// Order per iteration: processing_start(), edge() any number of times by any threads, processing_end(), arrive(),
/// (the collective), leave(). Everything but arrive() and leave() may be left out: less is known then.
class ArrivalPredictor final : public BackgroundTask {
 public:
  /// All must outlive this object. The caller adds it and the exchange to `background`, in this order.
  ArrivalPredictor(ArrivalExchange& exchange, const ClockSync& clock, Background& background);

  void processing_start();
  /// `fraction` of the processing is done. Ignored before processing_start() and after processing_end().
  /// @throws std::invalid_argument unless 0 < fraction <= 1.
  void edge(double fraction);
  void processing_end();

  /// The call with number iteration() begins: learns from the phase that has ended and, unless `use` is none, reports
  /// the arrival; then exchange.decision(iteration()) will answer.
  void arrive(ArrivalUse use);
  /// The call has ended: iteration() is the next one's number. What is learned of the phase that follows is kept apart from that of
  /// phases at other positions. @param position  in [0, kPositions), the same on all ranks
  /// @param announces  the next call may be planned by arrivals, as far as is known. If it is after all, and was not announced, the
  /// others hear of this rank when it calls
  void leave(std::int32_t position = 0, bool announces = true);
  [[nodiscard]] std::int64_t iteration() const;

  /// Of the present phase, if announced as last worked out by step(); nothing without edge or history.
  [[nodiscard]] std::optional<DurationEstimator::Prediction> prediction() const;
  /// When this rank is expected, on the reference clock; nothing before that.
  [[nodiscard]] std::optional<std::int64_t> predicted_arrival_ns() const;

  bool step() override;
  [[nodiscard]] Clock::time_point due() const override;

 private:
  enum class Phase : std::uint8_t { idle, processing, ended };
  /// What is known of the phases at one position.
  struct Phases {
    DurationEstimator estimator;
    PastArrival past;
  };

  [[nodiscard]] Phases& present() { return phases_[static_cast<std::size_t>(position_)]; }
  void wake_if_announced(std::unique_lock<std::mutex> lock);
  [[nodiscard]] std::optional<DurationEstimator::Prediction> prediction_locked() const;
  [[nodiscard]] ArrivalReport report(std::int64_t arrival_ns, Basis basis);

  ArrivalExchange& exchange_;
  const ClockSync& clock_;
  Background& background_;

  mutable std::mutex mutex_;  // never held while another object is called that may hold a lock for long
  std::vector<Phases> phases_ = std::vector<Phases>(1);  // by position, as far as there are any
  std::int32_t position_ = 0;                            // of the present phase, or the next
  std::optional<DurationEstimator::Prediction> prediction_;
  Phase phase_ = Phase::idle;
  bool announces_ = true;
  bool fresh_ = false;  // something to report
  bool has_edge_ = false;
  std::int64_t iteration_ = 0;
  std::int64_t start_ns_ = 0;  // local clock
  std::int64_t end_ns_ = 0;
};

}  // namespace papfft::comm
