// SPDX-License-Identifier: MIT
#include "app/report/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace papfft::app::report {
namespace {

constexpr double kLargest = 1e300;    // keeps hi - lo and 10% of padding finite
constexpr double kSmallest = 1e-290;  // keeps steps of a hundredth of the range normal numbers

// Multiples of a power of ten, as exact as the power's decimal notation: 3 * 10^-1 is 0.3, not 0.30000000000000004.
double times_power_of_ten(double mantissa, int exponent) {
  return exponent < 0 ? mantissa / std::pow(10.0, -exponent) : mantissa * std::pow(10.0, exponent);
}

std::string with_minus_sign(const std::string& number) {
  return number.starts_with('-') ? "−" + number.substr(1) : number;
}

std::string power_of_ten(int exponent) {
  static constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : fmt::format("{}", std::abs(exponent))) {
    text += kDigits[static_cast<std::size_t>(digit - '0')];
  }
  return text;
}

int floor_to_multiple_of_3(int n) { return 3 * static_cast<int>(std::floor(n / 3.0)); }

int decade_of(double positive) {
  const int guess = static_cast<int>(std::floor(std::log10(positive)));
  // log10 may round across a power of ten in either direction.
  if (times_power_of_ten(1, guess + 1) <= positive) return guess + 1;
  if (times_power_of_ten(1, guess) > positive) return guess - 1;
  return guess;
}

std::string si_prefix(int exponent10) {
  static constexpr std::array<const char*, 17> kPrefixes = {"y", "z", "a", "f", "p", "n", "µ", "m", "",
                                                            "k", "M", "G", "T", "P", "E", "Z", "Y"};
  const int index = exponent10 / 3 + 8;
  return kPrefixes.at(static_cast<std::size_t>(index));
}

std::string log_label(int digit, int decade, std::string_view unit) {
  if (takes_si_prefix(unit)) {
    const int exponent = std::clamp(floor_to_multiple_of_3(decade), -24, 24);
    return fmt::format("{:g} {}{}", times_power_of_ten(digit, decade - exponent), si_prefix(exponent), unit);
  }
  if (decade >= -3 && decade <= 4) return fmt::format("{:g}", times_power_of_ten(digit, decade));
  return digit == 1 ? power_of_ten(decade) : fmt::format("{}×{}", digit, power_of_ten(decade));
}

}  // namespace

Range usable_range(Range range, Scale scale) {
  const bool log = scale == Scale::log;
  const double least = log ? kSmallest : -kLargest;
  if (std::isnan(range.lo) || std::isnan(range.hi) || range.lo > range.hi || (log && range.hi <= 0)) {
    return log ? Range{1, 10} : Range{0, 1};
  }
  double lo = std::clamp(range.lo, least, kLargest);
  double hi = std::clamp(range.hi, least, kLargest);
  const double magnitude = std::max(std::abs(lo), std::abs(hi));
  // Closer than this, neighbouring ticks would round to the same number.
  if (hi - lo > std::max(1e-11 * magnitude, kSmallest)) return {lo, hi};
  if (log) return {std::max(lo / 2, kSmallest / 2), hi * 2};
  const double room = magnitude > kSmallest ? 0.1 * magnitude : 1.0;
  return {lo - room, hi + room};
}

bool takes_si_prefix(std::string_view unit) {
  static constexpr std::array<std::string_view, 13> kUnits = {
      "s", "Hz", "B", "B/s", "bit/s", "flop", "flop/s", "FLOPS", "S/s", "V", "W", "m", "bit"};
  return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end();
}

int common_exponent(Range range, std::string_view unit) {
  const double largest = std::max(std::abs(range.lo), std::abs(range.hi));
  if (!(largest > 0)) return 0;
  const int exponent = floor_to_multiple_of_3(decade_of(largest));
  if (takes_si_prefix(unit)) return std::clamp(exponent, -24, 24);
  return largest >= 1e-3 && largest < 1e5 ? 0 : exponent;
}

std::string axis_title(std::string_view label, std::string_view unit, Scale scale, int exponent10) {
  std::string in_parentheses(unit);
  if (takes_si_prefix(unit)) {
    in_parentheses = scale == Scale::log ? std::string() : si_prefix(exponent10) + in_parentheses;
  } else if (exponent10 != 0) {
    in_parentheses = fmt::format("×{}{}{}", power_of_ten(exponent10), unit.empty() ? "" : " ", unit);
  }
  if (in_parentheses.empty()) return std::string(label);
  return label.empty() ? in_parentheses : fmt::format("{} ({})", label, in_parentheses);
}

Ticks linear_ticks(Range range, int max_major, int exponent10) {
  const double span = range.hi - range.lo;
  const double tolerance = 1e-9;  // of a step: an end of the range that is a tick up to rounding is one
  max_major = std::max(max_major, 1);
  int exponent = decade_of(span / max_major) - 1;
  int mantissa = 1;
  const auto first = [&] { return std::ceil(range.lo / times_power_of_ten(mantissa, exponent) - tolerance); };
  const auto last = [&] { return std::floor(range.hi / times_power_of_ten(mantissa, exponent) + tolerance); };
  while (last() - first() + 1 > max_major) {
    mantissa = mantissa == 1 ? 2 : mantissa == 2 ? 5 : 1;
    if (mantissa == 1) ++exponent;
  }
  Ticks ticks;
  const int decimals = std::clamp(exponent10 - exponent, 0, 15);
  const int parts = mantissa == 2 ? 4 : 5;
  // usable_range keeps the ends within 10^11 spans of zero, so these fit.
  const auto begin = static_cast<std::int64_t>(first());
  const auto end = static_cast<std::int64_t>(last()) + 1;
  for (std::int64_t step = begin - 1; step < end; ++step) {
    const auto i = static_cast<double>(step);
    if (step >= begin) {
      const double value = step == 0 ? 0.0 : times_power_of_ten(i * mantissa, exponent);
      const double shown = step == 0 ? 0.0 : times_power_of_ten(i * mantissa, exponent - exponent10);
      ticks.major.push_back({value, with_minus_sign(fmt::format("{:.{}f}", shown, decimals))});
    }
    for (int part = 1; part < parts; ++part) {
      const double value = times_power_of_ten((i + part / static_cast<double>(parts)) * mantissa, exponent);
      if (value >= range.lo && value <= range.hi) ticks.minor.push_back(value);
    }
  }
  return ticks;
}

Ticks log_ticks(Range range, int max_major, std::string_view unit) {
  const double lo = range.lo * (1 - 1e-9);
  const double hi = range.hi * (1 + 1e-9);
  const int first_decade = decade_of(lo);
  const int last_decade = decade_of(hi);
  const auto inside = [&](double value) { return value >= lo && value <= hi; };

  Ticks ticks;
  const auto fill = [&](std::initializer_list<int> digits, int every) {
    ticks.major.clear();
    for (int decade = first_decade; decade <= last_decade; ++decade) {
      if (decade % every != 0) continue;
      for (const int digit : digits) {
        const double value = times_power_of_ten(digit, decade);
        if (inside(value)) ticks.major.push_back({value, log_label(digit, decade, unit)});
      }
    }
    return ticks.major.size() <= static_cast<std::size_t>(std::max(max_major, 1));
  };

  const bool fine_fits = fill({1, 2, 5}, 1);
  if (ticks.major.size() < 2) {
    const int exponent = common_exponent(range, unit);
    std::string suffix = exponent == 0 ? std::string() : fmt::format("×{}", power_of_ten(exponent));
    if (takes_si_prefix(unit)) suffix = fmt::format(" {}{}", si_prefix(exponent), unit);
    ticks = linear_ticks(range, max_major, exponent);
    for (Tick& tick : ticks.major) tick.label += suffix;
    return ticks;
  }
  if (!fine_fits) {
    int every = 1;
    while (!fill({1}, every) && every <= last_decade - first_decade) ++every;
  }
  // Above some twenty decades nine marks in each would be a grey bar; the decades themselves are enough.
  const bool all_digits = last_decade - first_decade <= 20;
  for (int decade = first_decade; decade <= last_decade; ++decade) {
    for (int digit = 1; digit <= (all_digits ? 9 : 1); ++digit) {
      const double value = times_power_of_ten(digit, decade);
      const bool labelled = std::any_of(ticks.major.begin(), ticks.major.end(),
                                        [value](const Tick& tick) { return tick.value == value; });
      if (inside(value) && !labelled) ticks.minor.push_back(value);
    }
  }
  return ticks;
}

Ticks binary_ticks(Range range, int max_major, std::string_view unit) {
  const auto first = static_cast<int>(std::ceil(std::log2(range.lo) - 1e-9));
  const auto last = static_cast<int>(std::floor(std::log2(range.hi) + 1e-9));
  if (last <= first) return log_ticks(range, max_major, unit);
  const auto label = [&](int power) {
    static constexpr std::array kPrefixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    const bool of_bytes = unit == "B" && power >= 0;
    const int prefix = of_bytes ? std::min<int>(power / 10, std::ssize(kPrefixes) - 1) : 0;
    return fmt::format("{:g}{}{}{}", std::ldexp(1.0, power - 10 * prefix), unit.empty() ? "" : " ",
                       kPrefixes.at(static_cast<std::size_t>(prefix)), unit);
  };
  const int every = (last - first) / std::max(max_major, 1) + 1;
  Ticks ticks;
  for (int power = first; power <= last; ++power) {
    const double value = std::ldexp(1.0, power);
    if (power % every == 0)
      ticks.major.push_back({value, label(power)});
    else
      ticks.minor.push_back(value);
  }
  return ticks;
}

}  // namespace papfft::app::report
