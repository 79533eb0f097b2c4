// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "app/report/plot.hpp"

namespace papfft::app::report {

/// A heat map with its values.
struct OwnHeatMap {
  std::vector<float> values = {};  ///< row-major
  std::size_t rows = 0;
  std::size_t columns = 0;
  HeatMap map = {};  ///< but its values
};

inline constexpr PictureSize kFigureSize{.width_px = 960, .height_px = 540};

/// A plot with all that is written around it: what a page shows, and what becomes a file.
struct Figure {
  std::string name = {};      ///< for a file or an anchor: letters, digits and '-'
  std::string title = {};     ///< what is shown of what: operation, sizes, ranks, delays
  std::string subtitle = {};  ///< in what it differs from others of its kind; may be empty
  std::string note = {};      ///< small print: the conditions, and what the whiskers are
  std::variant<LinePlot, BarChart, RegionMap, Gantt, OwnHeatMap> plot = {};
  PictureSize size = kFigureSize;
};

/// Where a figure's title stands.
enum class Heading { in_picture, beside };

[[nodiscard]] Picture draw(const Figure& figure, Format format, Heading heading = Heading::in_picture);
/// All that a caption says: the title, and in brackets the subtitle.
[[nodiscard]] std::string caption_of(const Figure& figure);

/// 8388608 -> "8 MiB", 1000 -> "1000 B".
[[nodiscard]] std::string size_text(std::int64_t bytes);
/// "1" -> "1 core", "2" -> "2 cores".
[[nodiscard]] std::string cores_text(const std::string& count);
/// 0.0123 -> "12.3 ms".
[[nodiscard]] std::string time_text(double seconds);

}  // namespace papfft::app::report
