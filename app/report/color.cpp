// SPDX-License-Identifier: MIT
#include "app/report/color.hpp"

#include <algorithm>
#include <cmath>

namespace papfft::app::report {

Rgb viridis(double t) {
  static constexpr std::array<std::array<double, 7>, 3> kCoefficients = {{
      {0.2777273272234177, 0.1050930431085774, -0.3308618287255563, -4.634230498983486, 6.228269936347081,
       4.776384997670288, -5.435455855934631},
      {0.005407344544966578, 1.404613529898575, 0.214847559468213, -5.799100973351585, 14.17993336680509,
       -13.74514537774601, 4.645852612178535},
      {0.3340998053353061, 1.384590162594685, 0.09509516302823659, -19.33244095627987, 56.69055260068105,
       -65.35303263337234, 26.3124352495832},
  }};
  t = t > 0 ? std::min(t, 1.0) : 0.0;
  const auto channel = [t](const std::array<double, 7>& c) {
    double value = 0;
    for (std::size_t i = c.size(); i-- > 0;) value = value * t + c[i];
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  };
  return {channel(kCoefficients[0]), channel(kCoefficients[1]), channel(kCoefficients[2])};
}

Rgb blue_to_red(double t) {
  t = t > 0 ? std::min(t, 1.0) : 0.0;
  const Rgb end = palette_color(t < 0.5 ? 0 : 1);  // blue or vermilion
  const double share = std::abs(2 * t - 1);
  const auto channel = [share](std::uint8_t c) {
    return static_cast<std::uint8_t>(std::lround(255 + share * (c - 255)));
  };
  return {channel(end.r), channel(end.g), channel(end.b)};
}

Rgb palette_color(std::size_t index) {
  static constexpr std::array<Rgb, kPaletteColors> kColors = {{{0x00, 0x72, 0xb2},
                                                               {0xd5, 0x5e, 0x00},
                                                               {0x00, 0x9e, 0x73},
                                                               {0xcc, 0x79, 0xa7},
                                                               {0xe6, 0x9f, 0x00},
                                                               {0x56, 0xb4, 0xe9},
                                                               {0x00, 0x00, 0x00},
                                                               {0xf0, 0xe4, 0x42}}};
  return kColors[index % kPaletteColors];
}

double contrast(Rgb a, Rgb b) {
  const auto linear = [](std::uint8_t channel) {
    const double v = channel / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const auto luminance = [&](Rgb c) {
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
  };
  const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
  return (lighter + 0.05) / (darker + 0.05);
}

Rgb text_color_on(Rgb background) {
  return contrast(kBlack, background) > contrast(kWhite, background) ? kBlack : kWhite;
}

}  // namespace papfft::app::report
