// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "app/report/canvas.hpp"

namespace papfft::app::report {

/// An SVG file, also fit to stand inside an HTML page: it uses no ids, no style sheet, no script and nothing from
/// elsewhere. Text stays text (searchable, read by screen readers).
class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(const PictureSize& size, std::string_view title, std::string_view description);

  void polygon(std::span<const Point> corners, Rgb fill) override;
  void rectangle(const Rect& rect, Rgb fill) override;
  void image(const Rect& rect, const IndexedImage& image) override;
  void begin_clip(const Rect& rect) override;
  void end_clip() override;
  [[nodiscard]] std::string finish() override;

 private:
  void draw_polyline(std::span<const Point> points, const Stroke& stroke) override;
  void draw_text(Point baseline_anchor, std::string_view text, const TextStyle& style) override;

  std::string out_;
};

}  // namespace papfft::app::report
