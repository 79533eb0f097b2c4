// SPDX-License-Identifier: MIT
#include "app/jobs/transform_output.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "app/jobs/sample_job.hpp"

namespace papfft::app {

const char* axis_name(const TransformOptions& options, const TransformPlan& plan) {
  const bool knows_rate = plan.rate_hz > 0;
  if (options.inverse) return knows_rate ? "time_s" : "sample";
  return knows_rate ? "frequency_hz" : "bin";
}

std::vector<double> axis_values(const TransformOptions& options, const TransformPlan& plan,
                                std::uint64_t length) {
  double step = 1;
  if (plan.rate_hz > 0) {
    step = options.inverse ? 1 / plan.rate_hz : plan.rate_hz / static_cast<double>(plan.length);
  }
  std::vector<double> values(length);
  for (std::size_t i = 0; i < length; ++i) values[i] = static_cast<double>(i) * step;
  return values;
}

void draw_result(const std::string& path, const TransformOptions& options, const TransformPlan& plan,
                 std::vector<double> y, bool two_sided) {
  const bool knows_rate = plan.rate_hz > 0;
  report::LinePlot plot;
  report::Series series{.x = axis_values(options, plan, y.size()), .y = std::move(y)};
  if (options.inverse) {
    plot.x = {.label = knows_rate ? "Time" : "Sample", .unit = knows_rate ? "s" : ""};
    plot.y = {.label = "Value", .unit = ""};
  } else {
    plot.x = {.label = knows_rate ? "Frequency" : "Bin", .unit = knows_rate ? "Hz" : ""};
    plot.y = {.label = "Magnitude", .unit = "dB"};
  }
  if (!options.inverse && two_sided) {  // negative frequencies belong on the left
    const std::size_t n = series.x.size();
    const std::size_t first_negative = (n + 1) / 2;
    const double step = n > 1 ? series.x[1] : 1;
    for (std::size_t i = first_negative; i < n; ++i) series.x[i] -= static_cast<double>(n) * step;
    for (std::vector<double>* values : {&series.x, &series.y}) {
      std::rotate(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(first_negative),
                  values->end());
    }
  }
  plot.series.push_back(std::move(series));
  write_picture(path, plot, options.io);
}

}  // namespace papfft::app
