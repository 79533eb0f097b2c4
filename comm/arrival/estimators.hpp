// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace papfft::comm {

/// How long a processing phase takes from its start to the arrival at the collective, if `fraction` of it took
/// `elapsed_ns` (the papers' PAT_Edge). At most about 31 years.
/// @throws std::invalid_argument unless 0 < fraction <= 1 and elapsed_ns >= 0.
[[nodiscard]] std::int64_t extrapolate_edge(std::int64_t elapsed_ns, double fraction);

/// The median of the last `count` values, or of as many as there are (of an even number the lower one).
class RecentMedian {
 public:
  /// @throws std::invalid_argument unless count >= 1.
  explicit RecentMedian(int count);
  void add(std::int64_t value);
  [[nodiscard]] std::optional<std::int64_t> value() const;
  /// How many values it is of.
  [[nodiscard]] int count() const { return static_cast<int>(last_.size()); }

 private:
  std::size_t count_;
  std::deque<std::int64_t> last_;
};

/// The mean of all values, where the newest weighs `weight` and all before it 1 - weight; the first few weigh alike.
class FadingMean {
 public:
  /// @throws std::invalid_argument unless 0 < weight <= 1.
  explicit FadingMean(double weight = 0.1);
  void add(double value);
  [[nodiscard]] std::optional<double> value() const;

 private:
  double weight_;
  double mean_ = 0;
  int count_ = 0;
};

/// The value `n` values ago, for the n from 2 to kMostPeriod that would have erred least of late. So it is exact for what repeats, such
/// as a short and a long phase in turns.
class PeriodicEstimator {
 public:
  static constexpr std::size_t kMostPeriod = 12;
  void add(std::int64_t duration_ns);
  /// Nothing before some n could be judged.
  [[nodiscard]] std::optional<std::int64_t> predict() const;

 private:
  static constexpr std::size_t kLeastPeriod = 2;
  std::deque<std::int64_t> last_ns_;                  // the newest first
  std::array<FadingMean, kMostPeriod + 1> error_ns_;  // by n
};

/// In the order in which ties are broken.
enum class Estimator : std::uint8_t {
  edge,      ///< what the progress of this phase says
  last,      ///< as long as the last time
  periodic,  ///< as long as n times ago (PeriodicEstimator)
  median,    ///< the median of the last kWindow
  sma,       ///< the mean of the last kWindow
  ewma,      ///< a mean in which each new duration weighs 0.3
  trend      ///< on the line that fits the last kWindow best (least squares)
};
inline constexpr std::size_t kEstimatorCount = 7;
[[nodiscard]] std::string_view to_string(Estimator estimator);

/// Predicts the length of a rank's processing phase by whichever estimator erred least of late.
///
/// One iteration: edge() any number of times (the latest counts), predict() at any time, finish() once with the true duration.
/// finish() scores what every estimator says at that moment, by a mean of its absolute errors in which old ones fade. A disturbance
/// that nobody could foresee counts against all of them alike; an estimator that learns from a phase change sooner gets ahead at once.
/// An estimator that goes by single durations follows noise, and is lucky now and then: it must be better than one that averages by a
/// margin. An estimator that has never been scored comes after those that have. Memory and time of each function are bounded.
class DurationEstimator {
 public:
  static constexpr std::size_t kWindow = 8;
  struct Prediction {
    std::int64_t duration_ns = 0;
    Estimator by = Estimator::edge;
    friend bool operator==(const Prediction&, const Prediction&) = default;
  };

  /// A new iteration begins: what edges the last one had is forgotten.
  void start() { edge_ns_.reset(); }
  /// `fraction` of this iteration's work is done after elapsed_ns. @throws as extrapolate_edge().
  void edge(std::int64_t elapsed_ns, double fraction);
  /// The phase took duration_ns.
  void finish(std::int64_t duration_ns);

  /// Nothing without any edge or history.
  [[nodiscard]] std::optional<Prediction> predict() const;
  [[nodiscard]] std::optional<std::int64_t> predict(Estimator estimator) const;
  /// The recent absolute error; nothing if it was never scored.
  [[nodiscard]] std::optional<double> error_ns(Estimator estimator) const;

 private:
  std::optional<std::int64_t> edge_ns_;
  std::deque<std::int64_t> last_ns_;  // the newest last
  RecentMedian median_{kWindow};
  PeriodicEstimator periodic_;
  FadingMean ewma_{0.3};
  std::array<FadingMean, kEstimatorCount> errors_ns_;
};

}  // namespace papfft::comm
