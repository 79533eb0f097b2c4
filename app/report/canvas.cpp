// SPDX-License-Identifier: MIT
#include "app/report/canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "app/report/raster_canvas.hpp"
#include "app/report/svg_canvas.hpp"

namespace papfft::app::report {

std::string escaped_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void Canvas::line(Point from, Point to, const Stroke& stroke) {
  polyline(std::array<Point, 2>{from, to}, stroke);
}

bool Canvas::is_axis_aligned(std::span<const Point> points) {
  return points.size() == 2 && (points[0].x == points[1].x) != (points[0].y == points[1].y);
}

void Canvas::polyline(std::span<const Point> points, const Stroke& stroke) {
  if (points.empty()) return;
  if (!is_axis_aligned(points)) return draw_polyline(points, stroke);
  const double device_px = std::max(1.0, std::round(stroke.width_px * scale_));
  const double center = std::fmod(device_px, 2.0) / 2;  // lines of odd width run through pixel centres
  const auto snap = [&](double v) { return (std::round(v * scale_ - center) + center) / scale_; };
  std::array<Point, 2> line = {points[0], points[1]};
  const bool vertical = line[0].x == line[1].x;
  for (Point& p : line) (vertical ? p.x : p.y) = snap(vertical ? p.x : p.y);
  draw_polyline(line, {stroke.color, device_px / scale_, stroke.dash_px});
}

void Canvas::text(Point at, std::string_view text, const TextStyle& style) {
  if (text.empty()) return;
  // DejaVu Sans: capitals are 0.73 em high. SVG's own baseline attributes differ between viewers.
  const double drop_em = style.baseline == Baseline::top      ? 0.73
                         : style.baseline == Baseline::middle ? 0.365
                                                              : 0.0;
  const double angle = style.rotation_deg * std::numbers::pi / 180;
  const double drop_px = drop_em * style.size_px;
  draw_text({at.x - drop_px * std::sin(angle), at.y + drop_px * std::cos(angle)}, clean_text(text), style);
}

std::unique_ptr<Canvas> make_canvas(Format format, const PictureSize& size, std::string_view title,
                                    std::string_view description) {
  constexpr double kMaxSide = 20000;
  if (size.width_px < 100 || size.height_px < 80 || !(size.scale >= 0.1 && size.scale <= 10) ||
      size.width_px * size.scale > kMaxSide || size.height_px * size.scale > kMaxSide) {
    throw std::invalid_argument(fmt::format("a picture of {}x{} px at scale {} cannot be drawn",
                                            size.width_px, size.height_px, size.scale));
  }
  if (format == Format::png) return std::make_unique<RasterCanvas>(size);
  return std::make_unique<SvgCanvas>(size, title, description);
}

}  // namespace papfft::app::report
