// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "app/report/data_range.hpp"
#include "app/report/frame.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {
namespace {

constexpr std::size_t kColors = 255;  // the palette's last entry is for cells without a value

/// Cells along one axis of the matrix.
struct Cells {
  std::size_t count;
  Range edges;
  [[nodiscard]] double width() const { return (edges.hi - edges.lo) / static_cast<double>(count); }
};

void require_ascending(const Range& edges) {
  if (!(std::isfinite(edges.lo) && std::isfinite(edges.hi) && edges.lo < edges.hi)) {
    throw std::invalid_argument("heat map: edges must be finite and ascending");
  }
}

/// The part of the cells that the axis shows.
Range view(const Axis& axis, const Cells& cells) {
  Range shown = cells.edges;
  if (axis.range) {
    shown = {std::max(axis.range->lo, cells.edges.lo), std::min(axis.range->hi, cells.edges.hi)};
    if (!(shown.lo < shown.hi))
      throw std::invalid_argument("heat map: the range to show lies outside the matrix");
  }
  if (axis.scale == Scale::log && shown.lo <= 0) {
    if (shown.hi <= 0) throw std::invalid_argument("heat map: nothing to show on a logarithmic axis");
    // Zero is infinitely far down: begin at the first cell edge above it (a spectrum without its mean).
    if (cells.count > 0) {
      shown.lo = cells.edges.lo + cells.width() * (std::floor(-cells.edges.lo / cells.width() + 1e-6) + 1);
    }
    if (shown.lo <= 0 || shown.lo >= shown.hi) shown.lo = shown.hi / 10;
  }
  return usable_range(shown, axis.scale);
}

/// The cells behind each pixel along one axis, in the axis's direction; as few pixels as show all there is to see.
std::vector<CellRange> cells_behind_axis(const Cells& cells, const Mapping& mapping, double scale) {
  const auto coordinate = [&](double value) { return (value - cells.edges.lo) / cells.width(); };
  double pixels = std::max(1.0, std::round(std::abs(mapping.hi_px - mapping.lo_px) * scale));
  if (mapping.scale == Scale::linear) {
    const double first = coordinate(mapping.range.lo);
    const double last = coordinate(mapping.range.hi);
    // Whole cells only: a partly shown one needs pixels smaller than itself.
    const bool whole = std::abs(first - std::round(first)) + std::abs(last - std::round(last)) < 1e-6;
    if (whole) pixels = std::min(pixels, std::round(last - first));
  }
  std::vector<double> edges;
  for (int i = 0; i <= static_cast<int>(pixels); ++i)
    edges.push_back(coordinate(mapping.value_at(i / pixels)));
  return cells_behind(edges, cells.count);
}

struct Pixels {
  std::size_t rows;
  std::size_t cols;
  std::vector<float> values;  // bottom row first
  std::size_t row_cells;      // most that one pixel pools
  std::size_t col_cells;
};

Pixels pool_to_pixels(const HeatMap& map, const Cells& rows, const Cells& cols, const Frame& frame,
                      double scale) {
  const auto row_cells = cells_behind_axis(rows, frame.y(), scale);
  const auto col_cells = cells_behind_axis(cols, frame.x(), scale);
  const auto most = [](const std::vector<CellRange>& ranges) {
    std::size_t count = 0;
    for (const CellRange& range : ranges) count = std::max(count, range.end - range.begin);
    return count;
  };
  return {row_cells.size(), col_cells.size(), pool(map.values, row_cells, col_cells, map.pooling),
          most(row_cells), most(col_cells)};
}

/// From so far below zero to as far above.
ColorBar signed_color_bar(const Axis& axis, const std::vector<float>& pixels) {
  float most = 0;
  for (const float v : pixels) most = std::isfinite(v) ? std::max(most, std::abs(v)) : most;
  const double reach = most > 0 ? most : 1;
  return {axis, usable_range({-reach, reach}, Scale::linear), false, false, &blue_to_red};
}

ColorBar color_bar(const Axis& axis, const std::vector<float>& pixels) {
  std::vector<float> finite;
  finite.reserve(pixels.size());
  std::copy_if(pixels.begin(), pixels.end(), std::back_inserter(finite),
               [](float v) { return std::isfinite(v); });
  if (finite.empty())
    return {axis, usable_range(axis.range.value_or(Range{0, 1}), Scale::linear), false, false};
  const auto [least, largest] = std::minmax_element(finite.begin(), finite.end());
  const float lo = *least;
  const float hi = *largest;
  Range range = axis.range.value_or(Range{lo, hi});
  if (!axis.range) {
    const auto percentile = finite.begin() + static_cast<std::ptrdiff_t>(finite.size() / 100);
    std::nth_element(finite.begin(), percentile, finite.end());
    if (*percentile < hi) range.lo = *percentile;
  }
  range = usable_range(range, Scale::linear);
  return {axis, range, lo<range.lo, hi> range.hi};
}

IndexedImage colored(const Pixels& pixels, const ColorBar& bar) {
  const Range& range = bar.range;
  IndexedImage image{pixels.cols, pixels.rows, {}, {}};
  for (std::size_t i = 0; i < kColors; ++i)
    image.palette.push_back(bar.color_at(static_cast<double>(i) / (kColors - 1)));
  image.palette.push_back(kNoData);
  image.index.reserve(pixels.values.size());
  for (std::size_t row = pixels.rows; row-- > 0;) {
    for (std::size_t col = 0; col < pixels.cols; ++col) {
      const double value = pixels.values[row * pixels.cols + col];
      const double t = std::clamp((value - range.lo) / (range.hi - range.lo), 0.0, 1.0);
      image.index.push_back(std::isfinite(value) ? static_cast<std::uint8_t>(std::lround(t * (kColors - 1)))
                                                 : static_cast<std::uint8_t>(kColors));
    }
  }
  return image;
}

std::string note(const Pixels& pixels, Pooling pooling) {
  const bool pools = pixels.row_cells > 1 || pixels.col_cells > 1;
  const bool grey =
      std::any_of(pixels.values.begin(), pixels.values.end(), [](float v) { return std::isnan(v); });
  if (!pools && !grey) return " ";  // keeps the line's room: the layout must not depend on the values
  if (!pools) return "Grey: no value";
  return fmt::format("Each pixel shows the {} of up to {} × {} values (across × up){}",
                     pooling == Pooling::max ? "maximum" : "mean", pixels.col_cells, pixels.row_cells,
                     grey ? "; grey: no value" : "");
}

}  // namespace

Picture draw(const HeatMap& map, const PlotStyle& style, Format format) {
  require_ascending(map.x_edges);
  require_ascending(map.y_edges);
  const Cells rows{map.values.rows, map.y_edges};
  const Cells cols{map.values.cols, map.x_edges};
  const bool empty = rows.count == 0 || cols.count == 0;

  FrameContent content;
  content.x = map.x;
  content.y = map.y;
  content.x_range = view(map.x, cols);
  content.y_range = view(map.y, rows);
  Axis color = map.color;
  color.scale = Scale::linear;
  const auto bar_of = [&](const std::vector<float>& values) {
    return map.signed_values ? signed_color_bar(color, values) : color_bar(color, values);
  };
  const auto note_of = [&](const Pixels& p) {
    const std::string pooled = note(p, map.pooling);
    return style.note.empty() ? pooled : pooled == " " ? style.note : pooled + ". " + style.note;
  };
  content.color_bar = bar_of({});
  content.note = note_of({});
  Frame frame(style, content);
  Pixels pixels{};
  // The colour range needs the pooled values, those the layout, and that, if labels are unusually wide, the colour
  // range: so at most twice.
  for (bool settled = empty; !settled;) {
    const Rect before = frame.area();
    pixels = pool_to_pixels(map, rows, cols, frame, style.size.scale);
    content.color_bar = bar_of(pixels.values);
    content.note = note_of(pixels);
    frame = Frame(style, content);
    settled = frame.area().width >= before.width && frame.area().height >= before.height;
  }

  const auto canvas =
      make_canvas(format, style.size, style.title,
                  frame.describe(fmt::format("Heat map of {} × {} values", rows.count, cols.count)));
  if (empty) {
    draw_no_data(*canvas, frame);
  } else {
    canvas->image(frame.area(), colored(pixels, *content.color_bar));
  }
  frame.draw(*canvas);
  return {canvas->finish(), frame.layout()};
}

}  // namespace papfft::app::report
