// SPDX-License-Identifier: MIT
#include "app/report/svg_canvas.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "app/report/png.hpp"

namespace papfft::app::report {
namespace {

std::string hex(Rgb color) { return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b); }

/// A hundredth of a pixel is below what anyone sees; trailing zeros would be a third of the file.
std::string number(double v) {
  std::string text = fmt::format("{:.2f}", v);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string points_attribute(std::span<const Point> points) {
  std::string out;
  for (const Point& p : points) {
    if (!out.empty()) out += ' ';
    out += number(p.x) + ',' + number(p.y);
  }
  return out;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    unsigned bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8U | (j < group.size() ? static_cast<unsigned char>(group[j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= group.size() ? kAlphabet[bits >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace

SvgCanvas::SvgCanvas(const PictureSize& size, std::string_view title, std::string_view description)
    : Canvas(1) {
  // Verdana has nearly the widths of DejaVu Sans, with which the layout was made.
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" "
      "font-family=\"DejaVu Sans, Verdana, sans-serif\" stroke-linejoin=\"round\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n<rect width=\"{0}\" height=\"{1}\" fill=\"{4}\"/>\n",
      size.width_px, size.height_px, escaped_markup(clean_text(title)),
      escaped_markup(clean_text(description)), hex(kWhite));
}

void SvgCanvas::draw_polyline(std::span<const Point> points, const Stroke& stroke) {
  fmt::format_to(std::back_inserter(out_),
                 "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}{}/>\n",
                 points_attribute(points), hex(stroke.color), number(stroke.width_px),
                 is_axis_aligned(points) ? "" : " stroke-linecap=\"round\"",
                 stroke.dash_px > 0 ? fmt::format(" stroke-dasharray=\"{}\"", number(stroke.dash_px)) : "");
}

void SvgCanvas::polygon(std::span<const Point> corners, Rgb fill) {
  fmt::format_to(std::back_inserter(out_), "<polygon points=\"{}\" fill=\"{}\"/>\n",
                 points_attribute(corners), hex(fill));
}

void SvgCanvas::rectangle(const Rect& rect, Rgb fill) {
  fmt::format_to(std::back_inserter(out_),
                 "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", number(rect.x),
                 number(rect.y), number(rect.width), number(rect.height), hex(fill));
}

void SvgCanvas::image(const Rect& rect, const IndexedImage& image) {
  fmt::format_to(std::back_inserter(out_),
                 "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
                 "image-rendering=\"pixelated\" href=\"data:image/png;base64,{}\"/>\n",
                 number(rect.x), number(rect.y), number(rect.width), number(rect.height),
                 base64(encode_png(image)));
}

void SvgCanvas::begin_clip(const Rect& rect) {
  // A nested viewport clips like a clipPath, but needs no id, which could collide with another picture's in one page.
  fmt::format_to(std::back_inserter(out_),
                 "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n",
                 number(rect.x), number(rect.y), number(rect.width), number(rect.height));
}

void SvgCanvas::end_clip() { out_ += "</svg>\n"; }

void SvgCanvas::draw_text(Point at, std::string_view text, const TextStyle& style) {
  static constexpr std::string_view kAnchors[] = {"start", "middle", "end"};
  const std::string x = number(at.x);
  const std::string y = number(at.y);
  fmt::format_to(std::back_inserter(out_),
                 "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}{}>{}</text>\n", x,
                 y, number(style.size_px), kAnchors[static_cast<std::size_t>(style.anchor)], hex(style.color),
                 style.bold ? " font-weight=\"bold\"" : "",
                 style.rotation_deg != 0
                     ? fmt::format(" transform=\"rotate({} {} {})\"", number(style.rotation_deg), x, y)
                     : "",
                 escaped_markup(text));
}

std::string SvgCanvas::finish() {
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace papfft::app::report
