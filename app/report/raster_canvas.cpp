// SPDX-License-Identifier: MIT
#include "app/report/raster_canvas.hpp"

#include <cairo.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "app/report/png.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define PAPFFT_LEAK_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PAPFFT_LEAK_SANITIZER 1
#endif
#endif
#ifdef PAPFFT_LEAK_SANITIZER
// fontconfig links its cached patterns by relative offsets, which LeakSanitizer cannot follow. Here and not in an
// option file, so that the program itself runs clean too, not only its tests.
extern "C" __attribute__((weak)) const char*
__lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:libfontconfig";
}
#endif

namespace papfft::app::report {
namespace {

void set_color(cairo_t* c, Rgb color) {
  cairo_set_source_rgb(c, color.r / 255.0, color.g / 255.0, color.b / 255.0);
}

void set_font(cairo_t* c, double size_px, bool bold) {
  cairo_select_font_face(c, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(c, size_px);
  // Unhinted: text is as wide at every scale as it was when the layout was made.
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(c, options);
  cairo_font_options_destroy(options);
}

void require_success(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) {
    throw std::runtime_error(std::string("cairo: ") + cairo_status_to_string(status));
  }
}

double advance_px(cairo_t* c, const char* text) {
  cairo_text_extents_t extents;
  cairo_text_extents(c, text, &extents);
  return extents.x_advance;
}

// cairo keeps 32-bit pixels in native byte order as 0x00RRGGBB.
constexpr std::uint32_t to_pixel(Rgb color) {
  return static_cast<std::uint32_t>(color.r) << 16U | static_cast<std::uint32_t>(color.g) << 8U | color.b;
}

}  // namespace

void RasterCanvas::Destroy::operator()(cairo_t* context) const { cairo_destroy(context); }
void RasterCanvas::Destroy::operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }

RasterCanvas::RasterCanvas(const PictureSize& size)
    : Canvas(size.scale),
      surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                          static_cast<int>(std::lround(size.width_px * size.scale)),
                                          static_cast<int>(std::lround(size.height_px * size.scale)))),
      context_(cairo_create(surface_.get())) {
  require_success(cairo_status(context_.get()));
  set_color(context_.get(), kWhite);
  cairo_paint(context_.get());
  cairo_scale(context_.get(), size.scale, size.scale);
  cairo_set_line_join(context_.get(), CAIRO_LINE_JOIN_ROUND);
}

void RasterCanvas::draw_polyline(std::span<const Point> points, const Stroke& stroke) {
  cairo_t* const c = context_.get();
  // Butt ends: a snapped line ends exactly at the axes.
  cairo_set_line_cap(c, is_axis_aligned(points) ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
  set_color(c, stroke.color);
  cairo_set_line_width(c, stroke.width_px);
  cairo_set_dash(c, &stroke.dash_px, stroke.dash_px > 0 ? 1 : 0, 0);
  for (const Point& p : points) cairo_line_to(c, p.x, p.y);
  cairo_stroke(c);
}

void RasterCanvas::polygon(std::span<const Point> corners, Rgb fill) {
  cairo_t* const c = context_.get();
  for (const Point& p : corners) cairo_line_to(c, p.x, p.y);
  cairo_close_path(c);
  set_color(c, fill);
  cairo_fill(c);
}

void RasterCanvas::rectangle(const Rect& rect, Rgb fill) {
  cairo_t* const c = context_.get();
  cairo_rectangle(c, rect.x, rect.y, rect.width, rect.height);
  set_color(c, fill);
  cairo_fill(c);
}

void RasterCanvas::image(const Rect& rect, const IndexedImage& image) {
  std::vector<std::uint32_t> pixels(image.width * image.height);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = to_pixel(image.palette[image.index[i]]);
  const std::unique_ptr<cairo_surface_t, Destroy> source(cairo_image_surface_create_for_data(
      reinterpret_cast<unsigned char*>(pixels.data()), CAIRO_FORMAT_RGB24, static_cast<int>(image.width),
      static_cast<int>(image.height), static_cast<int>(4 * image.width)));
  cairo_t* const c = context_.get();
  cairo_save(c);
  cairo_rectangle(c, rect.x, rect.y, rect.width, rect.height);
  cairo_clip(c);
  cairo_translate(c, rect.x, rect.y);
  cairo_scale(c, rect.width / static_cast<double>(image.width),
              rect.height / static_cast<double>(image.height));
  cairo_set_source_surface(c, source.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(c), CAIRO_FILTER_NEAREST);
  cairo_pattern_set_extend(cairo_get_source(c), CAIRO_EXTEND_PAD);
  cairo_paint(c);
  cairo_restore(c);  // also lets go of `source`, whose pixels end here
}

void RasterCanvas::begin_clip(const Rect& rect) {
  cairo_rectangle(context_.get(), rect.x, rect.y, rect.width, rect.height);
  cairo_clip(context_.get());
}

void RasterCanvas::end_clip() { cairo_reset_clip(context_.get()); }

void RasterCanvas::draw_text(Point baseline_anchor, std::string_view text, const TextStyle& style) {
  cairo_t* const c = context_.get();
  const std::string terminated(text);
  set_font(c, style.size_px, style.bold);
  const double width = advance_px(c, terminated.c_str());
  cairo_save(c);
  cairo_translate(c, baseline_anchor.x, baseline_anchor.y);
  cairo_rotate(c, style.rotation_deg * std::numbers::pi / 180);
  cairo_move_to(c,
                style.anchor == Anchor::start    ? 0
                : style.anchor == Anchor::middle ? -width / 2
                                                 : -width,
                0);
  set_color(c, style.color);
  cairo_show_text(c, terminated.c_str());
  cairo_new_path(c);
  cairo_restore(c);
}

std::string RasterCanvas::finish() {
  require_success(cairo_status(context_.get()));
  cairo_surface_flush(surface_.get());
  const auto width = static_cast<std::size_t>(cairo_image_surface_get_width(surface_.get()));
  const auto height = static_cast<std::size_t>(cairo_image_surface_get_height(surface_.get()));
  const auto stride_bytes = static_cast<std::size_t>(cairo_image_surface_get_stride(surface_.get()));
  const unsigned char* const data = cairo_image_surface_get_data(surface_.get());
  std::vector<std::uint8_t> rgb;
  rgb.reserve(width * height * 3);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, data + y * stride_bytes + 4 * x, sizeof pixel);
      for (const unsigned shift : {16U, 8U, 0U}) rgb.push_back(static_cast<std::uint8_t>(pixel >> shift));
    }
  }
  return encode_png(width, height, rgb);
}

double text_width(std::string_view text, double size_px, bool bold) {
  struct Release {
    void operator()(cairo_t* c) const { cairo_destroy(c); }
  };
  cairo_surface_t* const surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  const std::unique_ptr<cairo_t, Release> c(cairo_create(surface));
  cairo_surface_destroy(surface);  // the context keeps it
  set_font(c.get(), size_px, bold);
  return advance_px(c.get(), clean_text(text).c_str());
}

}  // namespace papfft::app::report
