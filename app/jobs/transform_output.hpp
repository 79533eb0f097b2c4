// SPDX-License-Identifier: MIT
// What a transform's results belong to, and how one looks.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/jobs/transform_plan.hpp"

namespace papfft::app {

/// What the elements of a result are ordered by, with its unit: "frequency_hz", "bin", "time_s" or "sample".
[[nodiscard]] const char* axis_name(const TransformOptions& options, const TransformPlan& plan);
/// Of a result of `length` elements.
[[nodiscard]] std::vector<double> axis_values(const TransformOptions& options, const TransformPlan& plan,
                                              std::uint64_t length);

/// @param y  values over time, or in dB over frequency. @param two_sided  the upper half of the frequencies is negative
/// @throws io::OutputError
void draw_result(const std::string& path, const TransformOptions& options, const TransformPlan& plan,
                 std::vector<double> y, bool two_sided);

/// One result as it is drawn.
template <typename Sample>
[[nodiscard]] std::vector<double> drawn_values(std::span<const Sample> samples, bool in_time) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) {
    values.push_back(in_time ? static_cast<double>(std::real(sample))
                             : 20 * std::log10(static_cast<double>(std::abs(sample))));
  }
  return values;
}

}  // namespace papfft::app
