// SPDX-License-Identifier: MIT
#pragma once
#include <span>

namespace papfft::app::report {

/// What a sample of measurements comes down to, in the unit of the sample.
struct Summary {
  double median = 0;
  double mean = 0;
  double stddev = 0;  ///< of the sample (n - 1); 0 for a single value
  double p10 = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
  /// 95 % confidence interval of the median, whatever the distribution: between the order statistics that the median misses with
  /// at most 2.5 % each way. From 6 values on; else from min to max, which says less.
  double median_low = 0;
  double median_high = 0;
  /// Values further from the median than 3 robust standard deviations (1.4826 times the median distance from it). They are
  /// not left out of anything; median and interval hardly feel them.
  int outliers = 0;
};

/// The value below which the share `fraction` of the sample lies, interpolated linearly between the order statistics
/// (numpy's default). @throws std::invalid_argument  no values; fraction not within [0, 1]
[[nodiscard]] double percentile(std::span<const double> values, double fraction);

/// @throws std::invalid_argument  no values
[[nodiscard]] double median(std::span<const double> values);

/// @throws std::invalid_argument  no values
[[nodiscard]] Summary summarize(std::span<const double> values);

}  // namespace papfft::app::report
