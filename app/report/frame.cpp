// SPDX-License-Identifier: MIT
#include "app/report/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "app/report/frame_parts.hpp"

namespace papfft::app::report {

double Mapping::operator()(double value) const {
  double fraction = std::numeric_limits<double>::quiet_NaN();
  if (scale == Scale::linear) {
    fraction = (value - range.lo) / (range.hi - range.lo);
  } else if (value > 0) {
    fraction = std::log(value / range.lo) / std::log(range.hi / range.lo);
  }
  // NaN passes through std::clamp. Renderers count in 24-bit whole pixels.
  return std::clamp(lo_px + fraction * (hi_px - lo_px), -1e6, 1e6);
}

double Mapping::value_at(double fraction) const {
  return scale == Scale::linear ? range.lo + fraction * (range.hi - range.lo)
                                : range.lo * std::pow(range.hi / range.lo, fraction);
}

void draw_marker(Canvas& canvas, Point at, std::size_t shape, double size_px, Rgb color) {
  // Circle, square, triangle, diamond, of about equal area.
  struct Polygon {
    std::size_t corners;
    double radius;
    double turn;  // of the first corner, in full turns
  };
  static constexpr std::array<Polygon, kMarkerShapes> kShapes = {
      {{24, 0.5, 0}, {4, 0.62, 0.125}, {3, 0.68, 0.25}, {4, 0.64, 0}}};
  const Polygon& s = kShapes[shape % kMarkerShapes];
  std::vector<Point> corners;
  for (std::size_t i = 0; i < s.corners; ++i) {
    const double angle =
        2 * std::numbers::pi * (s.turn + static_cast<double>(i) / static_cast<double>(s.corners));
    corners.push_back(
        {at.x + s.radius * size_px * std::cos(angle), at.y - s.radius * size_px * std::sin(angle)});
  }
  canvas.polygon(corners, color);
}

void draw_stripes(Canvas& canvas, const Rect& box, std::size_t count, Rgb background) {
  constexpr double kStripe_px = 2;
  for (std::size_t i = 1; i <= count; ++i) {
    canvas.rectangle({box.x, box.y + 2 * static_cast<double>(i) * kStripe_px - 1, box.width, kStripe_px},
                     text_color_on(background));
  }
}

Frame::Frame(const PlotStyle& style, FrameContent content) : style_(style), content_(std::move(content)) {
  const double width_px = style.size.width_px;
  const double height_px = style.size.height_px;
  font_px_ =
      style.font_px > 0 ? style.font_px : std::max(9.0, 17 * std::min(width_px / 1200, height_px / 800));
  const double em = font_px_;
  if (content_.note.empty()) content_.note = style.note;
  x_exponent_ = common_exponent(content_.x_range, content_.x.unit);
  y_exponent_ = common_exponent(content_.y_range, content_.y.unit);
  x_ = {content_.x_range, content_.x.scale, 0, 1};
  y_ = {content_.y_range, content_.y.scale, 0, 1};

  note_lines_ = wrapped(content_.note, kNoteSize * em, full_width(style, em));
  if (note_lines_.empty() && !content_.note.empty()) note_lines_.emplace_back();  // blank: keeps its room
  const auto rows = legend_rows(content_.legend, em, full_width(style, em)).size();
  const double top = em * (kPad + (has_title() ? kTitleHeight : 0) + (has_subtitle() ? kSubtitleHeight : 0) +
                           kLegendRow * static_cast<double>(rows));

  double labels_em = kTick + kLabelGap + 0.75;
  if (!content_.categories.empty()) {
    const double slot_px = (width_px - 8 * em) / static_cast<double>(content_.categories.size());
    if (must_slope(content_.categories, slot_px, em)) {
      double longest = 0;
      for (const std::string& name : content_.categories) longest = std::max(longest, text_width(name, em));
      labels_em += slope_sin() * std::min(longest / em, kCategoryLongest);
    }
  }
  const auto title_em = [](const Axis& axis, int exponent) {
    return axis_title(axis.label, axis.unit, axis.scale, exponent).empty() ? 0 : kAxisTitleHeight;
  };
  const double bottom = em * (kPad + labels_em + title_em(content_.x, x_exponent_)) + note_px();

  // The area gets at least 10 px each way, however small the picture: then texts overlap, but nothing fails.
  const auto place = [&](double left, double right) {
    area_.x = std::round(left);
    area_.y = std::round(top);
    area_.width = std::max(10.0, std::round(width_px - right) - area_.x);
    area_.height = std::max(10.0, std::round(height_px - bottom) - area_.y);
    x_.lo_px = area_.x;
    x_.hi_px = area_.right();
    y_.lo_px = area_.bottom();
    y_.hi_px = area_.y;
  };
  place(0, 0);
  const double tick_em = kTick + kLabelGap;
  const double left = em * (kPad + title_em(content_.y, y_exponent_) + tick_em) +
                      widest(left_ticks(content_, y_, y_exponent_, em).major, em);
  double right = 1.8 * em;
  if (content_.color_bar) {
    const ColorBar& bar = *content_.color_bar;
    const int exponent = common_exponent(bar.range, bar.axis.unit);
    const Mapping mapping{bar.range, Scale::linear, area_.bottom(), area_.y};
    // Room for usual labels in any case: the range may still be unknown.
    const double label_px = std::max(widest(fitting_ticks(bar.axis, mapping, exponent, false, em).major, em),
                                     text_width("−100.0", em));
    right = em * (kBarGap + kBarWidth + tick_em + title_em(bar.axis, exponent) + 0.6) + label_px;
  }
  place(left, right);
  if (content_.categories.empty()) {
    for (const Tick& tick : fitting_ticks(content_.x, x_, x_exponent_, true, em).major) {
      const double needed = x_(tick.value) + text_width(tick.label, em) / 2 + 0.4 * em - width_px;
      if (needed > 0) right += needed;
    }
    place(left, right);
  }
}

bool Frame::has_title() const { return style_.heading && !style_.title.empty(); }
bool Frame::has_subtitle() const { return style_.heading && !style_.subtitle.empty(); }

double Frame::note_px() const { return kNoteHeight * font_px_ * static_cast<double>(note_lines_.size()); }

Layout Frame::layout() const {
  Layout layout{area_, {}, x_.range, y_.range, {}, content_.note};
  if (content_.color_bar) {
    layout.color_bar = {area_.right() + std::round(kBarGap * font_px_), area_.y,
                        std::round(kBarWidth * font_px_), area_.height};
    layout.color = content_.color_bar->range;
  }
  return layout;
}

std::string Frame::describe(std::string_view what) const {
  const auto axis = [](const Axis& a, const Range& range) {
    return fmt::format("{} from {:.4g} to {:.4g}{}{}", a.label.empty() ? "value" : a.label, range.lo,
                       range.hi, a.unit.empty() ? "" : " ", a.unit);
  };
  std::string text(what);
  if (content_.categories.empty()) {
    text += "; horizontal: " + axis(content_.x, x_.range);
  } else {
    for (std::size_t i = 0; i < content_.categories.size(); ++i) {
      text += (i == 0 ? "; groups: " : ", ") + content_.categories[i];
    }
  }
  if (content_.rows.empty()) {
    text += "; vertical: " + axis(content_.y, y_.range);
  } else {
    for (std::size_t i = 0; i < content_.rows.size(); ++i) {
      text += (i == 0 ? "; rows: " : ", ") + content_.rows[i];
    }
  }
  for (std::size_t i = 0; i < content_.legend.size(); ++i) {
    text += (i == 0 ? "; series: " : ", ") + content_.legend[i].name;
  }
  if (content_.color_bar) text += "; colour: " + axis(content_.color_bar->axis, content_.color_bar->range);
  return text +
         (content_.note.find_first_not_of(' ') == std::string::npos ? "." : "; " + content_.note + ".");
}

void Frame::draw_grid(Canvas& canvas) const {
  const Stroke stroke{kGrid, 0.06 * font_px_};
  const auto each = [&](const Axis& axis, const Mapping& mapping, int exponent, bool horizontal) {
    for (const Tick& tick : fitting_ticks(axis, mapping, exponent, horizontal, font_px_).major) {
      const double at = mapping(tick.value);
      if (horizontal) {
        canvas.line({at, area_.y}, {at, area_.bottom()}, stroke);
      } else {
        canvas.line({area_.x, at}, {area_.right(), at}, stroke);
      }
    }
  };
  if (content_.categories.empty()) each(content_.x, x_, x_exponent_, true);
  each(content_.y, y_, y_exponent_, false);
}

Stroke Frame::frame_stroke() const { return {kFrame, 0.07 * font_px_}; }

void Frame::draw(Canvas& canvas) const {
  draw_box(canvas, area_);
  if (content_.categories.empty()) {
    draw_numbers(canvas);
  } else {
    draw_categories(canvas);
  }
  draw_vertical_axis(canvas, content_.y, y_, y_exponent_, left_ticks(content_, y_, y_exponent_, font_px_),
                     area_.x, -1);
  draw_below(canvas);
  draw_legend(canvas, draw_titles(canvas));
  if (content_.color_bar) draw_color_bar(canvas, *content_.color_bar);
}

void Frame::draw_box(Canvas& canvas, const Rect& r) const {
  const Stroke stroke = frame_stroke();
  canvas.line({r.x, r.y}, {r.right(), r.y}, stroke);
  canvas.line({r.x, r.bottom()}, {r.right(), r.bottom()}, stroke);
  canvas.line({r.x, r.y}, {r.x, r.bottom()}, stroke);
  canvas.line({r.right(), r.y}, {r.right(), r.bottom()}, stroke);
}

void Frame::draw_numbers(Canvas& canvas) const {
  const double em = font_px_;
  const Stroke stroke = frame_stroke();
  const double tick_y = area_.bottom() + kTick * em;
  const Ticks ticks = fitting_ticks(content_.x, x_, x_exponent_, true, em);
  for (const double value : ticks.minor) {
    canvas.line({x_(value), area_.bottom()}, {x_(value), area_.bottom() + kMinorTick * em}, stroke);
  }
  for (const Tick& tick : ticks.major) {
    canvas.line({x_(tick.value), area_.bottom()}, {x_(tick.value), tick_y}, stroke);
    canvas.text({x_(tick.value), tick_y + kLabelGap * em}, tick.label,
                {.size_px = em, .anchor = Anchor::middle, .baseline = Baseline::top});
  }
}

void Frame::draw_categories(Canvas& canvas) const {
  const double em = font_px_;
  const double tick_y = area_.bottom() + kTick * em;
  const double slot_px = area_.width / static_cast<double>(content_.categories.size());
  const double estimated_px =
      (style_.size.width_px - 8 * em) / static_cast<double>(content_.categories.size());
  const bool slope = must_slope(content_.categories, estimated_px, em);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(1.3 * em / slot_px)));
  for (std::size_t i = 0; i < content_.categories.size(); i += every) {
    const double at = x_(static_cast<double>(i));
    const std::string name =
        shortened(content_.categories[i], em, false, slope ? kCategoryLongest * em : slot_px);
    canvas.text({at, tick_y + kLabelGap * em}, name,
                {.size_px = em,
                 .anchor = slope ? Anchor::end : Anchor::middle,
                 .baseline = Baseline::top,
                 .rotation_deg = slope ? kCategorySlope_deg : 0});
  }
}

void Frame::draw_vertical_axis(Canvas& canvas, const Axis& axis, const Mapping& mapping, int exponent,
                               const Ticks& ticks, double edge, double side) const {
  const double em = font_px_;
  const Stroke stroke = frame_stroke();
  for (const double value : ticks.minor) {
    canvas.line({edge, mapping(value)}, {edge + side * kMinorTick * em, mapping(value)}, stroke);
  }
  for (const Tick& tick : ticks.major) {
    const double at = mapping(tick.value);
    canvas.line({edge, at}, {edge + side * kTick * em, at}, stroke);
    canvas.text(
        {edge + side * (kTick + kLabelGap) * em, at}, tick.label,
        {.size_px = em, .anchor = side < 0 ? Anchor::end : Anchor::start, .baseline = Baseline::middle});
  }
  const double labels_px = (kTick + kLabelGap + 0.55 * kAxisTitleHeight) * em + widest(ticks.major, em);
  const std::string title = axis_title(axis.label, axis.unit, axis.scale, exponent);
  canvas.text({edge + side * labels_px, area_.y + area_.height / 2},
              shortened(title, kAxisTitleSize * em, false, area_.height + 2 * kPad * em),
              {.size_px = kAxisTitleSize * em,
               .anchor = Anchor::middle,
               .baseline = Baseline::middle,
               .rotation_deg = -90});
}

void Frame::draw_below(Canvas& canvas) const {
  const double em = font_px_;
  // From the bottom edge up: note, axis title.
  const double bottom = style_.size.height_px - 0.7 * kPad * em;
  const double center = area_.x + area_.width / 2;
  canvas.text({center, bottom - note_px() - 0.35 * em},
              shortened(axis_title(content_.x.label, content_.x.unit, content_.x.scale, x_exponent_),
                        kAxisTitleSize * em, false, style_.size.width_px - 2 * kPad * em),
              {.size_px = kAxisTitleSize * em, .anchor = Anchor::middle});
  for (std::size_t i = 0; i < note_lines_.size(); ++i) {
    const auto lines_below = static_cast<double>(note_lines_.size() - 1 - i);
    canvas.text({area_.x, bottom - lines_below * kNoteHeight * em},
                shortened(note_lines_[i], kNoteSize * em, false, style_.size.width_px - area_.x - kPad * em),
                {.size_px = kNoteSize * em, .color = kMuted});
  }
}

double Frame::draw_titles(Canvas& canvas) const {
  const double em = font_px_;
  // From the top edge down: title, legend.
  double row_y = kPad * em;
  if (has_title()) {
    // Smaller rather than cut off.
    const double room_px = style_.size.width_px - area_.x - kPad * em;
    const double width_px = text_width(clean_text(style_.title), kTitleSize * em, true);
    const double size_px = kTitleSize * em * std::clamp(0.97 * room_px / width_px, kLeastTitle, 1.0);
    canvas.text({area_.x, row_y + 0.2 * em}, shortened(style_.title, size_px, true, room_px),
                {.size_px = size_px, .baseline = Baseline::top, .bold = true});
    row_y += kTitleHeight * em;
  }
  if (has_subtitle()) {
    canvas.text({area_.x, row_y},
                shortened(style_.subtitle, em, false, style_.size.width_px - area_.x - kPad * em),
                {.size_px = em, .baseline = Baseline::top});
    row_y += kSubtitleHeight * em;
  }
  return row_y;
}

void Frame::draw_legend(Canvas& canvas, double row_y) const {
  const double em = font_px_;
  for (const auto& row : legend_rows(content_.legend, em, full_width(style_, em))) {
    double at = area_.x;
    const double middle = row_y + 0.45 * em;
    for (const LegendEntry& entry : row) {
      const double swatch_px = (entry.box ? kLegendBox : kLegendLine) * em;
      if (entry.box) {
        const Rect swatch = {at, middle - 0.45 * em, swatch_px, 0.9 * em};
        canvas.rectangle(swatch, entry.stroke.color);
        draw_stripes(canvas, swatch, entry.stripes, entry.stroke.color);
      } else {
        Stroke sample = entry.stroke;
        sample.width_px = std::max(sample.width_px, 0.12 * em);
        canvas.line({at, middle}, {at + swatch_px, middle}, sample);
        if (entry.marker)
          draw_marker(canvas, {at + swatch_px / 2, middle}, *entry.marker, 0.55 * em, sample.color);
      }
      at += swatch_px + kLegendGap * em;
      canvas.text({at, middle}, entry.name, {.size_px = em, .baseline = Baseline::middle});
      at += text_width(entry.name, em) + kLegendSpacing * em;
    }
    row_y += kLegendRow * em;
  }
}

void Frame::draw_color_bar(Canvas& canvas, const ColorBar& bar) const {
  const double em = font_px_;
  const Stroke stroke = frame_stroke();
  const Rect r = layout().color_bar;
  IndexedImage ramp{1, 255, {}, {}};
  for (std::size_t i = 0; i < ramp.height; ++i) {
    ramp.index.push_back(static_cast<std::uint8_t>(i));
    ramp.palette.push_back(bar.color_at(1 - static_cast<double>(i) / 254));
  }
  canvas.image(r, ramp);
  const auto arrow = [&](double base_y, double tip_y, Rgb color) {
    const std::array<Point, 3> corners = {{{r.x, base_y}, {r.x + r.width / 2, tip_y}, {r.right(), base_y}}};
    canvas.polygon(corners, color);
    canvas.polyline(corners, stroke);
  };
  if (bar.extends_below) arrow(r.bottom(), r.bottom() + 0.7 * r.width, bar.color_at(0));
  if (bar.extends_above) arrow(r.y, r.y - 0.7 * r.width, bar.color_at(1));
  draw_box(canvas, r);
  const Mapping mapping{bar.range, Scale::linear, r.bottom(), r.y};
  const int exponent = common_exponent(bar.range, bar.axis.unit);
  draw_vertical_axis(canvas, bar.axis, mapping, exponent,
                     fitting_ticks(bar.axis, mapping, exponent, false, em), r.right(), 1);
}

}  // namespace papfft::app::report
