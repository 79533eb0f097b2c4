// SPDX-License-Identifier: MIT
#include "app/report/figure_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

namespace papfft::app::report {

FigureMaker::FigureMaker(const RunGroup& group, std::string prefix)
    : group_(group), prefix_(std::move(prefix)) {
  for (const BenchRow& row : group.rows) rows_.push_back(&row);
}

void FigureMaker::add(const std::string& name, const std::string& what, decltype(Figure::plot) plot,
                      const std::string& small_print) {
  const std::string note = short_conditions();
  figures_.push_back({fmt::format("{}-{:02}-{}", prefix_, figures_.size() + 1, name), what, group_.differs,
                      small_print.empty() ? note : fmt::format("{} {}", small_print, note), std::move(plot)});
}

std::string FigureMaker::short_conditions() const {
  const BenchRun& run = *group_.runs.front();
  std::string text = group_.kind == BenchKind::simulate ? "Simulated" : "";
  for (const auto& [name, before, unit] :
       std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"host", "", ""},
           {"cores", "", ""},
           {"mpi", "", ""},
           {"platform", "", ""},
           {"alpha", "alpha ", ""},
           {"beta_ns_per_byte", "beta ", " ns/B"},
           {"gamma_ns_per_byte", "gamma ", " ns/B"},
           {"window", "window ", ""}}) {
    const auto found = run.settings.find(name);
    if (found == run.settings.end()) continue;
    const std::string value =
        std::string_view(name) == "cores" ? cores_text(found->second) : before + found->second + unit;
    text += (text.empty() ? "" : ", ") + value;
  }
  if (run.settings.contains("seed"))
    text += (text.empty() ? "" : ", ") + std::string("seed ") + run.settings.at("seed");
  if (run.alpha_us && run.beta_ns_per_byte)
    text += fmt::format(", alpha {:.3g} us, beta {:.3g} ns/B", *run.alpha_us, *run.beta_ns_per_byte);
  if (!text.empty()) text += ".";
  if (std::ranges::any_of(group_.rows, [](const BenchRow& row) {
        return row.algorithm.ends_with(fmt::format(" in {}", row.segments));
      }))
    text += " \"in 8\": the data in 8 segments.";
  const auto drifted =
      std::ranges::find_if(group_.runs, [](const BenchRun* r) { return !r->link_was_steady(); });
  if (drifted != group_.runs.end()) text += " NOT STEADY: " + (*drifted)->link_drift_text() + ".";
  return text;
}

std::string FigureMaker::whiskers() const {
  const BenchRun& run = *group_.runs.front();
  if (run.centers_are_means) return "Means; whiskers: least and greatest.";
  return run.has_percentiles ? "Medians; whiskers: 10th to 90th percentile."
                             : "Medians; whiskers: least to 90th percentile.";
}

std::string FigureMaker::case_text(std::int64_t bytes, std::int64_t ranks) const {
  return fmt::format("{} of {} on {}", group_.operation, size_text(bytes), group_.ranks_text(ranks));
}

Axis time_axis(const char* label, Scale scale) { return {.label = label, .unit = "s", .scale = scale}; }

Axis ranks_axis(const Rows& rows) {
  Axis axis{.label = "ranks", .scale = Scale::log};
  for (const auto& [ranks, unused] : split_by(rows, &BenchRow::ranks))
    axis.marks.push_back(static_cast<double>(ranks));
  return axis;
}

LinePlot lines(const Rows& rows, const Value& x, const Value& y, bool with_whiskers) {
  LinePlot plot;
  for (auto& [name, points] : split_by(rows, &BenchRow::algorithm)) {
    std::ranges::sort(points, {}, [&](const BenchRow* row) { return x(*row); });
    Series series{.name = name, .markers = true};
    for (const BenchRow* row : points) {
      series.x.push_back(x(*row));
      series.y.push_back(y(*row));
      if (with_whiskers) series.interval.push_back({row->run.low, row->run.high});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

BarChart run_bars(const Rows& rows) {
  BarChart chart{.categories = names_of(rows), .y = time_axis("time", Scale::linear)};
  const auto add_series = [&](const char* name,
                              const std::function<std::optional<Spread>(const BenchRow&)>& of) {
    BarSeries series{.name = name};
    bool any = false;
    for (const BenchRow* row : rows) {
      const std::optional<Spread> spread = of(*row);
      any = any || spread.has_value();
      series.values.push_back(spread ? spread->center : std::numeric_limits<double>::quiet_NaN());
      series.interval.push_back(
          spread ? Range{spread->low, spread->high}
                 : Range{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()});
    }
    if (any) chart.series.push_back(std::move(series));
  };
  add_series("run time: first arrival to last exit", [](const BenchRow& row) { return row.run; });
  add_series("last arrival to last exit", [](const BenchRow& row) { return row.after_last; });
  add_series("elapsed: mean over ranks, arrival to exit", [](const BenchRow& row) { return row.elapsed; });
  return chart;
}

Series distribution(const std::string& name, std::vector<double> values) {
  std::ranges::sort(values);
  Series series{.name = name};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto share = [&](std::size_t n) {
      return static_cast<double>(n) / static_cast<double>(values.size());
    };
    series.x.insert(series.x.end(), 2, values[i]);
    series.y.push_back(share(i));
    series.y.push_back(share(i + 1));
  }
  return series;
}

double greatest_x(const LinePlot& plot) {
  double most = 0;
  for (const Series& series : plot.series) most = std::max(most, std::ranges::max(series.x));
  return most;
}

Range with_room(double last) { return {0, 1.02 * last}; }

}  // namespace papfft::app::report
