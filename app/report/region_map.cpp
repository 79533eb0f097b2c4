// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "app/report/frame.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {
namespace {

constexpr double kGap_px = 2;         // white between cells
constexpr double kLineHeight = 1.25;  // of captions, in their size
constexpr double kFrame_px = 4;       // thickness of a cell's frame

/// As many of the first lines as fit.
std::vector<std::string> fitting_lines(const std::string& caption, const Rect& cell, double size_px) {
  std::vector<std::string> lines;
  std::istringstream text(caption);
  for (std::string line; std::getline(text, line);) {
    const double height_px = kLineHeight * size_px * static_cast<double>(lines.size() + 1);
    if (text_width(line, size_px) > cell.width || height_px > cell.height) break;
    lines.push_back(line);
  }
  return lines;
}

/// Of each cell.
std::vector<Rgb> colors_of(const RegionMap& map) {
  std::vector<Rgb> colors;
  for (std::size_t i = 0; i < map.captions.size(); ++i) {
    if (map.values.empty()) {
      colors.push_back(map.cells[i] < map.names.size() ? palette_color(map.cells[i]) : kNoData);
      continue;
    }
    const Range& range = *map.value_axis.range;
    const double share = (map.values[i] - range.lo) / (range.hi - range.lo);
    colors.push_back(std::isfinite(map.values[i]) ? blue_to_red(share) : kNoData);
  }
  return colors;
}

void require_cells(const RegionMap& map) {
  const std::size_t count = map.columns.size() * map.rows.size();
  const std::size_t filled = map.values.empty() ? map.cells.size() : map.values.size();
  if (count == 0 || filled != count || map.captions.size() != count)
    throw std::invalid_argument("region map: one cell and one caption per row and column");
  if (map.values.empty()) return;
  if (!map.value_axis.range || !(map.value_axis.range->lo < map.value_axis.range->hi))
    throw std::invalid_argument("region map: values need a range that they are shown in");
}

FrameContent content_of(const RegionMap& map) {
  FrameContent content;
  content.categories = map.columns;
  content.rows = map.rows;
  content.x.label = map.column_label;
  content.y.label = map.row_label;
  content.x_range = {-0.5, static_cast<double>(map.columns.size()) - 0.5};
  content.y_range = {-0.5, static_cast<double>(map.rows.size()) - 0.5};
  if (!map.values.empty()) {
    const Range& range = *map.value_axis.range;
    const auto any = [&](auto beyond) { return std::ranges::any_of(map.values, beyond); };
    content.color_bar = ColorBar{map.value_axis, range, any([&](double v) { return v < range.lo; }),
                                 any([&](double v) { return v > range.hi; }), &blue_to_red};
    return content;
  }
  for (std::size_t i = 0; i < map.names.size(); ++i)
    content.legend.push_back({map.names[i], {palette_color(i)}, true, {}, i / kPaletteColors});
  return content;
}

void draw_caption(Canvas& canvas, const std::string& caption, const Rect& cell, double size_px, Rgb color) {
  const std::vector<std::string> lines = fitting_lines(caption, cell, size_px);
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const double above = static_cast<double>(line) - static_cast<double>(lines.size() - 1) / 2;
    canvas.text({cell.x + cell.width / 2, cell.y + cell.height / 2 + above * kLineHeight * size_px},
                lines[line],
                {.size_px = size_px,
                 .anchor = Anchor::middle,
                 .baseline = Baseline::middle,
                 .color = text_color_on(color)});
  }
}

/// Inside of the cell.
void draw_frame(Canvas& canvas, const Rect& cell) {
  const double in = kFrame_px / 2;
  const std::array<Point, 5> corners = {{{cell.x + in, cell.y + in},
                                         {cell.right() - in, cell.y + in},
                                         {cell.right() - in, cell.bottom() - in},
                                         {cell.x + in, cell.bottom() - in},
                                         {cell.x + in, cell.y + in}}};
  canvas.polyline(corners, {.color = kText, .width_px = kFrame_px});
}

}  // namespace

Picture draw(const RegionMap& map, const PlotStyle& style, Format format) {
  require_cells(map);
  const Frame frame(style, content_of(map));
  const auto canvas = make_canvas(format, style.size, style.title, frame.describe("Region map"));
  const std::vector<Rgb> colors = colors_of(map);
  const std::size_t columns = map.columns.size();
  for (std::size_t i = 0; i < colors.size(); ++i) {
    const std::size_t row = i / columns;
    const auto x = static_cast<double>(i - row * columns);
    const auto y = static_cast<double>(row);
    const Rect cell{frame.x()(x - 0.5) + kGap_px, frame.y()(y + 0.5) + kGap_px,
                    frame.x()(x + 0.5) - frame.x()(x - 0.5) - 2 * kGap_px,
                    frame.y()(y - 0.5) - frame.y()(y + 0.5) - 2 * kGap_px};
    if (cell.width <= 0 || cell.height <= 0) continue;
    canvas->rectangle(cell, colors[i]);
    if (map.values.empty() && map.cells[i] < map.names.size())
      draw_stripes(*canvas, cell, map.cells[i] / kPaletteColors, colors[i]);
    if (std::ranges::find(map.framed, i) != map.framed.end()) draw_frame(*canvas, cell);
    draw_caption(*canvas, map.captions[i], cell, 0.9 * frame.font_px(), colors[i]);
  }
  frame.draw(*canvas);
  return {canvas->finish(), frame.layout()};
}

}  // namespace papfft::app::report
