// SPDX-License-Identifier: MIT
// The sizes of a frame's parts, and what fits into them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/frame.hpp"
#include "app/report/ticks.hpp"

namespace papfft::app::report {

// Sizes in em of the tick labels' font.
inline constexpr double kPad = 0.9;
inline constexpr double kTitleSize = 1.35;
inline constexpr double kLeastTitle = 0.7;  // of that
inline constexpr double kTitleHeight = 2.3;
inline constexpr double kSubtitleHeight = 1.6;
inline constexpr double kAxisTitleSize = 1.1;
inline constexpr double kAxisTitleHeight = 1.9;
inline constexpr double kTick = 0.42;
inline constexpr double kMinorTick = 0.22;
inline constexpr double kLabelGap = 0.35;
inline constexpr double kNoteSize = 0.8;
inline constexpr double kNoteHeight = 1.25;
inline constexpr std::size_t kMostNoteLines = 4;
inline constexpr double kLegendRow = 1.7;
inline constexpr double kLegendLine = 2.0;
inline constexpr double kLegendBox = 1.2;
inline constexpr double kLegendGap = 0.5;
inline constexpr double kLegendSpacing = 1.8;
inline constexpr double kBarGap = 1.3;
inline constexpr double kBarWidth = 1.3;
inline constexpr double kCategorySlope_deg = -35;
inline constexpr double kCategoryLongest = 13;

/// The text, with its end cut off ("…") where it is wider than allowed.
[[nodiscard]] std::string shortened(std::string_view text, double size_px, bool bold, double max_px);

/// The text's words in lines of at most so much each; a word wider than that gets a line of its own, and what does not fit into
/// kMostNoteLines makes the last one too long.
[[nodiscard]] std::vector<std::string> wrapped(const std::string& text, double size_px, double max_px);

[[nodiscard]] double widest(const std::vector<Tick>& ticks, double size_px);

/// The densest ticks whose labels do not touch each other.
[[nodiscard]] Ticks fitting_ticks(const Axis& axis, const Mapping& mapping, int exponent, bool horizontal,
                                  double font_px);

/// Ticks of the left axis: the named rows, or numbers.
[[nodiscard]] Ticks left_ticks(const FrameContent& content, const Mapping& mapping, int exponent,
                               double font_px);

/// Names of categories stand sloped where they would not fit beside each other.
[[nodiscard]] bool must_slope(const std::vector<std::string>& categories, double slot_px, double font_px);
[[nodiscard]] double slope_sin();

/// Entries by row, so that no row is wider than `max_px`.
[[nodiscard]] std::vector<std::vector<LegendEntry>> legend_rows(const std::vector<LegendEntry>& entries,
                                                                double font_px, double max_px);

/// Of what is as wide as the axes, while their place is not known yet.
[[nodiscard]] double full_width(const PlotStyle& style, double font_px);

}  // namespace papfft::app::report
