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
constexpr double kLink_px = 1;          // of the first kind; each further one is as much thicker
constexpr double kCaptionSize = 0.8;    // in em
constexpr double kLeastWidth_px = 0.5;  // what is shorter would vanish
constexpr Rgb kMarkColor = kText;
constexpr Rgb kBandColor{0xee, 0xf3, 0xfa};  // pale enough for grey bars and lines upon it
constexpr double kBandGap = 0.06;            // of a row's height, at either end of a band
constexpr std::size_t kLabelledRows = 32;    // of more rows only some have a label

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
  for (const Gantt::Link& link : chart.links) {
    include(link.from);
    include(link.to);
  }
  return range.lo <= range.hi ? range : Range{0, 1};
}

void require_known(const Gantt& chart) {
  const auto in_row = [&](const auto& item) { return item.row < chart.rows.size(); };
  const bool bars_known = std::ranges::all_of(
      chart.bars, [&](const Gantt::Bar& bar) { return in_row(bar) && bar.kind < chart.kinds.size(); });
  const bool links_known = std::ranges::all_of(chart.links, [&](const Gantt::Link& link) {
    return std::max(link.from_row, link.to_row) < chart.rows.size() && link.kind < chart.link_kinds.size();
  });
  const bool bands_known = std::ranges::all_of(chart.bands, [&](const Gantt::Band& band) {
    return band.first_row <= band.last_row && band.last_row < chart.rows.size();
  });
  if (!bars_known || !links_known || !bands_known || !std::ranges::all_of(chart.marks, in_row))
    throw std::invalid_argument("gantt: a bar, a mark, a link or a band of no row, or of no kind");
}

double link_width_px(std::size_t kind) { return kLink_px * static_cast<double>(kind + 1); }

std::vector<LegendEntry> legend(const Gantt& chart) {
  std::vector<LegendEntry> entries;
  for (const Gantt::Kind& kind : chart.kinds) entries.push_back({kind.name, {kind.color}, true, {}});
  for (std::size_t i = 0; i < chart.link_kinds.size(); ++i) {
    entries.push_back({chart.link_kinds[i].name, {chart.link_kinds[i].color, link_width_px(i)}, false, {}});
  }
  if (!chart.mark_name.empty()) entries.push_back({chart.mark_name, {kMarkColor, kMark_px}, false, {}});
  return entries;
}

/// Where a bar is; no width if it cannot be shown.
Rect place_of(const Gantt::Bar& bar, const Frame& frame, double row_px) {
  const double left = std::max(frame.x()(bar.span.lo), frame.area().x);
  const double right = std::min(frame.x()(bar.span.hi), frame.area().right());
  if (!(right >= left)) return {};  // not finite, the wrong way around, or beside the picture
  const double lower = frame.y()(static_cast<double>(bar.row)) + kBarShare * row_px / 2;
  return {left, lower - bar.across.hi * kBarShare * row_px, std::max(right - left, kLeastWidth_px),
          (bar.across.hi - bar.across.lo) * kBarShare * row_px};
}

void draw_caption(Canvas& canvas, const Gantt::Bar& bar, const Rect& place, Rgb background, double em) {
  const double size_px = kCaptionSize * em;
  if (bar.caption.empty() || place.height < size_px ||
      text_width(bar.caption, size_px) + 0.6 * em > place.width) {
    return;
  }
  canvas.text({place.x + 0.3 * em, place.y + place.height / 2}, bar.caption,
              {.size_px = size_px, .baseline = Baseline::middle, .color = text_color_on(background)});
}

/// From half a row below its first row to half a row above its last.
Rect place_of(const Gantt::Band& band, const Frame& frame) {
  const double top = frame.y()(static_cast<double>(band.last_row) + 0.5 - kBandGap);
  const double bottom = frame.y()(static_cast<double>(band.first_row) - 0.5 + kBandGap);
  return {frame.area().x, top, frame.area().width, bottom - top};
}

void draw_boxes(Canvas& canvas, const Gantt& chart, const Frame& frame) {
  for (const Gantt::Band& band : chart.bands) {
    const Rect box = place_of(band, frame);
    const double right = box.right();
    canvas.rectangle(box, kBandColor);
    for (const double y : {box.y, box.bottom()}) canvas.line({box.x, y}, {right, y}, {kMuted, 0.5});
  }
}

/// Upon everything else. Where bands are lower than a line of text, only some have their names.
void draw_names(Canvas& canvas, const Gantt& chart, const Frame& frame) {
  const double size_px = kCaptionSize * frame.font_px();
  double free_below = frame.area().bottom();
  for (const Gantt::Band& band : chart.bands) {
    const Rect box = place_of(band, frame);
    const double middle = box.y + box.height / 2;
    if (middle + size_px / 2 > free_below) continue;
    canvas.text({box.right() - 0.3 * size_px, middle}, band.name,
                {.size_px = size_px, .anchor = Anchor::end, .baseline = Baseline::middle, .color = kMuted});
    free_below = middle - size_px / 2;
  }
}

}  // namespace

Picture draw(const Gantt& chart, const PlotStyle& style, Format format) {
  require_known(chart);
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
  content.legend = legend(chart);
  content.note = style.note;
  const Frame frame(style, content);
  const auto canvas = make_canvas(format, style.size, style.title, frame.describe("Gantt chart"));
  frame.draw_grid(*canvas);
  canvas->begin_clip(frame.area());
  draw_boxes(*canvas, chart, frame);
  const double row_px = std::abs(frame.y()(1) - frame.y()(0));
  for (const Gantt::Bar& bar : chart.bars) {
    const Rect place = place_of(bar, frame, row_px);
    if (place.width <= 0) continue;
    canvas->rectangle(place, chart.kinds[bar.kind].color);
    draw_caption(*canvas, bar, place, chart.kinds[bar.kind].color, frame.font_px());
  }
  for (std::size_t kind = 0; kind < chart.link_kinds.size(); ++kind) {
    for (const Gantt::Link& link : chart.links) {
      if (link.kind != kind || !std::isfinite(link.from) || !std::isfinite(link.to)) continue;
      canvas->line({frame.x()(link.from), frame.y()(static_cast<double>(link.from_row))},
                   {frame.x()(link.to), frame.y()(static_cast<double>(link.to_row))},
                   {chart.link_kinds[kind].color, link_width_px(kind)});
    }
  }
  for (const Gantt::Mark& mark : chart.marks) {
    if (!std::isfinite(mark.at)) continue;
    const double at = frame.x()(mark.at);
    const double middle = frame.y()(static_cast<double>(mark.row));
    if (mark.across) {
      const Rect place = place_of({mark.row, {mark.at, mark.at}, 0, *mark.across, ""}, frame, row_px);
      canvas->line({at, place.y}, {at, place.bottom()}, {kMarkColor, 0.6 * kMark_px});
    } else {
      canvas->line({at, middle - row_px / 2}, {at, middle + row_px / 2}, {kMarkColor, kMark_px});
    }
  }
  draw_names(*canvas, chart, frame);
  canvas->end_clip();
  frame.draw(*canvas);
  return {canvas->finish(), frame.layout()};
}

}  // namespace papfft::app::report
