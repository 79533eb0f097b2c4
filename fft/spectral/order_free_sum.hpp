// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace papfft::fft {

/// A sum of doubles that is the same to the last bit in whatever order and grouping its terms are added, so that ranks may
/// be combined by any reduction, also by one that follows their arrivals.
///
/// A term is cut at multiples of 32 bits, always the same ones, into integers: v = sum over i of slice[i] 2^(32 (top - i)).
/// Integers add exactly. Only the three highest slices of all terms are kept: at least 65 bits below the largest term's
/// leading bit. What a partial sum drops, being too low for it, the whole sum would have dropped too: hence associative.
/// (The idea is that of Demmel and Nguyen, Parallel Reproducible Summation, IEEE Trans. Computers 64, 2015.)
///
/// Up to 2^30 terms. Infinities count as not-a-number, and one such term makes the sum one.
struct OrderFreeSum {
  static constexpr int kSlices = 3;
  static constexpr int kSliceBits = 32;
  static constexpr std::int64_t kZero = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kNotFinite = std::numeric_limits<std::int64_t>::max();

  std::int64_t top = kZero;
  std::int64_t slice[kSlices] = {};

  [[nodiscard]] static OrderFreeSum of(double value) {
    OrderFreeSum sum;
    if (!std::isfinite(value)) {
      sum.top = kNotFinite;
      return sum;
    }
    if (value == 0) return sum;
    const int exponent = std::ilogb(value);
    sum.top = exponent >= 0 ? exponent / kSliceBits : -((-exponent + kSliceBits - 1) / kSliceBits);
    double rest = std::ldexp(value, -kSliceBits * static_cast<int>(sum.top));  // below 2^32
    for (std::int64_t& s : sum.slice) {
      const double whole = std::trunc(rest);
      s = static_cast<std::int64_t>(whole);
      rest = std::ldexp(rest - whole, kSliceBits);  // a double's 53 bits end within the third slice
    }
    return sum;
  }

  /// The nearest double.
  [[nodiscard]] double value() const {
    if (top == kNotFinite) return std::numeric_limits<double>::quiet_NaN();
    if (top == kZero) return 0;
    __extension__ using Wide = __int128;
    Wide all = 0;
    for (const std::int64_t s : slice) all = (all * (Wide{1} << kSliceBits)) + s;
    return std::ldexp(static_cast<double>(all), kSliceBits * static_cast<int>(top - (kSlices - 1)));
  }

  friend OrderFreeSum operator+(OrderFreeSum a, OrderFreeSum b) {
    if (a.top < b.top) std::swap(a, b);
    if (a.top == kNotFinite || b.top == kZero) return a;
    const std::int64_t lower = a.top - b.top;
    for (std::int64_t i = 0; i + lower < kSlices; ++i) a.slice[i + lower] += b.slice[i];
    return a;
  }
};

}  // namespace papfft::fft
