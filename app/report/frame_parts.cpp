// SPDX-License-Identifier: MIT
#include "app/report/frame_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <sstream>

namespace papfft::app::report {
namespace {

/// Those of the values whose labels do not touch each other, and the rest without labels.
Ticks chosen_ticks(const std::vector<double>& values, const Mapping& mapping, bool horizontal,
                   double font_px) {
  const auto span = [&](const Tick& tick) {
    const double half = horizontal ? text_width(tick.label, font_px) / 2 + 0.4 * font_px : 0.7 * font_px;
    return Range{mapping(tick.value) - half, mapping(tick.value) + half};
  };
  Ticks ticks;
  for (const bool powers_of_two : {true, false}) {
    for (const double value : values) {
      const double power = std::log2(value);
      if ((power == std::round(power)) != powers_of_two) continue;
      const Tick tick{value, fmt::format("{:g}", value)};
      const Range mine = span(tick);
      const bool free = std::none_of(ticks.major.begin(), ticks.major.end(), [&](const Tick& other) {
        return mine.lo < span(other).hi && span(other).lo < mine.hi;
      });
      if (free)
        ticks.major.push_back(tick);
      else
        ticks.minor.push_back(value);
    }
  }
  return ticks;
}

}  // namespace

std::string shortened(std::string_view text, double size_px, bool bold, double max_px) {
  std::string whole = clean_text(text);
  if (text_width(whole, size_px, bold) <= max_px) return whole;
  std::vector<std::size_t> cuts;  // before each character
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if ((static_cast<unsigned char>(whole[i]) & 0xc0U) != 0x80) cuts.push_back(i);  // no UTF-8 continuation
  }
  const auto cut_at = [&](std::size_t cut) { return whole.substr(0, cut) + "…"; };
  const auto too_long = std::partition_point(cuts.begin(), cuts.end(), [&](std::size_t cut) {
    return text_width(cut_at(cut), size_px, bold) <= max_px;
  });
  return cut_at(too_long == cuts.begin() ? 0 : *std::prev(too_long));
}

std::vector<std::string> wrapped(const std::string& text, double size_px, double max_px) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() &&
        (lines.size() == kMostNoteLines || text_width(lines.back() + " " + word, size_px) <= max_px))
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

double widest(const std::vector<Tick>& ticks, double size_px) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label, size_px));
  return width;
}

Ticks fitting_ticks(const Axis& axis, const Mapping& mapping, int exponent, bool horizontal, double font_px) {
  if (!axis.marks.empty()) return chosen_ticks(axis.marks, mapping, horizontal, font_px);
  const double length_px = std::abs(mapping.hi_px - mapping.lo_px);
  Ticks ticks;
  const int densest =
      axis.whole ? static_cast<int>(std::clamp(mapping.range.hi - mapping.range.lo, 1.0, 16.0)) : 16;
  for (int most = std::clamp(static_cast<int>(length_px / (font_px * (horizontal ? 4 : 3))), 1, densest);
       most >= 1; --most) {
    if (axis.scale == Scale::linear) {
      ticks = linear_ticks(mapping.range, most, exponent);
    } else {
      ticks = axis.binary ? binary_ticks(mapping.range, most, axis.unit)
                          : log_ticks(mapping.range, most, axis.unit);
    }
    if (axis.whole) std::erase_if(ticks.minor, [](double value) { return value != std::round(value); });
    double free_from = -std::numeric_limits<double>::infinity();
    bool fits = true;
    for (const Tick& tick : ticks.major) {
      const double at = std::abs(mapping(tick.value) - mapping.lo_px);
      const double half = horizontal ? text_width(tick.label, font_px) / 2 + 0.4 * font_px : 0.7 * font_px;
      fits = fits && at - half >= free_from;
      free_from = at + half;
    }
    if (fits) return ticks;
  }
  if (ticks.major.size() > 1) ticks.major.resize(1);
  return ticks;
}

Ticks left_ticks(const FrameContent& content, const Mapping& mapping, int exponent, double font_px) {
  if (content.rows.empty()) return fitting_ticks(content.y, mapping, exponent, false, font_px);
  Ticks ticks;
  for (std::size_t i = 0; i < content.rows.size(); ++i) {
    ticks.major.push_back({static_cast<double>(i), content.rows[i]});
  }
  return ticks;
}

double slope_sin() { return std::abs(std::sin(kCategorySlope_deg * std::numbers::pi / 180)); }

bool must_slope(const std::vector<std::string>& categories, double slot_px, double font_px) {
  return std::any_of(categories.begin(), categories.end(),
                     [&](const std::string& name) { return text_width(name, font_px) > 0.92 * slot_px; });
}

std::vector<std::vector<LegendEntry>> legend_rows(const std::vector<LegendEntry>& entries, double font_px,
                                                  double max_px) {
  std::vector<std::vector<LegendEntry>> rows;
  double used_px = 0;
  for (LegendEntry entry : entries) {
    const double swatch_px = ((entry.box ? kLegendBox : kLegendLine) + kLegendGap) * font_px;
    entry.name = shortened(entry.name, font_px, false, max_px - swatch_px);
    const double width_px = swatch_px + text_width(entry.name, font_px);
    if (rows.empty() || used_px + width_px > max_px) {
      rows.emplace_back();
      used_px = 0;
    }
    rows.back().push_back(entry);
    used_px += width_px + kLegendSpacing * font_px;
  }
  return rows;
}

double full_width(const PlotStyle& style, double font_px) { return style.size.width_px - 10 * font_px; }

}  // namespace papfft::app::report
