// SPDX-License-Identifier: MIT
#include "app/report/statistics.hpp"

#include <algorithm>
#include <cmath>
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
  const double squares = std::accumulate(ascending.begin(), ascending.end(), 0.0,
                                         [&](double sum, double x) { return sum + (x - mean) * (x - mean); });
  return {.median = interpolated(ascending, 0.5),
          .mean = mean,
          .stddev = ascending.size() > 1 ? std::sqrt(squares / (count - 1)) : 0,
          .p10 = interpolated(ascending, 0.1),
          .p90 = interpolated(ascending, 0.9),
          .p99 = interpolated(ascending, 0.99),
          .min = ascending.front(),
          .max = ascending.back()};
}

}  // namespace papfft::app::report
