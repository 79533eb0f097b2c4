// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/report/canvas.hpp"
#include "app/report/decimate.hpp"
#include "app/report/ticks.hpp"

/// The program's pictures: a plot is described as data and drawn as PNG or SVG, alike in both.
///
///   HeatMap map;
///   map.values = MatrixView(levels_db, bins, frames);            // row = frequency, column = time
///   map.x = {.label = "Time", .unit = "s"};            map.x_edges = {0, duration_s};
///   map.y = {.label = "Frequency", .unit = "Hz"};      map.y_edges = {0, rate_hz / 2};
///   map.color = {.label = "Level", .unit = "dB"};
///   write_file("out.png", draw(map, {.title = "bat.wav"}, Format::png).bytes);
namespace papfft::app::report {

// Every member has a default, so that designated initialisers may name just some (-Wmissing-field-initializers).
struct Axis {
  std::string label = {};
  std::string unit =
      {};  ///< of the values passed, e.g. "s", "Hz", "dB"; s, Hz, B, ... get prefixes (ms, kHz) as needed
  Scale scale = Scale::linear;
  std::optional<Range> range = {};  ///< what to show; default: all data with a little room
  bool whole = false;               ///< only whole numbers are marked (linear axes)
  bool binary = false;              ///< powers of two are marked (log axes), of bytes as KiB, MiB, ...
  std::vector<double> marks =
      {};  ///< if any: these are marked instead, powers of two before others where room is short
};

struct PlotStyle {
  PictureSize size = {};
  std::string title = {};
  std::string subtitle = {};
  bool heading = true;  ///< title and subtitle are drawn; an SVG's are there in any case, for screen readers
  std::string note = {};  ///< small print below the axes of plots that have none of their own
  double font_px = 0;     ///< of tick labels; 0: 17 px at 1200 × 800 and in proportion, but at least 9
};

/// Where things are in a drawn picture, in pixels before scaling; a PNG's pixels are `scale` times these.
struct Layout {
  Rect axes = {};         ///< inside of the frame
  Rect color_bar = {};    ///< inside of the colour bar; empty if there is none
  Range x = {};           ///< shown at the left and right edge of `axes`
  Range y = {};           ///< shown at its bottom and top
  Range color = {};       ///< at the bottom and top of the colour bar
  std::string note = {};  ///< small print below the axes, e.g. what a pixel pools; may be empty
};

struct Picture {
  std::string bytes = {};  ///< of a whole .png or .svg file
  Layout layout = {};
};

/// A matrix as colours: viridis, as for spectrograms, or blue and red for below and above zero. Cells without a finite value are
/// grey.
struct HeatMap {
  MatrixView values = {};  ///< row r up the y axis, column c along the x axis; `transposed()` costs nothing
  Axis x = {};
  Axis y = {};
  Range x_edges = {};  ///< x of the left edge of column 0 and of the right edge of the last column; lo < hi
  Range y_edges = {};  ///< y of the lower edge of row 0 and of the upper edge of the last row; lo < hi
  /// The values. Default range: from the first percentile of what is drawn to its maximum (deep nulls would waste the
  /// colours); values beyond take the end's colour, which a pointed end of the colour bar tells. Always linear.
  Axis color = {};
  Pooling pooling = Pooling::max;  ///< when there are more cells than pixels
  bool signed_values =
      false;  ///< colours show by how much values are above or below zero, whose colour is white
};

/// One line. Points with NaN or infinity (or not positive on a log axis) are gaps.
struct Series {
  std::string name = {};
  std::vector<double> x = {};
  std::vector<double> y = {};        ///< as many as x
  std::vector<double> error = {};    ///< half length of error bars, as many as x; empty: none
  std::vector<Range> interval = {};  ///< bars from lo to hi instead, as many as x; empty: none
  bool markers = false;              ///< a symbol at each point, of a shape of its own for each series
};

struct LinePlot {
  std::vector<Series> series = {};
  Axis x = {};
  Axis y = {};
};

struct BarSeries {
  std::string name = {};
  std::vector<double> values = {};   ///< one per category; not finite: drawn as "n/a"
  std::vector<double> error = {};    ///< half length of error bars, one per category; empty: none
  std::vector<Range> interval = {};  ///< bars from lo to hi instead, one per category; empty: none
};

/// Groups of bars, one group per category, one bar per series in each.
struct BarChart {
  std::vector<std::string> categories = {};
  std::vector<BarSeries> series = {};
  std::string category_label = {};
  Axis y = {};
  bool show_values = true;  ///< write the value over each bar where it fits
};

/// Which of several things is there in each cell of a table, such as the best algorithm for a size and a number of ranks; or a
/// number in each cell.
struct RegionMap {
  std::vector<std::string> columns = {};
  std::vector<std::string> rows = {};  ///< the lowest first
  std::string column_label = {};
  std::string row_label = {};
  std::vector<std::string> names = {};  ///< of the things
  std::vector<std::size_t> cells =
      {};  ///< [row * columns + column]: index into names; beyond: nothing is known
  /// As many as cells: lines, of which those that fit are written into the cell.
  std::vector<std::string> captions = {};
  /// If any, as many as cells: the cells show these by colours from blue over white to red, and not which thing is there. NaN:
  /// nothing is known.
  std::vector<double> values = {};
  Axis value_axis = {};                  ///< needs a range: the middle of it is white
  std::vector<std::size_t> framed = {};  ///< cells with a thick frame
};

/// What each of several rows (ranks) did when: bars from lo to hi, marks at single points, and lines from row to row.
struct Gantt {
  struct Kind {
    std::string name = {};  ///< for the legend
    Rgb color = {};
  };
  struct Bar {
    std::size_t row = 0;
    Range span = {};
    std::size_t kind = 0;  ///< index into `kinds`
    Range across = {};  ///< of the height that bars have in a row, from its lower edge (0) to its upper (1)
    std::string caption = {};  ///< written into the bar where it fits
  };
  struct Mark {
    std::size_t row = 0;
    double at = 0;
    std::optional<Range> across = {};  ///< as that of bars; default: from row to row
  };
  struct Link {
    std::size_t from_row = 0;
    double from = 0;
    std::size_t to_row = 0;
    double to = 0;
    std::size_t kind = 0;  ///< index into `link_kinds`
  };
  /// Neighbouring rows that belong together, such as the ranks of a host: a box behind them with its name at the right.
  struct Band {
    std::size_t first_row = 0;
    std::size_t last_row = 0;
    std::string name = {};
  };
  std::vector<std::string> rows = {};  ///< the lowest first
  std::vector<Band> bands = {};        ///< from the lowest row on
  std::vector<Kind> kinds = {};        ///< of bars
  std::vector<Bar> bars = {};          ///< later ones lie upon earlier ones
  std::string mark_name = {};          ///< for the legend; empty: no marks
  std::vector<Mark> marks = {};
  std::vector<Kind> link_kinds = {};  ///< later ones are drawn upon earlier ones, and thicker
  std::vector<Link> links = {};
  std::string row_label = {};
  Axis x = {};
};

/// Draws a plot. Empty, constant and 1 × 1 data give sensible axes.
///
/// @throws std::invalid_argument  arrays of one plot differ in length, edges are not ascending, the picture's size is
///                                out of bounds (see make_canvas), or a heat map's log axis shows nothing positive.
/// @throws std::runtime_error     the picture could not be encoded (out of memory).
[[nodiscard]] Picture draw(const HeatMap& map, const PlotStyle& style, Format format);
[[nodiscard]] Picture draw(const LinePlot& plot, const PlotStyle& style, Format format);
[[nodiscard]] Picture draw(const BarChart& chart, const PlotStyle& style, Format format);
[[nodiscard]] Picture draw(const RegionMap& map, const PlotStyle& style, Format format);
[[nodiscard]] Picture draw(const Gantt& chart, const PlotStyle& style, Format format);

}  // namespace papfft::app::report
