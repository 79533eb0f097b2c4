// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>

#include "app/report/canvas.hpp"

extern "C" {
typedef struct _cairo cairo_t;  // NOLINT: cairo's own names, to keep cairo.h out of this header
typedef struct _cairo_surface cairo_surface_t;  // NOLINT
}

namespace papfft::app::report {

/// An anti-aliased picture, finished as PNG. Drawn by cairo; text in DejaVu Sans, or the nearest font there is.
class RasterCanvas final : public Canvas {
 public:
  explicit RasterCanvas(const PictureSize& size);

  void polygon(std::span<const Point> corners, Rgb fill) override;
  void rectangle(const Rect& rect, Rgb fill) override;
  void image(const Rect& rect, const IndexedImage& image) override;
  void begin_clip(const Rect& rect) override;
  void end_clip() override;
  [[nodiscard]] std::string finish() override;

 private:
  void draw_polyline(std::span<const Point> points, const Stroke& stroke) override;
  struct Destroy {
    void operator()(cairo_t* context) const;
    void operator()(cairo_surface_t* surface) const;
  };
  void draw_text(Point baseline_anchor, std::string_view text, const TextStyle& style) override;

  std::unique_ptr<cairo_surface_t, Destroy> surface_;
  std::unique_ptr<cairo_t, Destroy> context_;
};

}  // namespace papfft::app::report
