// SPDX-License-Identifier: MIT
#pragma once
#include "app/report/canvas.hpp"
#include "app/report/frame.hpp"
#include "app/report/ticks.hpp"

namespace papfft::app::report {

/// Collects the range of an axis from the data it is to show.
class DataRange {
 public:
  explicit DataRange(Scale scale) : scale_(scale) {}

  /// False for NaN, infinity, and on log axes for what is not positive.
  [[nodiscard]] bool shows(double value) const;
  /// Takes in value - error .. value + error, as far as the axis shows it.
  void add(double value, double error = 0);
  /// The range with `room` of its length added on both sides, usable; the default range without data.
  [[nodiscard]] Range padded(double room) const;

 private:
  Scale scale_;
  bool empty_ = true;
  Range range_;
};

/// A bar from value - error to value + error with caps; nothing if the error is 0 or not finite.
void draw_error_bar(Canvas& canvas, const Frame& frame, double x_px, double value, double error,
                    const Stroke& stroke);

/// The same from interval.lo to interval.hi; nothing if one is not finite or both are the same.
void draw_interval(Canvas& canvas, const Frame& frame, double x_px, Range interval, const Stroke& stroke);

/// Says so in the middle of the axes.
void draw_no_data(Canvas& canvas, const Frame& frame);

}  // namespace papfft::app::report
