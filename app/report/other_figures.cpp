// SPDX-License-Identifier: MIT
// Planning, transforms and the predictor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <span>

#include "app/report/figure_maker.hpp"

namespace papfft::app::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void add_planning_figures(FigureMaker& figures) {
  for (const auto& [pattern, rows] : split_by(figures.rows(), &BenchRow::pattern)) {
    const std::string of =
        figures.group().operation + (pattern.empty() ? "" : ", arrivals " + pattern) +
        (split_by(rows, &BenchRow::ranks).size() > 1 ? "" : fmt::format(", {} ranks", rows.front()->ranks));
    const Value ranks = [](const BenchRow& row) { return static_cast<double>(row.ranks); };
    if (split_by(rows, &BenchRow::ranks).size() < 2) {
      BarChart chart{.categories = names_of(rows), .y = time_axis("planning time", Scale::log)};
      BarSeries series{.name = "planning time"};
      for (const BenchRow* row : rows) {
        series.values.push_back(row->run.center);
        series.interval.push_back({row->run.low, row->run.high});
      }
      chart.series = {series};
      figures.add("planning", "Planning time: " + of, chart, figures.whiskers());
      continue;
    }
    LinePlot time = lines(
        rows, ranks, [](const BenchRow& row) { return row.run.center; }, true);
    time.x = ranks_axis(rows);
    time.y = time_axis("planning time", Scale::log);
    figures.add("planning", "Planning time over ranks: " + of, time, figures.whiskers());
    if (!std::ranges::any_of(rows, [](const BenchRow* row) { return row->memory_bytes.value_or(0) > 0; }))
      continue;
    LinePlot memory = lines(
        rows, ranks, [](const BenchRow& row) { return row.memory_bytes.value_or(kNaN); }, false);
    memory.x = time.x;
    memory.y = {.label = "memory", .unit = "B", .scale = Scale::log, .binary = true};
    figures.add("memory", "Memory for planning over ranks: " + of, memory, "");
  }
}

void add_transform_figures(FigureMaker& figures) {
  for (const auto& [bytes, rows] : split_by(figures.rows(), &BenchRow::bytes)) {
    const std::string of =
        fmt::format("vectors of {} on {}", size_text(bytes), figures.group().ranks_text(rows.front()->ranks));
    BarChart time{.categories = names_of(rows), .y = time_axis("time per vector", Scale::linear)};
    BarSeries run{.name = "time per vector"};
    BarChart rate{.categories = time.categories, .y = {.label = "vectors per second"}};
    BarSeries per_s{.name = "vectors per second"};
    BarChart share{.categories = time.categories,
                   .y = {.label = "efficiency (wire bound / time per vector)"}};
    BarSeries efficiency{.name = "efficiency"};
    for (const BenchRow* row : rows) {
      // Of vectors that overlap most results come right behind another: only all of them together tell the time.
      run.values.push_back(row->vectors_per_s.value_or(0) > 0 ? 1 / *row->vectors_per_s : row->run.center);
      run.interval.push_back({row->run.low, row->run.high});
      per_s.values.push_back(row->vectors_per_s.value_or(kNaN));
      efficiency.values.push_back(row->efficiency.value_or(kNaN));
    }
    time.series = {run};
    rate.series = {per_s};
    share.series = {efficiency};
    figures.add(
        "fft-time", "Time per transform: " + of, time,
        "Whole time / vectors; whiskers: 10th to 90th percentile of the times from result to result.");
    figures.add("fft-rate", "Throughput: " + of, rate, "");
    figures.add("fft-efficiency", "Efficiency: " + of, share,
                "Wire bound: all blocks out and back over the root's link.");
  }
}

void add_predictor_figures(FigureMaker& figures) {
  const std::string on =
      fmt::format("{}, arrivals {}", figures.group().ranks_text(figures.rows().front()->ranks),
                  figures.rows().front()->pattern);
  BarChart work{.categories = names_of(figures.rows()), .y = time_axis("time of fixed work", Scale::linear)};
  BarSeries run{.name = "work"};
  BarSeries error{.name = "prediction error"};
  std::vector<std::string> predicting;
  for (const BenchRow* row : figures.rows()) {
    run.values.push_back(row->run.center);
    run.interval.push_back({row->run.low, row->run.high});
    if (!row->prediction_error) continue;
    predicting.push_back(row->algorithm);
    error.values.push_back(row->prediction_error->center);
    error.interval.push_back({row->prediction_error->low, row->prediction_error->high});
  }
  work.series = {run};
  figures.add("predictor-cost", "What predicting costs the computation: " + on, work, figures.whiskers());
  if (predicting.empty()) return;
  figures.add("prediction-error", "Error of predicted arrivals: " + on,
              BarChart{.categories = predicting, .series = {error}, .y = time_axis("error", Scale::linear)},
              "Median; whisker: to the 90th percentile.");
}

}  // namespace papfft::app::report
