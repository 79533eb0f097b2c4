// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace papfft::comm {

/// One question to the reference clock: asked and answered on the local clock, read on the reference clock between.
struct PingPong {
  std::int64_t send_ns = 0;     ///< local clock
  std::int64_t remote_ns = 0;   ///< reference clock
  std::int64_t receive_ns = 0;  ///< local clock, not before send_ns
};

/// Offset and drift of the local clock against a reference clock, from ping-pongs.
///
/// The reference clock was read at some moment between send and receive, so a sample's offset, taken at the middle,
/// is wrong by half the round trip at most, however unequal the two ways were. Hence of every burst of samples only
/// the one with the shortest round trip counts (as in SKaMPI and HCA), and bursts are fitted by a line weighted with
/// 1/error^2. The line's slope is used once those error bounds make it better than 500 ppm, which no working clock
/// exceeds; until then the drift is taken to be 0 and its possible size goes into the uncertainty.
///
/// @note Memory: the last 32 bursts.
class ClockModel {
 public:
  /// Adds a burst of samples taken shortly after one another. An empty burst changes nothing.
  /// @throws std::invalid_argument  if a sample was received before it was sent.
  void add(std::span<const PingPong> burst);

  /// False until the first burst; conversions are then the identity and the uncertainty is the largest integer.
  [[nodiscard]] bool ready() const { return !points_.empty(); }
  [[nodiscard]] std::int64_t to_reference(std::int64_t local_ns) const;
  /// The inverse of to_reference(), up to 1 ns of rounding.
  [[nodiscard]] std::int64_t to_local(std::int64_t reference_ns) const;
  /// How wrong to_reference(local_ns) may be: what the round trips allow at that moment, plus the fit's residual.
  [[nodiscard]] std::int64_t uncertainty_ns(std::int64_t local_ns) const;
  /// How much faster the reference clock runs, in parts per billion; 0 while not known well enough.
  [[nodiscard]] std::int64_t drift_ppb() const;

 private:
  struct Point {
    std::int64_t local_ns = 0;
    std::int64_t offset_ns = 0;  // reference - local
    std::int64_t error_ns = 0;
    double share = 0;  // the fit is sum(share * offset) + (x - centre) * sum(tilt * offset)
    double tilt = 0;   // per ns
  };
  void fit();
  void use_best_point();

  std::vector<Point> points_;   // oldest first
  std::int64_t base_ns_ = 0;    // local clock
  std::int64_t offset_ns_ = 0;  // at base_ns_
  double slope_ = 0;            // d offset / d local
  double unknown_slope_ = 0;    // added to the uncertainty where no slope is fitted
  double centre_ns_ = 0;        // of the fitted points, after base_ns_
  double residual_ns_ = 0;
};

}  // namespace papfft::comm
