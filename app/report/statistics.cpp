// SPDX-License-Identifier: MIT
#include "app/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace papfft::app::report {

namespace {

std::vector<double> sorted(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("statistics of no values");
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

double interpolated(const std::vector<double>& ascending, double fraction) {
  const double at = fraction * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], at - static_cast<double>(below));
}

/// How many values may be cut off at either end so that the rest still holds the median with 95 %: the largest k with
/// P(fewer than k of n values below the median) <= 2.5 %, binomial with 1/2.
std::size_t values_beside_interval(std::size_t n) {
  const auto count = static_cast<double>(n);
  double cumulated = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto i = static_cast<double>(k);
    const double log_of_term =
        std::lgamma(count + 1) - std::lgamma(i + 1) - std::lgamma(count - i + 1) - count * std::numbers::ln2;
    cumulated += std::exp(log_of_term);
    if (cumulated > 0.025) return k == 0 ? 0 : k - 1;
  }
  return 0;
}

int count_outliers(const std::vector<double>& ascending, double median) {
  std::vector<double> distances;
  for (const double value : ascending) distances.push_back(std::abs(value - median));
  std::ranges::sort(distances);
  const double limit = 3 * 1.4826 * interpolated(distances, 0.5);
  return static_cast<int>(std::ranges::count_if(distances, [&](double d) { return d > limit; }));
}

}  // namespace

double percentile(std::span<const double> values, double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) throw std::invalid_argument("a percentile is within 0 and 1");
  return interpolated(sorted(values), fraction);
}

double median(std::span<const double> values) { return percentile(values, 0.5); }

Summary summarize(std::span<const double> values) {
  const std::vector<double> ascending = sorted(values);
  const auto count = static_cast<double>(ascending.size());
  const double mean = std::accumulate(ascending.begin(), ascending.end(), 0.0) / count;
  const double median = interpolated(ascending, 0.5);
  const std::size_t beside = values_beside_interval(ascending.size());
  const double squares = std::accumulate(ascending.begin(), ascending.end(), 0.0,
                                         [&](double sum, double x) { return sum + (x - mean) * (x - mean); });
  return {.median = median,
          .mean = mean,
          .stddev = ascending.size() > 1 ? std::sqrt(squares / (count - 1)) : 0,
          .p10 = interpolated(ascending, 0.1),
          .p90 = interpolated(ascending, 0.9),
          .p99 = interpolated(ascending, 0.99),
          .min = ascending.front(),
          .max = ascending.back(),
          .median_low = ascending[beside],
          .median_high = ascending[ascending.size() - 1 - beside],
          .outliers = count_outliers(ascending, median)};
}

}  // namespace papfft::app::report
