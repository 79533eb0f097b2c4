// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>

#include "comm/arrival/estimators.hpp"
#include "comm/choose/select.hpp"

namespace papfft::comm {

/// How far the predictions of a group's arrivals are off on average over the ranks, if what shifts all of them alike does not count.
/// Predictions that are all the same mean that all ranks come together.
/// @param predicted_ns, arrived_ns  one per rank, at least one
[[nodiscard]] std::int64_t group_error_ns(std::span<const std::int64_t> predicted_ns,
                                          std::span<const std::int64_t> arrived_ns);

/// Compares predicted with true arrivals of one call after another, whether anybody planned by them or not. Without messages and clocks.
class PredictionJudge {
 public:
  /// Calls that must have been compared before anything is known.
  static constexpr int kWarmUp = 3;

  /// @param predicted_ns, arrived_ns  as group_error_ns
  void compare(std::span<const std::int64_t> predicted_ns, std::span<const std::int64_t> arrived_ns);
  /// Medians of the last few calls, which a call or two that something disturbed do not change.
  [[nodiscard]] PredictionError error() const;

 private:
  static constexpr int kCalls = 5;
  RecentMedian predicted_{kCalls};
  RecentMedian together_{kCalls};
};

}  // namespace papfft::comm
