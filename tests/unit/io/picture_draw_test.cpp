// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/report/color.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {
namespace {

using testing::HasSubstr;
using testing::Not;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Decoded {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> rgb;
  [[nodiscard]] Rgb at(double x, double y) const {
    const std::size_t i = 3 * (static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x));
    return {rgb.at(i), rgb.at(i + 1), rgb.at(i + 2)};
  }
};

Decoded decode(const std::string& file) {
  EXPECT_TRUE(file.starts_with("\x89PNG\r\n\x1a\n"));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0)
    throw std::runtime_error(image.message);
  image.format = PNG_FORMAT_RGB;
  Decoded out{image.width, image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
  if (png_image_finish_read(&image, nullptr, out.rgb.data(), 0, nullptr) == 0)
    throw std::runtime_error(image.message);
  return out;
}

int distance(Rgb a, Rgb b) { return std::abs(a.r - b.r) + std::abs(a.g - b.g) + std::abs(a.b - b.b); }

/// Why the text is not well-formed XML of the kind the canvas writes (elements, attributes, five entities), or "".
std::string xml_fault(std::string_view xml) {
  std::vector<std::string> open;
  bool seen_root = false;
  while (!xml.empty()) {
    const std::size_t tag = xml.find('<');
    const std::string_view text = xml.substr(0, tag);
    if (text.find('>') != std::string_view::npos) return "bare > in text";
    for (std::size_t i = text.find('&'); i != std::string_view::npos; i = text.find('&', i + 1)) {
      const std::string_view entity = text.substr(i, text.find(';', i) - i + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
          entity != "&#39;") {
        return "bare &";
      }
    }
    if (open.empty() && text.find_first_not_of('\n') != std::string_view::npos)
      return "text outside the root";
    if (tag == std::string_view::npos) break;
    const std::size_t end = xml.find('>', tag);
    if (end == std::string_view::npos) return "unfinished tag";
    const std::string_view inside = xml.substr(tag + 1, end - tag - 1);
    xml.remove_prefix(end + 1);
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1))
        return "unmatched </" + std::string(inside.substr(1));
      open.pop_back();
      continue;
    }
    std::size_t at = inside.find_first_of(" /");
    const std::string name(inside.substr(0, at));
    std::vector<std::string> attributes;
    while (at < inside.size() && inside[at] == ' ') {
      const std::size_t equals = inside.find("=\"", at);
      if (equals == std::string_view::npos) return "attribute without value in " + name;
      const std::size_t close = inside.find('"', equals + 2);
      if (close == std::string_view::npos) return "unquoted attribute in " + name;
      attributes.emplace_back(inside.substr(at + 1, equals - at - 1));
      at = close + 1;
    }
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (attributes[i] == attributes[j]) return "attribute twice: " + attributes[i];
      }
    }
    if (at >= inside.size()) {
      if (open.empty() && seen_root) return "two roots";
      open.push_back(name);
      seen_root = true;
    } else if (inside.substr(at) != "/") {
      return "rubbish in " + name;
    }
  }
  return open.empty() && seen_root ? "" : "unclosed element";
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t i = text.find(part); i != std::string_view::npos; i = text.find(part, i + 1)) ++n;
  return n;
}

/// Both formats must come out sound; returns the PNG's layout.
template <typename Plot>
Layout expect_sound(const Plot& plot, const PlotStyle& style = {}) {
  const Picture png = draw(plot, style, Format::png);
  const Decoded image = decode(png.bytes);
  EXPECT_EQ(image.width, static_cast<std::size_t>(std::lround(style.size.width_px * style.size.scale)));
  EXPECT_EQ(image.height, static_cast<std::size_t>(std::lround(style.size.height_px * style.size.scale)));
  const std::string svg = draw(plot, style, Format::svg).bytes;
  EXPECT_EQ(xml_fault(svg), "");
  for (const char* number : {"nan", "inf", "NaN"})
    EXPECT_THAT(svg.substr(svg.find("<rect")), Not(HasSubstr(number)));
  const Layout& l = png.layout;
  EXPECT_LT(l.x.lo, l.x.hi);
  EXPECT_LT(l.y.lo, l.y.hi);
  EXPECT_GE(l.axes.width, 10);
  EXPECT_GE(l.axes.height, 10);
  return l;
}

HeatMap gradient(std::vector<float>& values, std::size_t rows, std::size_t cols) {
  values.resize(rows * cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) values[r * cols + c] = static_cast<float>(r) - 100;
  }
  HeatMap map;
  map.values = MatrixView(values, rows, cols);
  map.x = {.label = "Time", .unit = "s"};
  map.y = {.label = "Frequency", .unit = "Hz"};
  map.color = {.label = "Level", .unit = "dB"};
  map.x_edges = {0, 2};
  map.y_edges = {0, 24000};
  return map;
}

TEST(PictureColor, ViridisMatchesThePublishedAnchorsAndOnlyGetsLighter) {
  const std::vector<std::pair<double, Rgb>> anchors = {{0, {0x44, 0x01, 0x54}},
                                                       {0.25, {0x3b, 0x52, 0x8b}},
                                                       {0.5, {0x21, 0x91, 0x8c}},
                                                       {0.75, {0x5e, 0xc9, 0x62}},
                                                       {1, {0xfd, 0xe7, 0x25}}};
  for (const auto& [t, expected] : anchors) {
    const Rgb actual = viridis(t);
    EXPECT_NEAR(actual.r, expected.r, 4) << t;
    EXPECT_NEAR(actual.g, expected.g, 4) << t;
    EXPECT_NEAR(actual.b, expected.b, 4) << t;
  }
  const auto luminance = [](Rgb c) {  // CIE Y; lightness L* is a monotone function of it
    const auto linear = [](double v) {
      return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.r / 255.0) + 0.7152 * linear(c.g / 255.0) + 0.0722 * linear(c.b / 255.0);
  };
  for (int i = 1; i < 128; ++i)
    EXPECT_GT(luminance(viridis(i / 127.0)), luminance(viridis((i - 1) / 127.0))) << i;
  EXPECT_EQ(viridis(-3), viridis(0));
  EXPECT_EQ(viridis(kNaN), viridis(0));
  EXPECT_EQ(viridis(kInf), viridis(1));
}

using Matrix = std::array<std::array<double, 3>, 3>;

/// CIE L*a*b* (D65) of a colour as somebody sees it whose sight the matrix describes, in linear sRGB.
std::array<double, 3> lab_of(Rgb color, const Matrix& sight) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  const std::array<double, 3> sent = {linear(color.r / 255.0), linear(color.g / 255.0),
                                      linear(color.b / 255.0)};
  const auto product = [](const Matrix& m, const std::array<double, 3>& v) {
    std::array<double, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) out.at(i) = m.at(i)[0] * v[0] + m.at(i)[1] * v[1] + m.at(i)[2] * v[2];
    return out;
  };
  std::array<double, 3> seen = product(sight, sent);
  for (double& v : seen) v = std::clamp(v, 0.0, 1.0);
  constexpr Matrix kToXyzOverWhite = {{{0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505},
                                       {0.2126, 0.7152, 0.0722},
                                       {0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089}}};
  std::array<double, 3> f = product(kToXyzOverWhite, seen);
  for (double& t : f) t = t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116;
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

TEST(PictureColor, SeriesAreToldApartByColourBlindPeople) {
  // Nobody's, protanopia, deuteranopia, tritanopia: Machado, Oliveira and Fernandes (2009), severity 1.
  constexpr std::array<Matrix, 4> kSights = {
      {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
       {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
       {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
       {{{1.255528, -0.076749, -0.178779},
         {-0.078411, 0.930809, 0.147602},
         {0.004733, 0.691367, 0.303900}}}}};
  constexpr double kClearlyOther = 15;  // 2.3 is just noticeable
  for (std::size_t s = 0; s < kSights.size(); ++s) {
    for (std::size_t i = 0; i < kPaletteColors; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto a = lab_of(palette_color(i), kSights.at(s));
        const auto b = lab_of(palette_color(j), kSights.at(s));
        EXPECT_GT(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), kClearlyOther)
            << "colours " << i << " and " << j << ", sight " << s;
      }
    }
  }
}

TEST(PictureColor, TextCanBeReadOnAnyColour) {
  EXPECT_NEAR(contrast(kBlack, kWhite), 21, 1e-9);
  EXPECT_NEAR(contrast({0x76, 0x76, 0x76}, kWhite), 4.54,
              0.01);  // WCAG's own example of a grey that just suffices
  EXPECT_EQ(contrast(kWhite, kText), contrast(kText, kWhite));
  for (const Rgb ink : {kText, kMuted, kFrame}) EXPECT_GE(contrast(ink, kWhite), 4.5);
  for (std::size_t i = 0; i < kPaletteColors; ++i)
    EXPECT_GE(contrast(text_color_on(palette_color(i)), palette_color(i)), 4.5) << i;
  for (int t = 0; t <= 100; ++t)
    EXPECT_GE(contrast(text_color_on(viridis(t / 100.0)), viridis(t / 100.0)), 4.5) << t;
}

TEST(PictureDraw, HeatMapShowsAGradientWhereTheLayoutSays) {
  std::vector<float> values;
  HeatMap map = gradient(values, 101, 7);
  map.color.range = Range{-100, 0};
  for (const double scale : {1.0, 2.0, 1.25}) {
    const Picture picture = draw(map, {.size = {600, 400, scale}, .title = "Gradient"}, Format::png);
    const Decoded image = decode(picture.bytes);
    ASSERT_EQ(image.width, static_cast<std::size_t>(600 * scale));
    const Rect& a = picture.layout.axes;
    const Rect& bar = picture.layout.color_bar;
    for (const double t : {0.01, 0.25, 0.5, 0.9, 0.99}) {
      const double y = (a.bottom() - t * a.height) * scale;
      EXPECT_LE(distance(image.at((a.x + 0.3 * a.width) * scale, y), viridis(t)), 12)
          << t << " scale " << scale;
      EXPECT_LE(distance(image.at((bar.x + 0.5 * bar.width) * scale, y), viridis(t)), 12)
          << t << " scale " << scale;
    }
    EXPECT_EQ(image.at(1, 1), kWhite);
    EXPECT_EQ(image.at((a.right() + 4) * scale, (a.y + a.height / 2) * scale), kWhite);
  }
}

TEST(PictureDraw, RowsGoUpAndColumnsGoRight) {
  const std::vector<float> values = {0, 1, 2, 3};  // (row, column): 0 bottom left, 1 bottom right, 2 top left
  HeatMap map;
  map.values = MatrixView(values, 2, 2);
  const Picture picture = draw(map, {}, Format::png);
  const Decoded image = decode(picture.bytes);
  const Rect& a = picture.layout.axes;
  const auto at = [&](double x, double y) { return image.at(a.x + x * a.width, a.bottom() - y * a.height); };
  EXPECT_LE(distance(at(0.25, 0.25), viridis(0)), 4);
  EXPECT_LE(distance(at(0.75, 0.25), viridis(1 / 3.0)), 4);
  EXPECT_LE(distance(at(0.25, 0.75), viridis(2 / 3.0)), 4);
  EXPECT_LE(distance(at(0.75, 0.75), viridis(1)), 4);
}

TEST(PictureDraw, ALogarithmicAxisPutsTheGeometricMeanInTheMiddle) {
  std::vector<float> values(1000, 0);
  values[100] = 1;  // the cell [100, 101) of 0 .. 1000
  HeatMap map;
  map.values = MatrixView(values, 1000, 1);
  map.y_edges = {0, 1000};
  map.y.scale = Scale::log;
  map.y.range = Range{10, 1000};
  const Picture picture = draw(map, {}, Format::png);
  const Decoded image = decode(picture.bytes);
  const Rect& a = picture.layout.axes;
  EXPECT_LE(distance(image.at(a.x + 5, a.y + a.height / 2 - 1), viridis(1)), 4);
  EXPECT_LE(distance(image.at(a.x + 5, a.y + a.height / 2 - 20), viridis(0)), 4);

  map.y.range.reset();  // zero is infinitely far down: the axis begins at the first cell edge above it
  EXPECT_EQ(expect_sound(map).y, (Range{1, 1000}));
}

TEST(PictureDraw, ASingleLoudCellAmongMillionsIsSeenUnlessAveraged) {
  std::vector<float> values(3000 * 4000, 0);
  values[1234 * 4000 + 3210] = 1;
  HeatMap map;
  map.values = MatrixView(values, 3000, 4000);
  map.color.range = Range{0, 1};
  const Picture loud = draw(map, {}, Format::png);
  const Decoded image = decode(loud.bytes);
  const Rect& a = loud.layout.axes;
  int seen = 0;
  for (int y = 2; y < a.height - 2; ++y) {
    for (int x = 2; x < a.width - 2; ++x) seen += image.at(a.x + x, a.y + y) == viridis(1) ? 1 : 0;
  }
  EXPECT_GE(seen, 1);
  EXPECT_LE(seen, 4);
  EXPECT_THAT(loud.layout.note, HasSubstr("maximum"));
  map.pooling = Pooling::mean;
  EXPECT_THAT(draw(map, {}, Format::png).layout.note, HasSubstr("mean"));
}

TEST(PictureDraw, CellsWithoutAValueAreGrey) {
  std::vector<float> values = {1, 2, std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::infinity()};
  HeatMap map;
  map.values = MatrixView(values, 1, 4);
  const Picture picture = draw(map, {}, Format::png);
  const Decoded image = decode(picture.bytes);
  const Rect& a = picture.layout.axes;
  EXPECT_EQ(image.at(a.x + 0.6 * a.width, a.y + a.height / 2), kNoData);
  EXPECT_EQ(image.at(a.x + 0.9 * a.width, a.y + a.height / 2), kNoData);
  EXPECT_NE(image.at(a.x + 0.1 * a.width, a.y + a.height / 2), kNoData);
  EXPECT_THAT(picture.layout.note, HasSubstr("no value"));
  EXPECT_EQ(picture.layout.color, (Range{1, 2}));
}

TEST(PictureDraw, DeepNullsDoNotUseUpTheColours) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 100) - 100;
  values[500] = -3000;
  HeatMap map;
  map.values = MatrixView(values, 10, 100);
  const Layout layout = expect_sound(map);
  EXPECT_GE(layout.color.lo, -100);
  EXPECT_EQ(layout.color.hi, -1);
}

TEST(PictureDraw, LinePlotPassesThroughItsPoints) {
  LinePlot plot;
  plot.series = {{.name = "a", .x = {0, 10}, .y = {0, 10}}};
  plot.x.range = plot.y.range = Range{0, 10};
  const Picture picture = draw(plot, {}, Format::png);
  const Decoded image = decode(picture.bytes);
  const Rect& a = picture.layout.axes;
  for (const double t : {0.123, 0.456, 0.789}) {
    int nearest = 765;  // anti-aliasing may put the line between two pixels
    for (const double dy : {-1.0, 0.0, 1.0}) {
      const Rgb pixel = image.at(a.x + t * a.width, a.bottom() - t * a.height + dy);
      nearest = std::min(nearest, distance(pixel, palette_color(0)));
    }
    EXPECT_LE(nearest, 60) << t;
    EXPECT_EQ(image.at(a.x + t * a.width, a.bottom() - t * a.height - 12), kWhite) << t;
  }
}

TEST(PictureDraw, APeakOfOnePointInAHundredThousandReachesItsHeight) {
  LinePlot plot;
  plot.series.resize(1);
  for (int i = 0; i < 100000; ++i) {
    plot.series[0].x.push_back(i);
    plot.series[0].y.push_back(i == 77777 ? 0 : -100);
  }
  plot.y.range = Range{-110, 10};
  const Picture picture = draw(plot, {}, Format::png);
  const Decoded image = decode(picture.bytes);
  const Rect& a = picture.layout.axes;
  const double x = a.x + 77777 / 99999.0 * a.width;
  const double y = a.y + a.height / 12 + 3;  // just below the peak's tip
  int darkest = 765;
  for (const double dx : {-1.0, 0.0, 1.0})
    darkest = std::min(darkest, distance(image.at(x + dx, y), palette_color(0)));
  EXPECT_LE(darkest, 250);
  EXPECT_LT(draw(plot, {}, Format::svg).bytes.size(), 100000U);
}

TEST(PictureDraw, BarsStandOnZeroAndReachTheirValues) {
  BarChart chart;
  chart.categories = {"one", "two"};
  chart.series = {{"up", {5, 10}, {}}, {"down", {-5, -10}, {}}};
  chart.y.range = Range{-20, 20};
  chart.show_values = false;
  const Picture picture = draw(chart, {}, Format::png);
  const Decoded image = decode(picture.bytes);
  const Rect& a = picture.layout.axes;
  const auto at = [&](double category, double value) {
    return image.at(a.x + (category + 0.5) / 2 * a.width, a.y + (20 - value) / 40 * a.height);
  };
  EXPECT_EQ(at(0.8, 9.7), palette_color(0));
  EXPECT_EQ(at(0.8, 0.5), palette_color(0));
  EXPECT_NE(at(0.8, 10.4), palette_color(0));
  EXPECT_NE(at(0.8, -0.6), palette_color(0));
  EXPECT_EQ(at(1.2, -9.7), palette_color(1));
  EXPECT_NE(at(1.2, -10.4), palette_color(1));
  EXPECT_NE(at(1.2, 0.6), palette_color(1));
}

TEST(PictureDraw, SvgHoldsItsTextsAsText) {
  std::vector<float> values;
  const HeatMap map = gradient(values, 11, 3);
  const std::string svg = draw(map, {.title = "a <b> & \"c\""}, Format::svg).bytes;
  EXPECT_EQ(xml_fault(svg), "");
  for (const char* text : {"<title>a &lt;b&gt; &amp; &quot;c&quot;</title>",
                           "<desc>Heat map of 11 × 3 values", ">Time (s)</text>", ">Frequency (kHz)</text>",
                           ">Level (dB)</text>", ">−95</text>", "data:image/png;base64,iVBORw0KGgo"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, Not(HasSubstr(" id=")));  // several pictures may share an HTML page
}

TEST(PictureDraw, SvgCurvesDescribeTheSeries) {
  LinePlot plot;
  plot.series = {{.name = "alpha", .x = {1, 2, 3}, .y = {1, 4, 9}, .error = {0.1, 0.2, 0.3}, .markers = true},
                 {.name = "beta", .x = {1, 2, 3}, .y = {1, kNaN, 2}}};
  const std::string svg = draw(plot, {.title = "t"}, Format::svg).bytes;
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">alpha</text>"));
  EXPECT_THAT(svg, HasSubstr("series: alpha, beta"));
  EXPECT_EQ(count_of(svg, "<polygon"), 4U);  // three markers and the legend's
}

/// The strokes and fills of a legend's entries, in the words of the SVG.
std::vector<std::string> legend_samples(const std::string& svg, const std::vector<std::string>& names) {
  std::vector<std::string> samples;
  for (const std::string& name : names) {
    const std::size_t text = svg.find(">" + name + "</text>");
    EXPECT_NE(text, std::string::npos) << name;
    const std::size_t begin = svg.rfind("</text>", text);  // of the entry, or what is drawn before the legend
    std::string sample = svg.substr(begin, svg.rfind("<text", text) - begin);
    // Where it stands does not count: lines by colour and dash, markers by the number of corners.
    std::string essence = std::to_string(count_of(sample, ","));
    for (std::size_t at = 0; (at = sample.find_first_of('#', at)) != std::string::npos; ++at)
      essence += " " + sample.substr(at, 7);
    const std::size_t dash = sample.find("stroke-dasharray");
    samples.push_back(essence + (dash == std::string::npos ? "" : sample.substr(dash, 24)));
  }
  return samples;
}

TEST(PictureDraw, ManySeriesAreToldApartByColourDashAndMarker) {
  LinePlot plot;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back("series" + std::to_string(i));
    plot.series.push_back({.name = names.back(), .x = {1}, .y = {static_cast<double>(i)}, .markers = true});
  }
  std::vector<std::string> samples = legend_samples(draw(plot, {}, Format::svg).bytes, names);
  std::sort(samples.begin(), samples.end());
  EXPECT_EQ(std::adjacent_find(samples.begin(), samples.end()), samples.end());
}

TEST(PictureDraw, RegionsBeyondTheColoursHaveStripes) {
  RegionMap map;
  for (std::size_t i = 0; i < 20; ++i) {
    map.columns.push_back(std::to_string(i));
    map.names.push_back("thing" + std::to_string(i));
    map.cells.push_back(i);
    map.captions.emplace_back();
  }
  map.rows = {"1"};
  const std::string svg = draw(map, {}, Format::svg).bytes;
  std::vector<std::string> samples = legend_samples(svg, map.names);
  // An entry's own box comes after the one before it, so that only the last colours tell.
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(samples[i], samples[j]) << i << " and " << j;
  }
}

TEST(PictureDraw, RegionsAreNamedAsFarAsThereIsRoom) {
  RegionMap map{
      .columns = {"a"}, .rows = {"1"}, .names = {"best"}, .cells = {0}, .captions = {"best\n1.20×"}};
  const std::string roomy = draw(map, {}, Format::svg).bytes;
  EXPECT_EQ(count_of(roomy, ">best</text>"), 2U);  // the legend's, too
  EXPECT_THAT(roomy, HasSubstr(">1.20×</text>"));
  map.rows.assign(30, "1");
  map.cells.assign(30, 0);
  map.captions.assign(30, map.captions.front());
  const std::string low = draw(map, {}, Format::svg).bytes;
  EXPECT_EQ(count_of(low, ">best</text>"), 31U);
  EXPECT_THAT(low, Not(HasSubstr("1.20")));
  map.columns.assign(60, "a");
  map.cells.assign(1800, 0);
  map.captions.assign(1800, "a name that is too long for its cell");
  EXPECT_THAT(draw(map, {}, Format::svg).bytes, Not(HasSubstr(">a name")));
}

TEST(PictureDraw, RegionsMayShowNumbersByColours) {
  RegionMap map{.columns = {"a", "b"},
                .rows = {"1", "2"},
                .captions = {"low", "middle", "high", "nothing"},
                .values = {0.5, 1, 9, std::numeric_limits<double>::quiet_NaN()},
                .value_axis = {.label = "ratio", .range = Range{0.5, 1.5}}};
  const std::string svg = draw(map, {}, Format::svg).bytes;
  const auto fill = [](Rgb c) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "#%02x%02x%02x", c.r, c.g, c.b);
    return std::string(text.data());
  };
  const std::array<Rgb, 4> colors = {blue_to_red(0), blue_to_red(0.5), blue_to_red(1), kNoData};
  std::size_t at = 0;
  for (std::size_t i = 0; i < colors.size(); ++i) {  // each cell, then its caption
    const std::size_t color = svg.find("fill=\"" + fill(colors.at(i)), at);
    at = svg.find(">" + map.captions[i] + "</text>", at);
    ASSERT_NE(at, std::string::npos) << map.captions[i];
    EXPECT_LT(color, at) << map.captions[i];
  }
  EXPECT_THAT(svg, HasSubstr(">ratio</text>"));
  map.framed = {2};
  const std::string framed = draw(map, {}, Format::svg).bytes;
  EXPECT_EQ(count_of(framed, "stroke-width=\"4\""), count_of(svg, "stroke-width=\"4\"") + 1);
}

TEST(PictureDraw, RegionsOfNumbersNeedARangeAndANumberForEachCell) {
  RegionMap map{.columns = {"a"}, .rows = {"1"}, .captions = {""}, .values = {1}};
  EXPECT_THROW((void)draw(map, {}, Format::svg), std::invalid_argument);
  map.value_axis.range = Range{1, 1};
  EXPECT_THROW((void)draw(map, {}, Format::svg), std::invalid_argument);
  map.value_axis.range = Range{0, 2};
  EXPECT_NO_THROW((void)draw(map, {}, Format::svg));
  map.values = {1, 2};
  EXPECT_THROW((void)draw(map, {}, Format::svg), std::invalid_argument);
}

TEST(PictureDraw, AnAxisIsMarkedWhereThereAreMeasurements) {
  LinePlot plot;
  plot.series = {{.name = "a", .x = {6, 48}, .y = {1, 2}}};
  plot.x = {.label = "ranks", .scale = Scale::log, .marks = {6, 8, 47, 48}};
  const std::string svg = draw(plot, {}, Format::svg).bytes;
  for (const char* label : {">6</text>", ">8</text>", ">47</text>"}) EXPECT_THAT(svg, HasSubstr(label));
  EXPECT_THAT(svg, Not(HasSubstr(">48</text>")));  // no room beside 47
  plot.x.marks = {6, 8, 31, 32, 48};
  EXPECT_THAT(draw(plot, {}, Format::svg).bytes, HasSubstr(">32</text>"));
}

TEST(PictureDraw, ErrorBarsAtTheSamePlaceStandBesideEachOther) {
  LinePlot plot;
  plot.series = {{.name = "a", .x = {1, 2}, .y = {1, 2}, .interval = {{1, 2}, {2, 3}}},
                 {.name = "b", .x = {1, 2}, .y = {1, 2}, .interval = {{1, 2}, {2, 3}}}};
  const auto lines = [&] {  // of the data alone
    const std::string svg = draw(plot, {}, Format::svg).bytes;
    const std::size_t clip = svg.find("<svg", 1);
    std::vector<std::string> found;
    for (std::size_t at = clip; (at = svg.find("points=\"", at)) < svg.find("</svg>", clip); ++at)
      found.push_back(svg.substr(at, svg.find('"', at + 8) - at));
    std::sort(found.begin(), found.end());
    return found;
  };
  std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 14U);  // for each series a line, and two bars with two ends each
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  for (Series& series : plot.series) series.interval = {{1, 1}, {2, 2}};
  all = lines();
  EXPECT_NE(std::adjacent_find(all.begin(), all.end()),
            all.end());  // without bars points stay where they are
}

TEST(PictureDraw, SmallPrintIsWrappedAndSaysAll) {
  LinePlot plot;
  std::string note;
  for (int i = 0; i < 60; ++i) note += "word" + std::to_string(i) + " ";
  const Picture long_one = draw(plot, {.note = note}, Format::svg);
  EXPECT_THAT(long_one.bytes, HasSubstr("word59</text>"));
  EXPECT_LT(long_one.layout.axes.height, draw(plot, {.note = "short"}, Format::svg).layout.axes.height);
  EXPECT_GT(draw(plot, {.note = std::string(20000, 'a') + note + note + note + note + note}, Format::svg)
                .layout.axes.height,
            500);  // hostile ones do not use up the picture
}

TEST(PictureDraw, WithoutAHeadingItsTitleIsStillForScreenReaders) {
  const LinePlot plot;
  const Picture with = draw(plot, {.title = "A title", .subtitle = "more"}, Format::svg);
  const Picture without = draw(plot, {.title = "A title", .subtitle = "more", .heading = false}, Format::svg);
  EXPECT_THAT(with.bytes, HasSubstr(">A title</text>"));
  EXPECT_THAT(without.bytes, HasSubstr("<title>A title</title>"));
  EXPECT_THAT(without.bytes, Not(HasSubstr(">A title</text>")));
  EXPECT_THAT(without.bytes, Not(HasSubstr("more")));
  EXPECT_GT(without.layout.axes.height, with.layout.axes.height);
}

TEST(PictureDraw, TextOfAnyBytesIsHarmless) {
  EXPECT_EQ(clean_text("a\tb\n"), "a\ufffdb\ufffd");
  EXPECT_EQ(clean_text("gr\xc3\xbc\xc3\x9f"), "grüß");
  EXPECT_EQ(clean_text("\xc3"), "\ufffd");                        // cut off
  EXPECT_EQ(clean_text("\xc0\xaf"), "\ufffd\ufffd");              // overlong
  EXPECT_EQ(clean_text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");    // surrogate
  EXPECT_EQ(clean_text("\xf0\x9f\x8e\xb5"), "\xf0\x9f\x8e\xb5");  // outside the basic plane
  EXPECT_EQ(clean_text("\xef\xbf\xbf"), "\ufffd\ufffd\ufffd");    // noncharacter
  LinePlot plot;
  plot.x.label = "\xff\x01]]>";
  plot.series = {{.name = std::string(500, 'W')}, {.name = "\x80"}};
  expect_sound(plot, {.title = std::string(2000, '\xfe')});
}

TEST(PictureDraw, EmptyAndConstantAndSingleDataHaveAxes) {
  HeatMap map;
  expect_sound(map);
  map.y.scale = Scale::log;
  expect_sound(map);
  const std::vector<float> one = {5};
  map.values = MatrixView(one, 1, 1);
  expect_sound(map);
  map.y.scale = Scale::linear;
  EXPECT_LT(expect_sound(map).color.lo, 5);
  const std::vector<float> bad(12, std::numeric_limits<float>::quiet_NaN());
  map.values = MatrixView(bad, 3, 4);
  expect_sound(map);
  const std::vector<float> extreme = {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max(),
                                      1e-45F, 0};
  map.values = MatrixView(extreme, 2, 2);
  expect_sound(map);

  LinePlot line;
  EXPECT_EQ(expect_sound(line).y, (Range{-0.05, 1.05}));
  line.series.resize(1);
  expect_sound(line);
  line.series[0] = {.name = "one", .x = {3}, .y = {7}, .error = {kNaN}, .markers = true};
  EXPECT_LT(expect_sound(line).x.lo, 3);
  line.series[0] = {.name = "bad", .x = {1, 2, kNaN, kInf}, .y = {kNaN, -kInf, 3, 4}};
  expect_sound(line);
  line.series[0] = {.name = "huge", .x = {-1.7e308, 0, 1.7e308}, .y = {1.7e308, 5e-324, -1.7e308}};
  expect_sound(line);
  line.x.scale = line.y.scale = Scale::log;
  expect_sound(line);
  line.series[0] = {.name = "negative", .x = {-1, -2}, .y = {-1, 0}};
  expect_sound(line);

  BarChart bars;
  expect_sound(bars);
  bars.categories = {"a", "b"};
  expect_sound(bars);
  bars.series = {{"s", {0, kNaN}, {kInf, 1}}, {"t", {0, 0}, {}}};
  expect_sound(bars);
  bars.y.scale = Scale::log;
  expect_sound(bars);
  bars.series = {{"s", {1e-3, 1e3}, {1, 1}}};  // an error bar longer than its value
  expect_sound(bars);
}

TEST(PictureDraw, ManySeriesLongNamesAndSmallPicturesFit) {
  BarChart bars;
  for (int i = 0; i < 60; ++i) bars.categories.push_back("category number " + std::to_string(i));
  for (int i = 0; i < 12; ++i)
    bars.series.push_back({"series " + std::to_string(i), std::vector<double>(60, i), {}});
  expect_sound(bars);
  expect_sound(bars, {.size = {100, 80, 1}});
  expect_sound(bars, {.size = {300, 200, 0.5}, .title = "x", .font_px = 30});
}

TEST(PictureDraw, RejectsWhatDoesNotFitTogether) {
  LinePlot line;
  line.series = {{.name = "a", .x = {1, 2}, .y = {1}}};
  EXPECT_THROW((void)draw(line, {}, Format::png), std::invalid_argument);
  line.series = {{.name = "a", .x = {1}, .y = {1}, .error = {1, 2}}};
  EXPECT_THROW((void)draw(line, {}, Format::png), std::invalid_argument);
  BarChart bars;
  bars.categories = {"a"};
  bars.series = {{"s", {1, 2}, {}}};
  EXPECT_THROW((void)draw(bars, {}, Format::svg), std::invalid_argument);
  HeatMap map;
  map.x_edges = {1, 1};
  EXPECT_THROW((void)draw(map, {}, Format::png), std::invalid_argument);
  map.x_edges = {-2, -1};
  map.x.scale = Scale::log;
  EXPECT_THROW((void)draw(map, {}, Format::png), std::invalid_argument);
  map.x.scale = Scale::linear;
  map.x.range = Range{5, 6};
  EXPECT_THROW((void)draw(map, {}, Format::png), std::invalid_argument);
  for (const PictureSize& size : {PictureSize{50, 500, 1}, PictureSize{500, 50, 1}, PictureSize{5000, 500, 5},
                                  PictureSize{500, 500, 0}, PictureSize{500, 500, kNaN}}) {
    EXPECT_THROW((void)draw(LinePlot{}, {.size = size}, Format::png), std::invalid_argument);
  }
}

}  // namespace
}  // namespace papfft::app::report
