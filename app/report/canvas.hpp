// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/io/clean_text.hpp"
#include "app/report/color.hpp"

namespace papfft::app::report {

/// Pixels from the left and top edge of the picture, before `PictureSize::scale`.
struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
};

struct Stroke {
  Rgb color;
  double width_px = 1;
  double dash_px = 0;  ///< length of dashes and gaps; 0: solid
};

enum class Anchor { start, middle, end };
enum class Baseline { top, middle, alphabetic };

struct TextStyle {
  double size_px = 16;
  Anchor anchor = Anchor::start;
  Baseline baseline = Baseline::alphabetic;
  double rotation_deg = 0;  ///< clockwise, about the anchor point
  Rgb color = kText;
  bool bold = false;
};

/// A picture of at most 256 colours.
struct IndexedImage {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> index;  ///< width × height, row-major, top row first; each below palette.size()
  std::vector<Rgb> palette;
};

/// The size of a picture: its coordinates run over width_px × height_px; a PNG has `scale` times as many pixels each
/// way (scale = dpi / 96), an SVG only says its natural size.
struct PictureSize {
  int width_px = 1200;
  int height_px = 800;
  double scale = 1;
};

enum class Format { png, svg };

/// What every picture is drawn on, so that all formats look alike. Coordinates and sizes that are not finite are a
/// caller's error; texts may be any bytes (what is not UTF-8 or not printable becomes U+FFFD).
class Canvas {
 public:
  /// @param scale  device pixels per px, for lines that must lie on whole pixels
  explicit Canvas(double scale) : scale_(scale) {}
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  virtual ~Canvas() = default;

  void line(Point from, Point to, const Stroke& stroke);
  /// Open line through the points, with round joins and ends; two equal points make a dot. A single horizontal or
  /// vertical stretch is moved and widened to whole pixels, else grids, ticks and frames would blur.
  void polyline(std::span<const Point> points, const Stroke& stroke);
  virtual void polygon(std::span<const Point> corners, Rgb fill) = 0;
  virtual void rectangle(const Rect& rect, Rgb fill) = 0;
  void text(Point at, std::string_view text, const TextStyle& style);
  /// Stretches the image over `rect` without smoothing: a pixel stays one flat rectangle.
  virtual void image(const Rect& rect, const IndexedImage& image) = 0;
  /// Confines what is drawn until `end_clip`; does not nest.
  virtual void begin_clip(const Rect& rect) = 0;
  virtual void end_clip() = 0;
  /// The finished file. Call once, last.
  [[nodiscard]] virtual std::string finish() = 0;

 protected:
  /// One stretch, horizontal or vertical, and not a dot.
  [[nodiscard]] static bool is_axis_aligned(std::span<const Point> points);
  /// At least one point; axis-aligned lines are snapped already and end without caps.
  virtual void draw_polyline(std::span<const Point> points, const Stroke& stroke) = 0;
  /// `text` is clean UTF-8, `baseline_anchor` the anchor on the alphabetic baseline.
  virtual void draw_text(Point baseline_anchor, std::string_view text, const TextStyle& style) = 0;

 private:
  double scale_;
};

/// A white canvas.
///
/// @param title        read out by screen readers, shown as tooltip (SVG only)
/// @param description  what the picture shows, in words (SVG only)
/// @throws std::invalid_argument  the size is under 100 × 80 px, or a side has over 20 000 pixels, or the scale is not
///                                in 0.1 .. 10.
[[nodiscard]] std::unique_ptr<Canvas> make_canvas(Format format, const PictureSize& size,
                                                  std::string_view title, std::string_view description);

/// Width in px of one line of text, the same for all formats.
[[nodiscard]] double text_width(std::string_view text, double size_px, bool bold = false);

using io::clean_text;

/// & < > " ' as entities of XML and HTML.
[[nodiscard]] std::string escaped_markup(std::string_view text);

}  // namespace papfft::app::report
