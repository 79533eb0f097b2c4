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
};

/// The value below which the share `fraction` of the sample lies, interpolated linearly between the order statistics
/// (numpy's default). @throws std::invalid_argument  no values; fraction not within [0, 1]
[[nodiscard]] double percentile(std::span<const double> values, double fraction);

/// @throws std::invalid_argument  no values
[[nodiscard]] double median(std::span<const double> values);

/// @throws std::invalid_argument  no values
[[nodiscard]] Summary summarize(std::span<const double> values);

}  // namespace papfft::app::report
