// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace papfft::app::report {

/// A closed interval of axis values, lo < hi once it has passed `usable_range`.
struct Range {
  double lo = 0;
  double hi = 1;
  friend bool operator==(const Range&, const Range&) = default;
};

enum class Scale { linear, log };

/// A labelled mark on an axis.
struct Tick {
  double value = 0;
  std::string label;
};

/// Where an axis is marked. `minor` marks carry no label.
struct Ticks {
  std::vector<Tick> major;
  std::vector<double> minor;
};

/// The nearest range an axis can show: finite, lo < hi with room for ticks between, positive for Scale::log.
/// Constant data get some room on both sides; nonsense (NaN, lo > hi) becomes 0..1 (linear) or 1..10 (log).
[[nodiscard]] Range usable_range(Range range, Scale scale);

/// True for units that are written with a prefix: s, Hz, B, B/s, ...; false for dB, %, and no unit.
[[nodiscard]] bool takes_si_prefix(std::string_view unit);

/// The power of ten, a multiple of 3, that brings the range's larger end to 1 <= x < 1000. Axes without a unit that
/// takes prefixes get 0 as long as plain numbers stay short (below 100 000 and not under 0.001).
[[nodiscard]] int common_exponent(Range range, std::string_view unit);

/// Axis title: "time (ms)", "level (dB)", "operations (×10⁶)". Log axes with a prefixed unit name it at each tick
/// instead ("20 Hz", "1 kHz"), so their title is the bare label.
[[nodiscard]] std::string axis_title(std::string_view label, std::string_view unit, Scale scale,
                                     int exponent10);

/// Marks at multiples of 1, 2 or 5 times a power of ten.
///
/// @param range       usable range of the axis.
/// @param max_major   at most this many labelled marks (>= 1).
/// @param exponent10  labels show value / 10^exponent10.
[[nodiscard]] Ticks linear_ticks(Range range, int max_major, int exponent10 = 0);

/// Marks at 1-2-5, at decades, or at every k-th decade, whichever is the densest with at most `max_major` labels; all
/// of 2..9 (or the decades between) are minor marks. A range without two 1-2-5 marks gets linear ones.
///
/// @param range  usable range for Scale::log.
/// @param unit   written at each label if it takes SI prefixes.
[[nodiscard]] Ticks log_ticks(Range range, int max_major, std::string_view unit = {});

/// Marks at powers of two, or at those of 4, 8, ..., so that there are at most `max_major` labels; all other powers of two are
/// minor marks. A range without two powers of two gets log_ticks().
[[nodiscard]] Ticks binary_ticks(Range range, int max_major, std::string_view unit = {});

}  // namespace papfft::app::report
