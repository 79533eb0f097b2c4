// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

#include "app/report/frame.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {
namespace {

constexpr double kGap_px = 2;         // white between cells
constexpr double kLineHeight = 1.25;  // of captions, in their size

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

}  // namespace

Picture draw(const RegionMap& map, const PlotStyle& style, Format format) {
  const std::size_t columns = map.columns.size();
  const std::size_t count = columns * map.rows.size();
  if (count == 0 || map.cells.size() != count || map.captions.size() != count) {
    throw std::invalid_argument("region map: one cell and one caption per row and column");
  }
  FrameContent content;
  content.categories = map.columns;
  content.rows = map.rows;
  content.x.label = map.column_label;
  content.y.label = map.row_label;
  content.x_range = {-0.5, static_cast<double>(columns) - 0.5};
  content.y_range = {-0.5, static_cast<double>(map.rows.size()) - 0.5};
  for (std::size_t i = 0; i < map.names.size(); ++i) {
    content.legend.push_back({map.names[i], {palette_color(i)}, true, {}, i / kPaletteColors});
  }
  const Frame frame(style, content);
  const auto canvas = make_canvas(format, style.size, style.title, frame.describe("Region map"));
  const double size_px = 0.9 * frame.font_px();
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t i = row * columns + column;
      const auto x = static_cast<double>(column);
      const auto y = static_cast<double>(row);
      const Rect cell{frame.x()(x - 0.5) + kGap_px, frame.y()(y + 0.5) + kGap_px,
                      frame.x()(x + 0.5) - frame.x()(x - 0.5) - 2 * kGap_px,
                      frame.y()(y - 0.5) - frame.y()(y + 0.5) - 2 * kGap_px};
      const Rgb color = map.cells[i] < map.names.size() ? palette_color(map.cells[i]) : kNoData;
      if (cell.width <= 0 || cell.height <= 0) continue;
      canvas->rectangle(cell, color);
      if (map.cells[i] < map.names.size()) draw_stripes(*canvas, cell, map.cells[i] / kPaletteColors, color);
      const std::vector<std::string> lines = fitting_lines(map.captions[i], cell, size_px);
      for (std::size_t line = 0; line < lines.size(); ++line) {
        const double above = static_cast<double>(line) - static_cast<double>(lines.size() - 1) / 2;
        canvas->text({cell.x + cell.width / 2, cell.y + cell.height / 2 + above * kLineHeight * size_px},
                     lines[line],
                     {.size_px = size_px,
                      .anchor = Anchor::middle,
                      .baseline = Baseline::middle,
                      .color = text_color_on(color)});
      }
    }
  }
  frame.draw(*canvas);
  return {canvas->finish(), frame.layout()};
}

}  // namespace papfft::app::report
