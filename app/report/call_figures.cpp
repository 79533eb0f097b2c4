// SPDX-License-Identifier: MIT
// Single calls: who arrived when, what was predicted, which messages went where.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "app/report/figure_maker.hpp"
#include "app/report/messages_plot.hpp"

namespace papfft::app::report {
namespace {

OwnHeatMap signed_map(OwnHeatMap own) {
  own.map.signed_values = true;
  return own;
}

OwnHeatMap over_calls(const BenchRow& row, const std::string& what,
                      const std::function<double(const Calls&, std::size_t)>& value) {
  const auto ranks = static_cast<std::size_t>(row.ranks);
  const std::size_t calls = row.calls->arrival_s.size() / ranks;
  OwnHeatMap own{.rows = ranks, .columns = calls};
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t c = 0; c < calls; ++c) {
      own.values.push_back(static_cast<float>(value(*row.calls, c * ranks + r)));
    }
  }
  own.map = {.x = {.label = "call", .whole = true},
             .y = {.label = "rank", .whole = true},
             .x_edges = {-0.5, static_cast<double>(calls) - 0.5},
             .y_edges = {-0.5, static_cast<double>(ranks) - 0.5},
             .color = {.label = what, .unit = "s"}};
  return own;
}

/// So that marks can be seen that lie before or behind, but not so far that nothing else can.
Range with_marks(const Range& span, const std::vector<Gantt::Mark>& marks) {
  const double length = span.hi - span.lo;
  Range wide = span;
  for (const Gantt::Mark& mark : marks) {
    if (mark.at < span.lo - length || mark.at > span.hi + length) continue;
    wide = {std::min(wide.lo, mark.at), std::max(wide.hi, mark.at)};
  }
  const double room = 0.01 * (wide.hi - wide.lo);
  return {wide.lo - room, wide.hi + 2 * room};
}

Gantt median_call(const BenchRow& row) {
  const auto ranks = static_cast<std::size_t>(row.ranks);
  const Calls& calls = *row.calls;
  std::vector<std::pair<double, std::size_t>> runs;  // run time, call
  for (std::size_t first = 0; first < calls.exit_s.size(); first += ranks) {
    const auto exits = std::span(calls.exit_s).subspan(first, ranks);
    runs.emplace_back(*std::ranges::max_element(exits), first);
  }
  std::ranges::sort(runs);
  const std::size_t first = runs[runs.size() / 2].second;
  Gantt chart{.kinds = {{"computes", palette_color(0)}, {"in the call (elapsed)", palette_color(1)}},
              .row_label = "rank",
              .x = {.label = "time after the first arrival", .unit = "s"}};
  for (std::size_t r = 0; r < ranks; ++r) {
    const double arrival = calls.arrival_s[first + r];
    const double predicted = calls.predicted_s[first + r];
    chart.rows.push_back(std::to_string(r));
    chart.bars.push_back({r, {0, arrival}, 0});
    chart.bars.push_back({r, {arrival, calls.exit_s[first + r]}, 1});
    if (!std::isfinite(predicted)) continue;
    chart.marks.push_back({r, predicted});
    chart.mark_name = "predicted arrival";
  }
  const double last = *std::ranges::max_element(std::span(calls.exit_s).subspan(first, ranks));
  chart.x.range = with_marks({0, last}, chart.marks);
  return chart;
}

}  // namespace

void add_call_figures(FigureMaker& figures, const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
  Rows told;
  for (const BenchRow* row : rows) {
    if (row->calls) told.push_back(row);
  }
  if (told.empty()) return;
  const std::string of =
      figures.group().kind == BenchKind::record
          ? fmt::format("{} on {}", size_text(bytes), figures.group().ranks_text(ranks))
          : fmt::format("{}, arrivals {}", figures.case_text(bytes, ranks), told.front()->pattern);
  // The delays are the same for all algorithms, so one map tells of all.
  figures.add("arrivals", fmt::format("Arrivals after the first one: {}, by {}", of, told.front()->algorithm),
              over_calls(*told.front(), "arrival after the first one",
                         [](const Calls& calls, std::size_t i) { return calls.arrival_s[i]; }),
              "");
  const auto predicted = std::ranges::find_if(told, [](const BenchRow* row) {
    return std::ranges::any_of(row->calls->predicted_s, [](double t) { return std::isfinite(t); });
  });
  if (predicted != told.end()) {
    figures.add("prediction-errors",
                fmt::format("Predicted - actual arrival: {}, by {}", of, (*predicted)->algorithm),
                signed_map(over_calls(**predicted, "predicted - actual arrival",
                                      [](const Calls& calls, std::size_t i) {
                                        return calls.predicted_s[i] - calls.arrival_s[i];
                                      })),
                "Red: came earlier than predicted.");
  }
  for (const BenchRow* row : told) {
    figures.add("call", fmt::format("The call of median run time: {}, by {}", of, row->algorithm),
                median_call(*row), "");
  }
}

void add_message_figures(FigureMaker& figures, const Rows& rows) {
  for (const BenchRow* row : rows) {
    if (!row->messages) continue;
    const std::vector<Messages::Message>& all = row->messages->messages;
    const auto critical = std::ranges::count_if(all, [](const auto& m) { return m.critical; });
    figures.add("messages",
                fmt::format("Messages of one call: {}, arrivals {}, by {}{}",
                            figures.case_text(row->bytes, row->ranks), row->pattern, row->algorithm,
                            row->segments > 1 ? fmt::format(" in {} segments", row->segments) : ""),
                messages_plot(*row->messages, {.label = "time after the first arrival", .unit = "s"}),
                fmt::format("{} messages, {} of them on the critical path, which decides the last exit.",
                            all.size(), critical));
  }
}

void add_recorded_figures(FigureMaker& figures) {
  figures.add("bars",
              "Run and elapsed time of recorded calls on " +
                  figures.group().ranks_text(figures.rows().front()->ranks),
              run_bars(figures.rows()), figures.whiskers());
  LinePlot spreads;
  for (const BenchRow* row : figures.rows()) {
    std::vector<double> spread_s;
    const auto ranks = static_cast<std::size_t>(row->ranks);
    for (std::size_t first = 0; first < row->calls->arrival_s.size(); first += ranks)
      spread_s.push_back(std::ranges::max(std::span(row->calls->arrival_s).subspan(first, ranks)));
    spreads.series.push_back(
        distribution(fmt::format("{}, {} calls", row->algorithm, spread_s.size()), spread_s));
  }
  spreads.x = {.label = "last - first arrival", .unit = "s", .range = with_room(greatest_x(spreads))};
  spreads.y = {.label = "share of the calls", .range = Range{0, 1}};
  figures.add("spreads",
              "How far apart the ranks come: distribution, " +
                  figures.group().ranks_text(figures.rows().front()->ranks),
              spreads, "");
  constexpr std::size_t kMost = 6;
  for (std::size_t i = 0; i < std::min(figures.rows().size(), kMost); ++i)
    add_call_figures(figures, {figures.rows()[i]}, figures.rows()[i]->ranks, figures.rows()[i]->bytes);
}

}  // namespace papfft::app::report
