// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "app/report/data_range.hpp"
#include "app/report/frame.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {
namespace {

/// After a round through the colours, dashes and other markers tell the series apart: 24 by their lines, 96 by both.
Stroke series_stroke(std::size_t index, double em) {
  static constexpr std::array kDashes = {0.0, 0.5, 1.2};  // in em
  return {palette_color(index), 0.1 * em, kDashes[index / kPaletteColors % kDashes.size()] * em};
}

std::size_t series_marker(std::size_t index) { return (index + index / kPaletteColors) % kMarkerShapes; }

/// Series with error bars at the same places stand a little beside each other, so that the bars do not lie upon each other.
/// @return how far each is from the one before it
double step_aside_px(const LinePlot& plot, double em) {
  constexpr double kStep = 0.4;  // in em
  constexpr double kMost = 2.5;  // of all steps together
  const bool has_bars = std::ranges::any_of(plot.series, [](const Series& s) {
    return !s.error.empty() || std::ranges::any_of(s.interval, [](const Range& r) { return r.lo < r.hi; });
  });
  if (!has_bars || plot.series.size() < 2) return 0;
  return em * std::min(kStep, kMost / static_cast<double>(plot.series.size() - 1));
}

void draw_error_bars(Canvas& canvas, const Series& series, const Frame& frame, const Stroke& stroke,
                     double aside_px) {
  for (std::size_t i = 0; i < series.error.size(); ++i) {
    draw_error_bar(canvas, frame, frame.x()(series.x[i]) + aside_px, series.y[i], series.error[i], stroke);
  }
  for (std::size_t i = 0; i < series.interval.size(); ++i) {
    draw_interval(canvas, frame, frame.x()(series.x[i]) + aside_px, series.interval[i], stroke);
  }
}

void draw_series(Canvas& canvas, const Series& series, const Frame& frame, Stroke stroke, std::size_t marker,
                 double aside_px) {
  std::vector<Point> points;
  points.reserve(series.x.size());
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    points.push_back({frame.x()(series.x[i]) + aside_px, frame.y()(series.y[i])});
  }
  draw_error_bars(canvas, series, frame, stroke, aside_px);
  // A thick line smears dense data into a band.
  if (static_cast<double>(points.size()) > frame.area().width) stroke.width_px *= 0.6;
  for (std::vector<Point>& part : decimate_line(points)) {
    if (part.size() == 1) part.push_back(part.front());
    canvas.polyline(part, stroke);
  }
  if (!series.markers) return;
  for (const Point& p : points) {
    if (std::isfinite(p.x) && std::isfinite(p.y))
      draw_marker(canvas, p, marker, 0.55 * frame.font_px(), stroke.color);
  }
}

}  // namespace

Picture draw(const LinePlot& plot, const PlotStyle& style, Format format) {
  DataRange x_data(plot.x.scale);
  DataRange y_data(plot.y.scale);
  std::size_t point_count = 0;
  bool markers = false;
  for (const Series& s : plot.series) {
    if (s.y.size() != s.x.size() || (!s.error.empty() && s.error.size() != s.x.size()) ||
        (!s.interval.empty() && s.interval.size() != s.x.size())) {
      throw std::invalid_argument("line plot: x, y, error and interval of a series must be of one length");
    }
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!x_data.shows(s.x[i]) || !y_data.shows(s.y[i])) continue;
      ++point_count;
      x_data.add(s.x[i]);
      y_data.add(s.y[i], s.error.empty() ? 0 : s.error[i]);
      if (s.interval.empty()) continue;
      y_data.add(s.interval[i].lo);
      y_data.add(s.interval[i].hi);
    }
    markers = markers || s.markers;
  }

  FrameContent content;
  content.x = plot.x;
  content.y = plot.y;
  content.x_range =
      plot.x.range ? usable_range(*plot.x.range, plot.x.scale) : x_data.padded(markers ? 0.03 : 0);
  content.y_range = plot.y.range ? usable_range(*plot.y.range, plot.y.scale) : y_data.padded(0.05);
  const Frame measure(style, content);
  if (plot.series.size() > 1) {
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      content.legend.push_back({plot.series[i].name, series_stroke(i, measure.font_px()), false, {}});
      if (plot.series[i].markers) content.legend.back().marker = series_marker(i);
    }
  }
  const Frame frame(style, content);
  const auto canvas = make_canvas(format, style.size, style.title,
                                  frame.describe(fmt::format("Line plot of {} points", point_count)));
  frame.draw_grid(*canvas);
  canvas->begin_clip(frame.area());
  const double step_px = step_aside_px(plot, frame.font_px());
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const double aside = static_cast<double>(i) - static_cast<double>(plot.series.size() - 1) / 2;
    draw_series(*canvas, plot.series[i], frame, series_stroke(i, frame.font_px()), series_marker(i),
                aside * step_px);
  }
  canvas->end_clip();
  if (point_count == 0) draw_no_data(*canvas, frame);
  frame.draw(*canvas);
  return {canvas->finish(), frame.layout()};
}

}  // namespace papfft::app::report
