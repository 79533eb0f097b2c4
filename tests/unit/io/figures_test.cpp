// SPDX-License-Identifier: MIT
// The pictures of `papfft report`, as a reader sees them: what is written in them is whole and legible. Drawn from the
// measurements in the repository.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/io/recording_file.hpp"
#include "app/report/bench_figures.hpp"
#include "app/report/figure.hpp"
#include "tests/support/repository.hpp"
#include "tests/support/sample_recording.hpp"

namespace papfft::app::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

/// A word or line as it stands in a picture.
struct Text {
  std::string words;
  Rect box;  ///< of what is upright or lies on its side: of the letters; of what is sloped: around them
  bool sloped = false;
  double size_px = 0;
};

std::string without_entities(std::string text) {
  for (const auto& [entity, character] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos;)
      text.replace(at, std::string_view(entity).size(), character);
  }
  return text;
}

std::vector<Text> texts_of(const std::string& svg) {
  static const std::regex kText(
      "<text x=\"([^\"]*)\" y=\"([^\"]*)\" font-size=\"([^\"]*)\" text-anchor=\"([^\"]*)\" fill=\"[^\"]*\""
      "( font-weight=\"bold\")?( transform=\"rotate\\(([^ ]*) [^\"]*\")?>([^<]*)");
  std::vector<Text> texts;
  for (std::size_t at = 0; (at = svg.find("<text ", at)) != std::string::npos; ++at) {
    const std::string element = svg.substr(at, svg.find("</text>", at) - at);
    std::smatch m;
    if (!std::regex_match(element, m, kText)) throw std::runtime_error("another kind of text: " + element);
    Text text{.words = without_entities(m[8].str()), .box = {}, .size_px = std::stod(m[3].str())};
    const double x = std::stod(m[1].str());
    const double y = std::stod(m[2].str());
    const double width = text_width(text.words, text.size_px, m[5].matched);
    const double left = m[4].str() == "start" ? 0 : m[4].str() == "middle" ? -width / 2 : -width;
    const double angle = m[7].matched ? std::stod(m[7].str()) * std::numbers::pi / 180 : 0;
    text.sloped = std::abs(std::sin(2 * angle)) > 1e-6;
    double lo_x = 1e9, lo_y = 1e9, hi_x = -1e9, hi_y = -1e9;
    for (const double along : {left, left + width}) {
      for (const double down : {-0.73 * text.size_px, 0.0}) {  // of a capital
        const double px = x + along * std::cos(angle) - down * std::sin(angle);
        const double py = y + along * std::sin(angle) + down * std::cos(angle);
        lo_x = std::min(lo_x, px), hi_x = std::max(hi_x, px);
        lo_y = std::min(lo_y, py), hi_y = std::max(hi_y, py);
      }
    }
    text.box = {lo_x, lo_y, hi_x - lo_x, hi_y - lo_y};
    texts.push_back(text);
  }
  return texts;
}

bool overlap(const Rect& a, const Rect& b) {
  constexpr double kTouch_px = 0.5;
  return a.x + kTouch_px < b.right() && b.x + kTouch_px < a.right() && a.y + kTouch_px < b.bottom() &&
         b.y + kTouch_px < a.bottom();
}

/// What tells the colours and lines apart; nothing where there is but one.
std::vector<std::string> legend_of(const Figure& figure) {
  std::vector<std::string> names;
  const auto add = [&](const auto& things) {
    for (const auto& thing : things) names.push_back(thing.name);
  };
  if (const auto* lines = std::get_if<LinePlot>(&figure.plot); lines != nullptr && lines->series.size() > 1)
    add(lines->series);
  if (const auto* bars = std::get_if<BarChart>(&figure.plot); bars != nullptr && bars->series.size() > 1)
    add(bars->series);
  if (const auto* map = std::get_if<RegionMap>(&figure.plot)) names = map->names;
  if (const auto* gantt = std::get_if<Gantt>(&figure.plot)) {
    add(gantt->kinds);
    add(gantt->link_kinds);
  }
  return names;
}

/// What a reader would complain of.
std::vector<std::string> faults(const Figure& figure) {
  const std::vector<Text> texts = texts_of(draw(figure, Format::svg).bytes);
  std::vector<std::string> found;
  const auto complain = [&](const std::string& what, const std::string& words) {
    found.push_back(figure.name + ": " + what + ": " + words);
  };
  if (texts.empty()) complain("has no text", figure.title);
  for (const std::string& name : legend_of(figure)) {
    if (std::ranges::find(texts, name, &Text::words) == texts.end()) complain("is not in the legend", name);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Text& text = texts[i];
    if (text.box.x < 0 || text.box.y < 0 || text.box.right() > figure.size.width_px ||
        text.box.bottom() > figure.size.height_px)
      complain("goes over the edge", text.words);
    if (text.words.ends_with("…")) complain("is cut off", text.words);
    if (text.size_px < 10) complain("is too small", text.words);
    for (std::size_t j = 0; j < i; ++j) {
      if (!text.sloped && !texts[j].sloped && overlap(text.box, texts[j].box))
        complain("is written over '" + texts[j].words + "'", text.words);
    }
  }
  return found;
}

/// Of lines over sizes, ranks or delays of times: whether each point has its error bar.
bool has_error_bars(const LinePlot& plot) {
  return std::ranges::all_of(plot.series, [](const Series& s) {
    return s.interval.size() == s.x.size() &&
           std::ranges::all_of(s.interval, [](const Range& r) { return r.lo <= r.hi; });
  });
}

std::vector<std::filesystem::path> measurements() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::repository() / "data/results")) {
    if (entry.path().extension() == ".json" && entry.path().filename() != "experiments.json")
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST(Figures, OfARecordedJobAreLegible) {
  Json document = Json::parse(io::to_json(test::sample_recording()).dump());
  document["machine"] = {{"host", "h"}, {"cores", 1}, {"mpi", "M"}};
  const std::vector<BenchRun> runs = {to_bench_run("r.json", document)};
  std::vector<std::string> names;
  for (const Figure& figure : make_figures(group_runs(runs).front(), "1")) {
    EXPECT_THAT(faults(figure), IsEmpty());
    EXPECT_THAT(figure.note, HasSubstr("h, 1 core, M"));
    if (const auto* gantt = std::get_if<Gantt>(&figure.plot)) {
      for (const Gantt::Mark& mark :
           gantt->marks) {  // one is before the first arrival, one behind the last exit
        EXPECT_GT(mark.at, gantt->x.range->lo);
        EXPECT_LT(mark.at, gantt->x.range->hi);
      }
    }
    names.push_back(figure.name.substr(figure.name.find_last_of("0123456789") + 2));
  }
  EXPECT_THAT(names, IsSupersetOf({"bars", "spreads", "arrivals", "prediction-errors", "call"}));
}

/// All operations and sizes that `papfft bench guidelines` checks by default, every third cell a violation.
Json guidelines() {
  Json rows = Json::array();
  for (const char* operation :
       {"scatter", "gather", "bcast", "reduce", "allgather", "allgatherv", "allreduce", "reduce_scatter"}) {
    for (std::int64_t bytes = 1024; bytes <= 1 << 24; bytes *= 4) {
      for (const char* guideline : {"stock", "mockups"}) {
        const double ratio = 0.5 + static_cast<double>(rows.size() % 12) / 10;
        rows.push_back(Json{{"op", operation},
                            {"guideline", guideline},
                            {"peer", "mpi"},
                            {"ranks", 4},
                            {"bytes", bytes},
                            {"pattern", "none"},
                            {"auto_ms", {{"median", ratio}}},
                            {"peer_ms", {{"median", 1}}},
                            {"ratio", ratio},
                            {"p", 0.001},
                            {"verdict", ratio > 1.03 ? "VIOLATED" : "kept"},
                            {"violated", ratio > 1.03}});
      }
    }
  }
  return Json{{"machine", {{"host", "h"}, {"cores", 1}, {"mpi", "M"}}}, {"rows", rows}};
}

TEST(Figures, OfGuidelinesAreLegibleAndFrameViolations) {
  const std::vector<BenchRun> runs = {to_bench_run("g.json", guidelines())};
  const std::vector<Figure> figures = make_figures(group_runs(runs).front(), "1");
  ASSERT_EQ(figures.size(), 3U);  // the worst of both, and each alone
  for (const Figure& figure : figures) {
    EXPECT_THAT(faults(figure), IsEmpty());
    const auto& map = std::get<RegionMap>(figure.plot);
    ASSERT_EQ(map.values.size(), 64U);
    EXPECT_EQ(map.rows.back(), "scatter");
    EXPECT_EQ(map.columns.front(), "1 KiB");
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      EXPECT_EQ(std::ranges::find(map.framed, i) != map.framed.end(), map.values[i] > 1.03) << i;
      EXPECT_EQ(map.captions[i].ends_with("violated"), map.values[i] > 1.03) << i;
    }
  }
  const auto& worst = std::get<RegionMap>(figures[0].plot).values;
  for (std::size_t i = 0; i < worst.size(); ++i) {
    EXPECT_EQ(worst[i], std::max(std::get<RegionMap>(figures[1].plot).values[i],
                                 std::get<RegionMap>(figures[2].plot).values[i]));
  }
}

TEST(Figures, OfAllMeasurementsAreLegible) {
  std::size_t figures = 0;
  for (const std::filesystem::path& file : measurements()) {
    const std::vector<BenchRun> runs = {read_bench_run(file.string())};
    for (const RunGroup& group : group_runs(runs)) {
      for (const Figure& figure : make_figures(group, "1")) {
        EXPECT_THAT(faults(figure), IsEmpty()) << file;
        for (const auto& [name, before] : {std::pair{"host", ""}, {"mpi", ""}, {"seed", "seed "}}) {
          const auto found = runs.front().settings.find(name);
          if (found == runs.front().settings.end()) continue;
          EXPECT_THAT(figure.note, HasSubstr(before + found->second)) << file;
        }
        if (figure.name.find("-run-over-") != std::string::npos) {
          EXPECT_TRUE(has_error_bars(std::get<LinePlot>(figure.plot))) << file << figure.name;
        }
        ++figures;
      }
    }
  }
  EXPECT_GT(figures, 100U);
}

}  // namespace
}  // namespace papfft::app::report
