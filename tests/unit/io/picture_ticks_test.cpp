// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "app/report/ticks.hpp"

namespace papfft::app::report {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks.major) out.push_back(tick.label);
  return out;
}

std::vector<double> values(const Ticks& ticks) {
  std::vector<double> out;
  for (const Tick& tick : ticks.major) out.push_back(tick.value);
  return out;
}

TEST(PictureTicks, LinearTicksAreMultiplesOfOneTwoFive) {
  EXPECT_THAT(labels(linear_ticks({0, 1}, 6)), ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(values(linear_ticks({0, 0.3}, 4)),
              ElementsAre(0.0, 0.1, 0.2, 0.3));  // 0.3, not 0.30000000000000004
  EXPECT_THAT(labels(linear_ticks({-7, 12}, 5)), ElementsAre("−5", "0", "5", "10"));
  EXPECT_THAT(labels(linear_ticks({-120, 0}, 7)),
              ElementsAre("−120", "−100", "−80", "−60", "−40", "−20", "0"));
  EXPECT_THAT(labels(linear_ticks({0, 24000}, 6, 3)), ElementsAre("0", "5", "10", "15", "20"));
  EXPECT_THAT(labels(linear_ticks({0, 0.005}, 6, -3)), ElementsAre("0", "1", "2", "3", "4", "5"));
  EXPECT_THAT(labels(linear_ticks({1000, 1000.5}, 3)), ElementsAre("1000.0", "1000.2", "1000.4"));
}

TEST(PictureTicks, LinearMinorTicksDivideTheStepEvenly) {
  EXPECT_THAT(linear_ticks({0, 2}, 3).minor,
              testing::Pointwise(testing::DoubleNear(1e-12), {0.2, 0.4, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8}));
  EXPECT_THAT(linear_ticks({3, 9}, 3).minor,
              ElementsAre(3, 3.5, 4.5, 5, 5.5, 6.5, 7, 7.5, 8.5, 9));  // 4, 6, 8 are major
}

// Properties, over ranges of all magnitudes: few enough, inside, evenly spaced, told apart by their labels.
TEST(PictureTicks, LinearTicksOfAnyUsableRange) {
  for (const double center : {0.0, 1.0, -3.7e-12, 44100.0, 6e23, -1e300, 5e-324}) {
    for (const double width : {0.0, 1e-300, 1e-6, 1.0, 48000.0, 1e18, 1e300}) {
      const Range range = usable_range({center - width, center + width}, Scale::linear);
      for (int most = 1; most <= 16; ++most) {
        SCOPED_TRACE(testing::Message() << range.lo << " .. " << range.hi << " most " << most);
        const int exponent = common_exponent(range, "");
        const Ticks ticks = linear_ticks(range, most, exponent);
        EXPECT_LE(ticks.major.size(), static_cast<std::size_t>(most));
        if (most >= 5) {
          EXPECT_GE(ticks.major.size(), 2U);
        }
        const double slack = 1e-8 * (range.hi - range.lo);
        for (std::size_t i = 0; i < ticks.major.size(); ++i) {
          EXPECT_GE(ticks.major[i].value, range.lo - slack);
          EXPECT_LE(ticks.major[i].value, range.hi + slack);
          if (i > 0) {
            EXPECT_GT(ticks.major[i].value, ticks.major[i - 1].value);
            EXPECT_NE(ticks.major[i].label, ticks.major[i - 1].label);
          }
        }
      }
    }
  }
}

TEST(PictureTicks, LogTicksThinOutAsRoomShrinks) {
  EXPECT_THAT(labels(log_ticks({20, 20000}, 12, "Hz")),
              ElementsAre("20 Hz", "50 Hz", "100 Hz", "200 Hz", "500 Hz", "1 kHz", "2 kHz", "5 kHz", "10 kHz",
                          "20 kHz"));
  EXPECT_THAT(labels(log_ticks({20, 20000}, 5, "Hz")), ElementsAre("100 Hz", "1 kHz", "10 kHz"));
  EXPECT_THAT(labels(log_ticks({1e-6, 1}, 4, "s")), ElementsAre("1 µs", "100 µs", "10 ms", "1 s"));
  EXPECT_THAT(labels(log_ticks({1e-3, 1e6}, 10)),
              ElementsAre("0.001", "0.01", "0.1", "1", "10", "100", "1000", "10000", "10⁵", "10⁶"));
  EXPECT_THAT(labels(log_ticks({1e-12, 1e-3}, 4)), ElementsAre("10⁻¹²", "10⁻⁹", "10⁻⁶", "0.001"));
}

TEST(PictureTicks, LogMinorTicksAreTheOtherDigits) {
  EXPECT_THAT(log_ticks({1, 10}, 4).minor, ElementsAre(3, 4, 6, 7, 8, 9));
  EXPECT_THAT(log_ticks({10, 1000}, 3).minor,
              ElementsAre(20, 30, 40, 50, 60, 70, 80, 90, 200, 300, 400, 500, 600, 700, 800, 900));
}

TEST(PictureTicks, LogTicksOfANarrowRangeAreLinear) {
  EXPECT_THAT(labels(log_ticks({1100, 1500}, 5, "Hz")),
              ElementsAre("1.1 kHz", "1.2 kHz", "1.3 kHz", "1.4 kHz", "1.5 kHz"));
  EXPECT_THAT(labels(log_ticks({1.1e20, 1.3e20}, 3)), ElementsAre("110×10¹⁸", "120×10¹⁸", "130×10¹⁸"));
}

TEST(PictureTicks, UsableRangeRepairsWhatAnAxisCannotShow) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(usable_range({-2, 3}, Scale::linear), (Range{-2, 3}));
  EXPECT_EQ(usable_range({kNaN, 3}, Scale::linear), (Range{0, 1}));
  EXPECT_EQ(usable_range({3, 2}, Scale::linear), (Range{0, 1}));
  EXPECT_EQ(usable_range({0, 0}, Scale::linear), (Range{-1, 1}));
  EXPECT_EQ(usable_range({-50, -50}, Scale::linear), (Range{-55, -45}));
  EXPECT_EQ(usable_range({-4, 0}, Scale::log), (Range{1, 10}));
  EXPECT_EQ(usable_range({8, 8}, Scale::log), (Range{4, 16}));
  const Range all = usable_range({-kInf, kInf}, Scale::linear);
  EXPECT_TRUE(std::isfinite(1.2 * (all.hi - all.lo)));
  EXPECT_GT(usable_range({0, 1}, Scale::log).lo, 0);
}

TEST(PictureTicks, AxisTitlesNameUnitAndPrefix) {
  EXPECT_EQ(axis_title("Time", "s", Scale::linear, common_exponent({0, 0.05}, "s")), "Time (ms)");
  EXPECT_EQ(axis_title("Frequency", "Hz", Scale::linear, common_exponent({0, 24000}, "Hz")),
            "Frequency (kHz)");
  EXPECT_EQ(axis_title("Frequency", "Hz", Scale::linear, common_exponent({0, 999}, "Hz")), "Frequency (Hz)");
  EXPECT_EQ(axis_title("Frequency", "Hz", Scale::log, 3), "Frequency");  // the ticks say it
  EXPECT_EQ(axis_title("Level", "dB", Scale::linear, common_exponent({-120, 0}, "dB")), "Level (dB)");
  EXPECT_EQ(axis_title("Count", "", Scale::linear, common_exponent({0, 2e6}, "")), "Count (×10⁶)");
  EXPECT_EQ(axis_title("Density", "V²/Hz", Scale::linear, common_exponent({0, 3e-9}, "V²/Hz")),
            "Density (×10⁻⁹ V²/Hz)");
  EXPECT_EQ(axis_title("", "", Scale::linear, 0), "");
}

TEST(PictureTicks, CommonExponentAtPowersOfTen) {
  EXPECT_EQ(common_exponent({0, 1000}, "Hz"), 3);
  EXPECT_EQ(common_exponent({0, 0.001}, "s"), -3);
  EXPECT_EQ(common_exponent({-5e-7, 0}, "s"), -9);
  EXPECT_EQ(common_exponent({0, 1e30}, "s"), 24);  // there is no larger prefix
  EXPECT_EQ(common_exponent({0, 0}, "s"), 0);
}

TEST(BinaryTicks, AreAtPowersOfTwo) {
  const auto labels = [](const Ticks& ticks) {
    std::vector<std::string> texts;
    for (const Tick& tick : ticks.major) texts.push_back(tick.label);
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(labels(binary_ticks({3.5, 33}, 8)), (Texts{"4", "8", "16", "32"}));
  EXPECT_EQ(labels(binary_ticks({512, 4 << 20}, 5, "B")),
            (Texts{"512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB"}));
  EXPECT_EQ(binary_ticks({512, 4 << 20}, 5, "B").minor.size(), 9U);
  EXPECT_EQ(labels(binary_ticks({0.2, 1}, 5)), (Texts{"0.25", "0.5", "1"}));
  // None, or one: as other log axes.
  EXPECT_EQ(labels(binary_ticks({5, 7}, 5)), labels(log_ticks({5, 7}, 5)));
  EXPECT_EQ(labels(binary_ticks({7, 9}, 5)), labels(log_ticks({7, 9}, 5)));
}

}  // namespace
}  // namespace papfft::app::report
