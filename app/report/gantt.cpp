// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "app/report/data_range.hpp"
#include "app/report/frame.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {
namespace {

constexpr double kBarShare = 0.7;  // of a row's height
constexpr double kMark_px = 2.5;
constexpr Rgb kMarkColor = kText;
constexpr std::size_t kLabelledRows = 32;  // of more rows only some have a label

Range x_range(const Gantt& chart) {
  if (chart.x.range) return *chart.x.range;
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  const auto include = [&](double x) {
    if (!std::isfinite(x)) return;
    range = {std::min(range.lo, x), std::max(range.hi, x)};
  };
  for (const Gantt::Bar& bar : chart.bars) {
    include(bar.span.lo);
    include(bar.span.hi);
  }
  for (const Gantt::Mark& mark : chart.marks) include(mark.at);
  return range.lo <= range.hi ? range : Range{0, 1};
}

}  // namespace

Picture draw(const Gantt& chart, const PlotStyle& style, Format format) {
  const auto is_known = [&](const auto& item) { return item.row < chart.rows.size(); };
  if (!std::ranges::all_of(chart.bars, is_known) || !std::ranges::all_of(chart.marks, is_known) ||
      std::ranges::any_of(chart.bars,
                          [&](const Gantt::Bar& bar) { return bar.kind >= chart.kinds.size(); })) {
    throw std::invalid_argument("gantt: a bar or a mark of no row, or of no kind");
  }
  FrameContent content;
  content.x = chart.x;
  content.x.scale = Scale::linear;
  content.x_range = usable_range(x_range(chart), Scale::linear);
  content.y.label = chart.row_label;
  content.y_range = {-0.5, std::max(1.0, static_cast<double>(chart.rows.size())) - 0.5};
  content.rows = chart.rows;
  const std::size_t step = (chart.rows.size() + kLabelledRows - 1) / kLabelledRows;
  for (std::size_t i = 0; i < content.rows.size(); ++i) {
    if (i % step != 0) content.rows[i].clear();
  }
  for (std::size_t i = 0; i < chart.kinds.size(); ++i) {
    content.legend.push_back({chart.kinds[i], {palette_color(i)}, true, {}});
  }
  if (!chart.mark_name.empty())
    content.legend.push_back({chart.mark_name, {kMarkColor, kMark_px}, false, {}});
  content.note = style.note;
  const Frame frame(style, content);
  const auto canvas = make_canvas(format, style.size, style.title, frame.describe("Gantt chart"));
  frame.draw_grid(*canvas);
  canvas->begin_clip(frame.area());
  const double row_px = std::abs(frame.y()(1) - frame.y()(0));
  for (const Gantt::Bar& bar : chart.bars) {
    const double left = frame.x()(bar.span.lo);
    const double right = frame.x()(bar.span.hi);
    if (!(right >= left)) continue;  // not finite, or the wrong way around
    const double middle = frame.y()(static_cast<double>(bar.row));
    canvas->rectangle({left, middle - kBarShare * row_px / 2, right - left, kBarShare * row_px},
                      palette_color(bar.kind));
  }
  for (const Gantt::Mark& mark : chart.marks) {
    if (!std::isfinite(mark.at)) continue;
    const double middle = frame.y()(static_cast<double>(mark.row));
    canvas->line({frame.x()(mark.at), middle - row_px / 2}, {frame.x()(mark.at), middle + row_px / 2},
                 {kMarkColor, kMark_px});
  }
  canvas->end_clip();
  frame.draw(*canvas);
  return {canvas->finish(), frame.layout()};
}

}  // namespace papfft::app::report
