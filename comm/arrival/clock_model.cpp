// SPDX-License-Identifier: MIT
#include "comm/arrival/clock_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace papfft::comm {

namespace {
constexpr std::size_t kBursts = 32;
constexpr double kLargestDrift = 500e-6;
}  // namespace

void ClockModel::add(std::span<const PingPong> burst) {
  if (burst.empty()) return;
  for (const PingPong& p : burst) {
    if (p.receive_ns < p.send_ns) throw std::invalid_argument("ClockModel: a sample came before it was sent");
  }
  const PingPong& best =
      *std::ranges::min_element(burst, {}, [](const PingPong& p) { return p.receive_ns - p.send_ns; });
  const std::int64_t round_trip_ns = best.receive_ns - best.send_ns;
  const std::int64_t middle_ns = best.send_ns + round_trip_ns / 2;
  if (points_.size() == kBursts) points_.erase(points_.begin());
  points_.push_back({middle_ns, best.remote_ns - middle_ns, round_trip_ns / 2 + 1, 0, 0});
  fit();
}

void ClockModel::fit() {
  // Relative to the newest point, where doubles are exact enough.
  base_ns_ = points_.back().local_ns;
  const std::int64_t base_offset_ns = points_.back().offset_ns;
  const auto x = [&](const Point& p) { return static_cast<double>(p.local_ns - base_ns_); };
  const auto y = [&](const Point& p) { return static_cast<double>(p.offset_ns - base_offset_ns); };
  const auto weight = [](const Point& p) {
    const auto e = static_cast<double>(p.error_ns);
    return 1 / (e * e);
  };
  double sum_w = 0;
  double sum_wx = 0;
  for (const Point& p : points_) {
    sum_w += weight(p);
    sum_wx += weight(p) * x(p);
  }
  centre_ns_ = sum_wx / sum_w;
  double spread = 0;
  for (const Point& p : points_) spread += weight(p) * (x(p) - centre_ns_) * (x(p) - centre_ns_);
  double slope_error = std::numeric_limits<double>::infinity();
  if (spread > 0) {
    slope_error = 0;
    for (Point& p : points_) {
      p.share = weight(p) / sum_w;
      p.tilt = weight(p) * (x(p) - centre_ns_) / spread;
      slope_error += std::abs(p.tilt) * static_cast<double>(p.error_ns);
    }
  }
  if (slope_error >= kLargestDrift) {
    use_best_point();
    return;
  }
  double height = 0;
  slope_ = 0;
  for (const Point& p : points_) {
    height += p.share * y(p);
    slope_ += p.tilt * y(p);
  }
  slope_ = std::clamp(slope_, -kLargestDrift, kLargestDrift);  // more is a jump
  double squares = 0;
  for (const Point& p : points_) {
    const double r = y(p) - height - slope_ * (x(p) - centre_ns_);
    squares += p.share * r * r;
  }
  residual_ns_ = std::sqrt(squares);
  unknown_slope_ = 0;
  offset_ns_ = base_offset_ns + std::llround(height - slope_ * centre_ns_);
}

void ClockModel::use_best_point() {
  const std::int64_t now_ns = base_ns_;
  const Point& best = *std::ranges::min_element(points_, {}, [&](const Point& p) {
    return static_cast<double>(p.error_ns) + kLargestDrift * static_cast<double>(now_ns - p.local_ns);
  });
  for (Point& p : points_) {
    p.share = &p == &best ? 1 : 0;
    p.tilt = 0;
  }
  base_ns_ = best.local_ns;
  offset_ns_ = best.offset_ns;
  slope_ = 0;
  unknown_slope_ = kLargestDrift;
  centre_ns_ = 0;
  residual_ns_ = 0;
}

std::int64_t ClockModel::to_reference(std::int64_t local_ns) const {
  const double since = static_cast<double>(local_ns - base_ns_);
  return local_ns + offset_ns_ + std::llround(slope_ * since);
}

std::int64_t ClockModel::to_local(std::int64_t reference_ns) const {
  const std::int64_t without_drift_ns = reference_ns - offset_ns_;
  const double since = static_cast<double>(without_drift_ns - base_ns_);
  return without_drift_ns - std::llround(slope_ / (1 + slope_) * since);
}

std::int64_t ClockModel::uncertainty_ns(std::int64_t local_ns) const {
  if (!ready()) return std::numeric_limits<std::int64_t>::max();
  const double since = static_cast<double>(local_ns - base_ns_);
  double bound = residual_ns_ + unknown_slope_ * std::abs(since);
  for (const Point& p : points_) {
    bound += std::abs(p.share + p.tilt * (since - centre_ns_)) * static_cast<double>(p.error_ns);
  }
  return std::llround(std::ceil(bound));
}

std::int64_t ClockModel::drift_ppb() const { return std::llround(slope_ * 1e9); }

}  // namespace papfft::comm
