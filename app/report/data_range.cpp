// SPDX-License-Identifier: MIT
#include "app/report/data_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace papfft::app::report {

bool DataRange::shows(double value) const {
  return std::isfinite(value) && (scale_ == Scale::linear || value > 0);
}

void DataRange::add(double value, double error) {
  for (const double v : {value - error, value, value + error}) {
    if (!shows(v)) continue;
    range_.lo = empty_ ? v : std::min(range_.lo, v);
    range_.hi = empty_ ? v : std::max(range_.hi, v);
    empty_ = false;
  }
}

Range DataRange::padded(double room) const {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const Range usable = usable_range(empty_ ? Range{kNaN, kNaN} : range_, scale_);
  if (scale_ == Scale::log) {
    const double factor = std::pow(usable.hi / usable.lo, room);
    return usable_range({usable.lo / factor, usable.hi * factor}, scale_);
  }
  const double pad = room * (usable.hi - usable.lo);
  return usable_range({usable.lo - pad, usable.hi + pad}, scale_);
}

void draw_error_bar(Canvas& canvas, const Frame& frame, double x_px, double value, double error,
                    const Stroke& stroke) {
  error = std::abs(error);
  draw_interval(canvas, frame, x_px, {value - error, value + error}, stroke);
}

void draw_interval(Canvas& canvas, const Frame& frame, double x_px, Range interval, const Stroke& stroke) {
  if (!(interval.hi > interval.lo) || !std::isfinite(interval.hi - interval.lo) || !std::isfinite(x_px))
    return;
  const double top_px = frame.y()(interval.hi);
  const double bottom_px = frame.y()(interval.lo);
  if (!std::isfinite(top_px)) return;
  const double cap_px = 0.35 * frame.font_px();
  const bool reaches_down = std::isfinite(bottom_px);  // on a log axis it may go below all there is
  canvas.line({x_px, top_px}, {x_px, reaches_down ? bottom_px : frame.area().bottom()}, stroke);
  canvas.line({x_px - cap_px, top_px}, {x_px + cap_px, top_px}, stroke);
  if (reaches_down) canvas.line({x_px - cap_px, bottom_px}, {x_px + cap_px, bottom_px}, stroke);
}

void draw_no_data(Canvas& canvas, const Frame& frame) {
  const Rect& area = frame.area();
  canvas.text({area.x + area.width / 2, area.y + area.height / 2}, "no data",
              {.size_px = 1.2 * frame.font_px(), .anchor = Anchor::middle, .color = kMuted});
}

}  // namespace papfft::app::report
