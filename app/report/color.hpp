// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace papfft::app::report {

/// An sRGB colour, 8 bits per channel.
struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

inline constexpr Rgb kWhite{255, 255, 255};
inline constexpr Rgb kBlack{0, 0, 0};
inline constexpr Rgb kText{0x26, 0x26, 0x26};
inline constexpr Rgb kFrame{0x4d, 0x4d, 0x4d};
inline constexpr Rgb kMuted{0x75, 0x75, 0x75};
inline constexpr Rgb kGrid{0xdd, 0xdd, 0xdd};
/// Cells without a value. Viridis has no grey, so this cannot be taken for data.
inline constexpr Rgb kNoData{0xb3, 0xb3, 0xb3};

/// Viridis: perceptually uniform, readable by colour-blind people and in black-and-white print.
///
/// @param t  position, 0 (dark violet) to 1 (yellow); clamped, NaN counts as 0.
/// @note Source  Smith and van der Walt's map (CC0), through Zucker's sixth-degree polynomial fit (CC0), which stays
///               within 4/255 of the original table at the published anchors.
[[nodiscard]] Rgb viridis(double t);

/// From blue (0) over white (0.5) to red (1), which colour-blind people tell apart. @param t  clamped, NaN counts as 0
[[nodiscard]] Rgb blue_to_red(double t);

/// The colour-blind safe palette of Okabe and Ito (Color Universal Design, 2008), best contrast on white first; repeats.
[[nodiscard]] Rgb palette_color(std::size_t index);
inline constexpr std::size_t kPaletteColors = 8;

/// From 1 (the same) to 21 (black and white); text of usual size needs 4.5. @note Source  WCAG 2.2, "contrast ratio"
[[nodiscard]] double contrast(Rgb a, Rgb b);

/// Black or white, whichever has more contrast: at least 4.58 on any background.
[[nodiscard]] Rgb text_color_on(Rgb background);

}  // namespace papfft::app::report
