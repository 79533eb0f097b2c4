// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

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

 private:
  std::size_t count_;
  std::deque<std::int64_t> last_;
};

/// The mean of the last `count` durations, or of as many as there are; with a count of 1 the last one.
class SimpleMovingAverage {
 public:
  /// @throws std::invalid_argument unless count >= 1.
  explicit SimpleMovingAverage(int count);
  void add(std::int64_t duration_ns);
  [[nodiscard]] std::optional<std::int64_t> predict() const;

 private:
  std::size_t count_;
  std::deque<std::int64_t> last_ns_;
  std::int64_t sum_ns_ = 0;
};

/// Each new duration weighs `alpha`, all before it 1 - alpha; the first is taken as it is.
class ExponentialMovingAverage {
 public:
  /// @throws std::invalid_argument unless 0 < alpha <= 1.
  explicit ExponentialMovingAverage(double alpha);
  void add(std::int64_t duration_ns);
  [[nodiscard]] std::optional<std::int64_t> predict() const;

 private:
  double alpha_;
  std::optional<double> mean_ns_;
};

enum class Estimator : std::uint8_t { edge, last, sma, ewma };
inline constexpr std::size_t kEstimatorCount = 4;
[[nodiscard]] std::string_view to_string(Estimator estimator);

/// Predicts the length of a rank's processing phase by whichever estimator erred least of late.
///
/// One iteration: edge() any number of times (the latest counts), predict() at any time, finish() once with the true
/// duration. finish() scores what every estimator says at that moment: the median of its last `error_count` absolute errors,
/// which a few iterations that something else disturbed do not change, as they would a mean. An estimator that has never been
/// scored comes after those that have; ties go to the first in the order of Estimator.
class DurationEstimator {
 public:
  struct Settings {
    int sma_count = 8;
    double ewma_alpha = 0.3;
    int error_count = 9;  ///< >= 1
  };
  struct Prediction {
    std::int64_t duration_ns = 0;
    Estimator by = Estimator::edge;
    friend bool operator==(const Prediction&, const Prediction&) = default;
  };

  DurationEstimator() : DurationEstimator(Settings{}) {}
  /// @throws std::invalid_argument if a setting is out of range.
  explicit DurationEstimator(const Settings& settings);

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
  [[nodiscard]] std::optional<std::int64_t> error_ns(Estimator estimator) const;

 private:
  std::optional<std::int64_t> edge_ns_;
  SimpleMovingAverage last_{1};
  SimpleMovingAverage sma_;
  ExponentialMovingAverage ewma_;
  std::vector<RecentMedian> errors_ns_;  // one per estimator
};

}  // namespace papfft::comm
