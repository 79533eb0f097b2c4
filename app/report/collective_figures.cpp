// SPDX-License-Identifier: MIT
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
constexpr std::size_t kFewSizes = 3;  // up to so many there are bars for each

/// "uniform" of "uniform:50ms"; "late:3" of "late:3:50ms".
std::string family(const std::string& pattern) { return pattern.substr(0, pattern.rfind(':')); }

/// Of many sizes the smallest, the middle one and the largest.
void over_ranks(FigureMaker& figures, const Rows& rows, const std::string& pattern) {
  if (split_by(rows, &BenchRow::ranks).size() < 2) return;
  auto by_bytes = split_by(rows, &BenchRow::bytes);
  if (by_bytes.size() > kFewSizes)
    by_bytes = {by_bytes.front(), by_bytes[by_bytes.size() / 2], by_bytes.back()};
  for (const auto& [bytes, of_bytes] : by_bytes) {
    if (split_by(of_bytes, &BenchRow::ranks).size() < 2) continue;
    LinePlot plot = lines(
        of_bytes, [](const BenchRow& row) { return static_cast<double>(row.ranks); },
        [](const BenchRow& row) { return row.run.center; }, true);
    plot.x = ranks_axis(of_bytes);
    plot.y = time_axis("run time", Scale::log);
    figures.add("run-over-ranks",
                fmt::format("Run time over ranks: {} of {}, arrivals {}", figures.group().operation,
                            size_text(bytes), pattern),
                plot, figures.whiskers());
  }
}

void over_size(FigureMaker& figures, const Rows& rows, std::int64_t ranks, const std::string& pattern) {
  const std::size_t sizes = split_by(rows, &BenchRow::bytes).size();
  if (sizes < 2) return;
  const Value bytes = [](const BenchRow& row) { return static_cast<double>(row.bytes); };
  const Axis size{.label = "size of the whole vector", .unit = "B", .scale = Scale::log, .binary = true};
  const std::string on = fmt::format("{} on {}, arrivals {}", figures.group().operation,
                                     figures.group().ranks_text(ranks), pattern);
  LinePlot run = lines(
      rows, bytes, [](const BenchRow& row) { return row.run.center; }, true);
  run.x = size;
  run.y = time_axis("run time", Scale::log);
  figures.add("run-over-size", "Run time over size: " + on, run, figures.whiskers());
  if (row_of("mpi", *rows.front(), rows) != nullptr) {
    LinePlot ratio = lines(rows, bytes, gain_over_stock(rows), false);
    ratio.x = size;
    ratio.y = {.label = "run time of stock MPI / run time"};
    figures.add("gain-over-size", "Gain over stock MPI, over size: " + on, ratio,
                "Ratios of medians; above 1: faster.");
  }
  if (rows.front()->over_best) {
    LinePlot ratio = lines(
        rows, bytes, [](const BenchRow& row) { return row.over_best.value_or(kNaN); }, false);
    ratio.x = size;
    ratio.y = {.label = "run time / that of the best"};
    figures.add("over-best", "Run time over that of the best: " + on, ratio, "");
  }
  if (sizes > kFewSizes && rows.front()->efficiency) {
    LinePlot plot = lines(
        rows, bytes, [](const BenchRow& row) { return row.efficiency.value_or(kNaN); }, false);
    plot.x = size;
    plot.y = {.label = "share of the bound (bound / run time)"};
    figures.add("efficiency-over-size", "Share of the bound over size: " + on, plot, "");
  }
}

void over_delay(FigureMaker& figures, const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
  std::vector<std::string> families;
  for (const BenchRow* row : rows) {
    if (row->max_delay_s > 0 && std::ranges::find(families, family(row->pattern)) == families.end())
      families.push_back(family(row->pattern));
  }
  for (const std::string& name : families) {
    Rows chosen;
    std::set<double> delays;
    for (const BenchRow* row : rows) {
      if (family(row->pattern) != name && row->pattern != "none") continue;
      chosen.push_back(row);
      delays.insert(row->max_delay_s);
    }
    if (delays.size() < 3) continue;
    LinePlot plot = lines(
        chosen, [](const BenchRow& row) { return row.max_delay_s; },
        [](const BenchRow& row) { return row.run.center; }, true);
    plot.x = time_axis("greatest delay", Scale::linear);
    plot.y = time_axis("run time", Scale::linear);
    figures.add("run-over-delay",
                fmt::format("Run time over delay: {}, arrivals {}", figures.case_text(bytes, ranks), name),
                plot, figures.whiskers());
  }
}

void bars(FigureMaker& figures, const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
  figures.add("bars",
              fmt::format("Run and elapsed time: {}, arrivals {}", figures.case_text(bytes, ranks),
                          rows.front()->pattern),
              run_bars(rows), figures.whiskers());
}

/// Of the arrivals as they were, all algorithms together: these have no part in them.
void imbalances(FigureMaker& figures, const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
  LinePlot plot;
  for (const auto& [pattern, of_pattern] : split_by(rows, &BenchRow::pattern)) {
    std::vector<double> factors;
    for (const BenchRow* row : of_pattern)
      factors.insert(factors.end(), row->imbalance.begin(), row->imbalance.end());
    if (factors.empty()) continue;
    plot.series.push_back(distribution("arrivals " + pattern, std::move(factors)));
  }
  if (plot.series.empty()) return;
  plot.x = {.label = "imbalance factor: (last - first arrival) / time of one message of a block"};
  plot.x.range = with_room(greatest_x(plot));
  plot.y = {.label = "share of the calls", .range = Range{0, 1}};
  figures.add("imbalance", "Distribution of the imbalance factor: " + figures.case_text(bytes, ranks), plot,
              "");
}

BarChart by_pattern(const Rows& rows, const Value& value, const std::string& label) {
  BarChart chart{.y = {.label = label}};
  for (const auto& [name, unused] : split_by(rows, &BenchRow::algorithm)) chart.categories.push_back(name);
  for (const auto& [pattern, of_pattern] : split_by(rows, &BenchRow::pattern)) {
    BarSeries series{.name = pattern, .values = std::vector<double>(chart.categories.size(), kNaN)};
    for (const BenchRow* row : of_pattern) {
      const auto at = std::ranges::find(chart.categories, row->algorithm) - chart.categories.begin();
      series.values[static_cast<std::size_t>(at)] = value(*row);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Efficiency and ratio to stock MPI, all patterns side by side.
void shares(FigureMaker& figures, const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
  if (rows.front()->efficiency) {
    figures.add("efficiency", "Share of the bound: " + figures.case_text(bytes, ranks),
                by_pattern(
                    rows, [](const BenchRow& row) { return row.efficiency.value_or(kNaN); },
                    "share of the bound (bound / run time)"),
                "Medians. Bound: the least run time that these arrivals and these links allow any algorithm, "
                "so 1 is the most.");
  }
  if (row_of("mpi", *rows.front(), rows) != nullptr) {
    figures.add("gain", "Gain over stock MPI: " + figures.case_text(bytes, ranks),
                by_pattern(rows, gain_over_stock(rows), "run time of stock MPI / run time"),
                "Ratios of medians within one run; above 1: faster.");
  }
}

void region_map(FigureMaker& figures, const Rows& rows, const std::string& pattern) {
  const auto by_ranks = split_by(rows, &BenchRow::ranks);
  const auto by_bytes = split_by(rows, &BenchRow::bytes);
  if (by_ranks.size() < 2 || by_bytes.size() < 2) return;
  RegionMap map{.column_label = "size of the whole vector", .row_label = "ranks"};
  for (const auto& [bytes, unused] : by_bytes) map.columns.push_back(size_text(bytes));
  for (const auto& [ranks, of_ranks] : by_ranks) {
    map.rows.push_back(fmt::format("{}", ranks));
    for (const auto& [bytes, unused] : by_bytes) {
      Rows here;
      for (const BenchRow* row : of_ranks) {
        if (row->bytes == bytes) here.push_back(row);
      }
      std::ranges::sort(here, {}, [](const BenchRow* row) { return row->run.center; });
      if (here.empty()) {
        map.cells.push_back(std::numeric_limits<std::size_t>::max());
        map.captions.emplace_back("not measured");
        continue;
      }
      const std::string& best = here.front()->algorithm;
      const auto found = std::ranges::find(map.names, best);
      map.cells.push_back(static_cast<std::size_t>(found - map.names.begin()));
      if (found == map.names.end()) map.names.push_back(best);
      map.captions.push_back(
          here.size() > 1 && here.front()->run.center > 0
              ? fmt::format("{}\n{:.2f}×", best, here[1]->run.center / here.front()->run.center)
              : best);
    }
  }
  figures.add(
      "best",
      fmt::format("Best algorithm over size and ranks: {}, arrivals {}", figures.group().operation, pattern),
      map, "In the cells: run time of the second / run time of the best.");
}

}  // namespace

void add_collective_figures(FigureMaker& figures) {
  for (const auto& [ranks, of_ranks] : split_by(figures.rows(), &BenchRow::ranks)) {
    const bool many = split_by(of_ranks, &BenchRow::bytes).size() > kFewSizes;
    for (const auto& [pattern, rows] : split_by(of_ranks, &BenchRow::pattern))
      over_size(figures, rows, ranks, pattern);
    for (const auto& [bytes, rows] : split_by(of_ranks, &BenchRow::bytes)) {
      over_delay(figures, rows, ranks, bytes);
      if (many) continue;
      for (const auto& [pattern, situation] : split_by(rows, &BenchRow::pattern)) {
        bars(figures, situation, ranks, bytes);
        add_call_figures(figures, situation, ranks, bytes);
        add_message_figures(figures, situation);
      }
      shares(figures, rows, ranks, bytes);
      imbalances(figures, rows, ranks, bytes);
    }
  }
  for (const auto& [pattern, rows] : split_by(figures.rows(), &BenchRow::pattern)) {
    over_ranks(figures, rows, pattern);
    region_map(figures, rows, pattern);
  }
}

}  // namespace papfft::app::report
