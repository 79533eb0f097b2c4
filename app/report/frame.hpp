// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/report/canvas.hpp"
#include "app/report/plot.hpp"
#include "app/report/ticks.hpp"

namespace papfft::app::report {

/// Between values and pixels along one axis.
struct Mapping {
  Range range;
  Scale scale = Scale::linear;
  double lo_px = 0;
  double hi_px = 1;

  /// NaN for what the axis cannot show (NaN, or not positive on a log axis); far outside values stay within ±1e6 px.
  [[nodiscard]] double operator()(double value) const;
  /// The value at a fraction of the way from range.lo (0) to range.hi (1).
  [[nodiscard]] double value_at(double fraction) const;
};

/// The symbols that tell series apart without colour.
inline constexpr std::size_t kMarkerShapes = 4;
void draw_marker(Canvas& canvas, Point at, std::size_t shape, double size_px, Rgb color);

/// Lines along a box's upper edge, which tell things of the same colour apart.
void draw_stripes(Canvas& canvas, const Rect& box, std::size_t count, Rgb background);

struct LegendEntry {
  std::string name;
  Stroke stroke;
  bool box = false;                   ///< a filled box instead of a line
  std::optional<std::size_t> marker;  ///< shape drawn on the line
  std::size_t stripes = 0;            ///< of a box
};

struct ColorBar {
  Axis axis;
  Range range;
  bool extends_below = false;  ///< values below range.lo are drawn in the lowest colour
  bool extends_above = false;
  Rgb (*color_at)(double share) = &viridis;  ///< of the way up
};

struct FrameContent {
  Axis x;
  Axis y;
  Range x_range;  ///< usable
  Range y_range;
  std::vector<std::string> categories;  ///< if any: labels at x = 0, 1, ... instead of numbers
  std::vector<std::string> rows;        ///< if any: labels at y = 0, 1, ... instead of numbers
  std::vector<LegendEntry> legend;      ///< drawn between title and axes, so that it never hides data
  std::optional<ColorBar> color_bar;
  std::string note;  ///< small print below the axes
};

/// All of a plot but its data: margins from the extents of the texts, axes, grid, title, legend, colour bar.
/// The constructor makes the layout; nothing is drawn yet, so what depends on pixels can be computed first.
class Frame {
 public:
  Frame(const PlotStyle& style, FrameContent content);

  [[nodiscard]] const Mapping& x() const { return x_; }
  [[nodiscard]] const Mapping& y() const { return y_; }
  [[nodiscard]] const Rect& area() const { return area_; }
  [[nodiscard]] double font_px() const { return font_px_; }
  [[nodiscard]] int y_exponent() const { return y_exponent_; }
  [[nodiscard]] Layout layout() const;
  /// What is shown, in words.
  [[nodiscard]] std::string describe(std::string_view what) const;

  void draw_grid(Canvas& canvas) const;
  /// Frame, ticks, labels, title, legend, colour bar, note.
  void draw(Canvas& canvas) const;

 private:
  [[nodiscard]] bool has_title() const;
  [[nodiscard]] bool has_subtitle() const;
  [[nodiscard]] double note_px() const;
  [[nodiscard]] Stroke frame_stroke() const;

  void draw_box(Canvas& canvas, const Rect& box) const;
  /// Ticks and labels below the axes.
  void draw_numbers(Canvas& canvas) const;
  void draw_categories(Canvas& canvas) const;
  /// @param edge  where it stands
  /// @param side  -1: to the left of it; 1: to the right
  void draw_vertical_axis(Canvas& canvas, const Axis& axis, const Mapping& mapping, int exponent,
                          const Ticks& ticks, double edge, double side) const;
  /// Axis title and note.
  void draw_below(Canvas& canvas) const;
  /// @return where the legend begins, in px from the top
  double draw_titles(Canvas& canvas) const;
  void draw_legend(Canvas& canvas, double row_y) const;
  void draw_color_bar(Canvas& canvas, const ColorBar& bar) const;

  PlotStyle style_;
  FrameContent content_;
  std::vector<std::string> note_lines_;
  double font_px_ = 0;
  int x_exponent_ = 0;
  int y_exponent_ = 0;
  Rect area_;
  Mapping x_;
  Mapping y_;
};

}  // namespace papfft::app::report
