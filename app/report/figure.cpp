// SPDX-License-Identifier: MIT
#include "app/report/figure.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "app/report/byte_count.hpp"

namespace papfft::app::report {
namespace {

constexpr double kFont_px = 14;

Picture draw(const OwnHeatMap& own, const PlotStyle& style, Format format) {
  HeatMap map = own.map;
  map.values = MatrixView(own.values, own.rows, own.columns);
  return draw(map, style, format);
}

}  // namespace

Picture draw(const Figure& figure, Format format, Heading heading) {
  const PlotStyle style{.size = figure.size,
                        .title = figure.title,
                        .subtitle = figure.subtitle,
                        .heading = heading == Heading::in_picture,
                        .note = figure.note,
                        .font_px = kFont_px};
  return std::visit([&](const auto& plot) { return draw(plot, style, format); }, figure.plot);
}

std::string caption_of(const Figure& figure) {
  return figure.subtitle.empty() ? figure.title : fmt::format("{} [{}]", figure.title, figure.subtitle);
}

std::string size_text(std::int64_t bytes) {
  const std::string text = byte_count_text(static_cast<std::uint64_t>(bytes));
  const bool prefixed = text.back() == 'K' || text.back() == 'M' || text.back() == 'G';
  return prefixed ? fmt::format("{} {}iB", text.substr(0, text.size() - 1), text.back()) : text + " B";
}

std::string cores_text(const std::string& count) { return count + (count == "1" ? " core" : " cores"); }

std::string time_text(double seconds) {
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  if (!std::isfinite(seconds)) return "-";
  for (const auto& [unit, name] : kUnits) {
    const double shown = seconds / unit;
    if (std::abs(shown) < 1 && unit > 1e-9) continue;
    return fmt::format("{:.{}f} {}", shown, std::abs(shown) >= 100 ? 0 : std::abs(shown) >= 10 ? 1 : 2, name);
  }
  return "-";
}

}  // namespace papfft::app::report
