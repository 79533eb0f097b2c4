// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "app/report/data_range.hpp"
#include "app/report/frame.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {
namespace {

constexpr double kGroupWidth = 0.8;  // of the distance between groups
constexpr double kBarGap = 0.06;     // of a bar, left free between bars

double error_of(const BarSeries& series, std::size_t category) {
  return series.error.empty() ? 0 : series.error[category];
}

/// Three digits, in the axis's unit.
std::string value_label(double value, int exponent10) {
  const double shown = value / std::pow(10.0, exponent10);
  const double magnitude = std::abs(shown);
  if (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e5)) return fmt::format("{:.1e}", shown);
  const int decimals = magnitude >= 100 || magnitude == 0 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3;
  return fmt::format("{}{:.{}f}", shown < 0 ? "−" : "", magnitude, decimals);
}

Range value_range(const BarChart& chart) {
  if (chart.y.range) return usable_range(*chart.y.range, chart.y.scale);
  DataRange data(chart.y.scale);
  const bool log = chart.y.scale == Scale::log;
  if (!log) data.add(0);  // bars stand on zero
  for (const BarSeries& s : chart.series) {
    for (std::size_t i = 0; i < s.values.size(); ++i) {
      if (!data.shows(s.values[i])) continue;
      data.add(s.values[i], error_of(s, i));
      if (!s.interval.empty()) data.add(s.interval[i].hi);
    }
  }
  const Range tight = data.padded(0);
  Range range = data.padded(0.1);
  if (log) {
    range.lo = std::pow(10.0, std::floor(std::log10(tight.lo) - 0.1));  // a bar has a visible length
  } else {
    if (tight.lo >= 0) range.lo = 0;
    if (tight.hi <= 0) range.hi = 0;
  }
  return usable_range(range, chart.y.scale);
}

}  // namespace

Picture draw(const BarChart& chart, const PlotStyle& style, Format format) {
  for (const BarSeries& s : chart.series) {
    if (s.values.size() != chart.categories.size() ||
        (!s.error.empty() && s.error.size() != s.values.size()) ||
        (!s.interval.empty() && s.interval.size() != s.values.size())) {
      throw std::invalid_argument("bar chart: each series needs one value (and error) per category");
    }
  }
  const bool empty = chart.categories.empty() || chart.series.empty();
  FrameContent content;
  content.categories = chart.categories;
  if (chart.categories.empty()) content.categories.emplace_back();  // an axis without numbers
  content.x.label = chart.category_label;
  content.x_range = {-0.5, static_cast<double>(content.categories.size()) - 0.5};
  content.y = chart.y;
  content.y_range = value_range(chart);
  if (chart.series.size() > 1) {
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      content.legend.push_back({chart.series[i].name, {palette_color(i)}, true, {}});
    }
  }
  const Frame frame(style, content);
  const double em = frame.font_px();
  const double slot = empty ? 1 : kGroupWidth / static_cast<double>(chart.series.size());  // in categories
  const double bar_px = slot * (frame.x()(1) - frame.x()(0)) * (1 - kBarGap);
  const double label_size_px = 0.85 * em;

  bool show_values = chart.show_values;
  for (const BarSeries& s : chart.series) {
    for (const double value : s.values) {
      show_values =
          show_values && text_width(value_label(value, frame.y_exponent()), label_size_px) <= bar_px * 1.05;
    }
  }

  const auto canvas = make_canvas(format, style.size, style.title, frame.describe("Bar chart"));
  frame.draw_grid(*canvas);
  const double base = std::clamp(0.0, frame.y().range.lo, frame.y().range.hi);  // on a log axis its lower end
  const double base_px = frame.y()(base);
  canvas->begin_clip(frame.area());
  for (std::size_t k = 0; k < chart.series.size(); ++k) {
    const BarSeries& s = chart.series[k];
    for (std::size_t i = 0; i < s.values.size(); ++i) {
      const double center_px =
          frame.x()(static_cast<double>(i) - kGroupWidth / 2 + slot * (static_cast<double>(k) + 0.5));
      const double value = s.values[i];
      if (!DataRange(chart.y.scale).shows(value)) {
        canvas->text({center_px, base_px - 0.5 * em}, "n/a",
                     {.size_px = label_size_px, .anchor = Anchor::middle, .color = kMuted});
        continue;
      }
      const double value_px = frame.y()(value);
      canvas->rectangle(
          {center_px - bar_px / 2, std::min(value_px, base_px), bar_px, std::abs(value_px - base_px)},
          palette_color(k));
      const double error = error_of(s, i);
      draw_error_bar(*canvas, frame, center_px, value, error, {kText, 0.09 * em});
      const bool up = value >= base;
      const double reach = std::isfinite(error) ? std::abs(error) : 0;
      double end = up ? value + reach : value - reach;
      if (!s.interval.empty()) {
        draw_interval(*canvas, frame, center_px, s.interval[i], {kText, 0.09 * em});
        const double tip = up ? s.interval[i].hi : s.interval[i].lo;
        if (std::isfinite(tip)) end = up ? std::max(end, tip) : std::min(end, tip);
      }
      if (!show_values) continue;
      const double end_px = frame.y()(end);
      canvas->text({center_px, end_px + (up ? -0.4 : 0.4) * em}, value_label(value, frame.y_exponent()),
                   {.size_px = label_size_px,
                    .anchor = Anchor::middle,
                    .baseline = up ? Baseline::alphabetic : Baseline::top});
    }
  }
  canvas->end_clip();
  canvas->line({frame.area().x, base_px}, {frame.area().right(), base_px}, {kFrame, 0.07 * em});
  if (empty) draw_no_data(*canvas, frame);
  frame.draw(*canvas);
  return {canvas->finish(), frame.layout()};
}

}  // namespace papfft::app::report
