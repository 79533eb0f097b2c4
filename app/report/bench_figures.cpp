// SPDX-License-Identifier: MIT
#include "app/report/bench_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <tuple>

namespace papfft::app::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSameLink = 1.25;    // ratio of betas up to which two links count as one
constexpr std::size_t kFewSizes = 3;  // up to so many there are bars for each

using Rows = std::vector<const BenchRow*>;
using Value = std::function<double(const BenchRow&)>;

auto situation(const BenchRow& row) {
  return std::tuple(row.algorithm, row.ranks, row.bytes, row.pattern, row.segments);
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool same_link(const BenchRun& a, const BenchRun& b) {
  if (!a.beta_ns_per_byte || !b.beta_ns_per_byte) return a.beta_ns_per_byte == b.beta_ns_per_byte;
  const auto [least, most] = std::minmax(*a.beta_ns_per_byte, *b.beta_ns_per_byte);
  return most <= kSameLink * least;
}

bool may_join(const RunGroup& group, const BenchRun& run) {
  const BenchRun& first = *group.runs.front();
  if (first.kind != run.kind || first.operation != run.operation || first.settings != run.settings ||
      !same_link(first, run)) {
    return false;
  }
  return std::ranges::none_of(run.rows, [&](const BenchRow& row) {
    return std::ranges::any_of(group.rows,
                               [&](const BenchRow& other) { return situation(row) == situation(other); });
  });
}

/// Where one algorithm was tried with several numbers of segments in one situation, the number becomes part of its name.
void name_segments(std::vector<BenchRow>& rows) {
  std::set<std::tuple<std::string, std::int64_t, std::int64_t, std::string>> seen;
  std::set<std::string> varied;
  for (const BenchRow& row : rows) {
    if (!seen.emplace(row.algorithm, row.ranks, row.bytes, row.pattern).second) varied.insert(row.algorithm);
  }
  for (BenchRow& row : rows) {
    if (varied.contains(row.algorithm)) row.algorithm += fmt::format(" in {}", row.segments);
  }
}

/// "compute_ms 20" for each setting in which the group's runs are not like all others; else the files.
std::string difference(const RunGroup& group, const std::vector<RunGroup>& all) {
  std::string text;
  bool alone = true;
  bool links_differ = false;
  std::set<std::string> names;
  const BenchRun& mine = *group.runs.front();
  for (const RunGroup& other : all) {
    if (&other == &group || other.kind != group.kind || other.operation != group.operation) continue;
    alone = false;
    const BenchRun& theirs = *other.runs.front();
    for (const auto& [name, value] : mine.settings) {
      const auto found = theirs.settings.find(name);
      if (name == "command") continue;  // too long for a title
      if (found == theirs.settings.end() || found->second != value) names.insert(name);
    }
    links_differ = links_differ || !same_link(mine, theirs);
  }
  if (alone) return "";
  for (const std::string& name : names) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, mine.settings.at(name));
  }
  if (links_differ && mine.beta_ns_per_byte)
    text += fmt::format("{}beta {:.3g} ns/B", text.empty() ? "" : ", ", *mine.beta_ns_per_byte);
  std::string files;
  for (const BenchRun* run : group.runs) files += (files.empty() ? "" : "+") + base_name(run->file);
  return text.empty() ? files : fmt::format("{}; {}", text, files);
}

template <typename Key>
std::vector<std::pair<Key, Rows>> split(const Rows& rows, const std::function<Key(const BenchRow&)>& key) {
  std::vector<std::pair<Key, Rows>> parts;  // in the order of the file
  for (const BenchRow* row : rows) {
    const Key k = key(*row);
    const auto found = std::ranges::find(parts, k, &std::pair<Key, Rows>::first);
    if (found == parts.end())
      parts.push_back({k, {row}});
    else
      found->second.push_back(row);
  }
  return parts;
}

std::vector<std::pair<std::int64_t, Rows>> split_by(const Rows& rows, std::int64_t BenchRow::*member) {
  auto parts = split<std::int64_t>(rows, [&](const BenchRow& row) { return row.*member; });
  std::ranges::sort(parts, {}, &std::pair<std::int64_t, Rows>::first);
  return parts;
}

std::vector<std::pair<std::string, Rows>> split_by(const Rows& rows, std::string BenchRow::*member) {
  return split<std::string>(rows, [&](const BenchRow& row) { return row.*member; });
}

/// The row of stock MPI in the same situation; nullptr: there is none.
const BenchRow* stock_of(const BenchRow& row, const Rows& rows) {
  for (const BenchRow* other : rows) {
    if (other->algorithm == "mpi" && other->ranks == row.ranks && other->bytes == row.bytes &&
        other->pattern == row.pattern) {
      return other;
    }
  }
  return nullptr;
}

/// "uniform" of "uniform:50ms"; "late:3" of "late:3:50ms".
std::string family(const std::string& pattern) { return pattern.substr(0, pattern.rfind(':')); }

class FigureMaker {
 public:
  FigureMaker(const RunGroup& group, std::string prefix) : group_(group), prefix_(std::move(prefix)) {
    for (const BenchRow& row : group.rows) all_.push_back(&row);
  }

  std::vector<Figure> make() {
    switch (group_.kind) {
      case BenchKind::collective:
      case BenchKind::simulate:
        collectives();
        break;
      case BenchKind::schedule:
        planning();
        break;
      case BenchKind::fft:
        transforms();
        break;
      case BenchKind::predictor:
        predictor();
        break;
      case BenchKind::record:
        recorded();
        break;
    }
    return std::move(figures_);
  }

 private:
  static Axis time_axis(const char* label, Scale scale) {
    return {.label = label, .unit = "s", .scale = scale};
  }

  /// Marked where there are measurements.
  static Axis ranks_axis(const Rows& rows) {
    Axis axis{.label = "ranks", .scale = Scale::log};
    for (const auto& [ranks, unused] : split_by(rows, &BenchRow::ranks))
      axis.marks.push_back(static_cast<double>(ranks));
    return axis;
  }

  void add(const std::string& name, const std::string& what, decltype(Figure::plot) plot,
           const std::string& small_print) {
    const std::string note = short_conditions();
    figures_.push_back({fmt::format("{}-{:02}-{}", prefix_, figures_.size() + 1, name), what, group_.differs,
                        small_print.empty() ? note : fmt::format("{} {}", small_print, note),
                        std::move(plot)});
  }

  /// What fits below a picture; the page has all conditions once.
  [[nodiscard]] std::string short_conditions() const {
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

  [[nodiscard]] std::string whiskers() const {
    const BenchRun& run = *group_.runs.front();
    if (run.centers_are_means) return "Means; whiskers: least and greatest.";
    return run.has_percentiles ? "Medians; whiskers: 10th to 90th percentile."
                               : "Medians; whiskers: least to 90th percentile.";
  }

  static LinePlot lines(const Rows& rows, const Value& x, const Value& y, bool with_whiskers) {
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

  static std::vector<std::string> names_of(const Rows& rows) {
    std::vector<std::string> names;
    for (const BenchRow* row : rows) names.push_back(row->algorithm);
    return names;
  }

  /// "gather of 8 MiB on 8 ranks"
  [[nodiscard]] std::string case_text(std::int64_t bytes, std::int64_t ranks) const {
    return fmt::format("{} of {} on {} ranks", group_.operation, size_text(bytes), ranks);
  }

  void collectives() {
    for (const auto& [ranks, of_ranks] : split_by(all_, &BenchRow::ranks)) {
      const bool many = split_by(of_ranks, &BenchRow::bytes).size() > kFewSizes;
      for (const auto& [pattern, rows] : split_by(of_ranks, &BenchRow::pattern))
        over_size(rows, ranks, pattern);
      for (const auto& [bytes, rows] : split_by(of_ranks, &BenchRow::bytes)) {
        over_delay(rows, ranks, bytes);
        if (many) continue;
        for (const auto& [pattern, situation] : split_by(rows, &BenchRow::pattern)) {
          bars(situation, ranks, bytes);
          call_by_call(situation, ranks, bytes);
          schedules(situation);
        }
        shares(rows, ranks, bytes);
        imbalances(rows, ranks, bytes);
      }
    }
    for (const auto& [pattern, rows] : split_by(all_, &BenchRow::pattern)) {
      over_ranks(rows, pattern);
      region_map(rows, pattern);
    }
  }

  /// Of many sizes the smallest, the middle one and the largest.
  void over_ranks(const Rows& rows, const std::string& pattern) {
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
      add("run-over-ranks",
          fmt::format("Run time over ranks: {} of {}, arrivals {}", group_.operation, size_text(bytes),
                      pattern),
          plot, whiskers());
    }
  }

  void over_size(const Rows& rows, std::int64_t ranks, const std::string& pattern) {
    const std::size_t sizes = split_by(rows, &BenchRow::bytes).size();
    if (sizes < 2) return;
    const Value bytes = [](const BenchRow& row) { return static_cast<double>(row.bytes); };
    const Axis size{.label = "size of the whole vector", .unit = "B", .scale = Scale::log, .binary = true};
    const std::string on = fmt::format("{} on {} ranks, arrivals {}", group_.operation, ranks, pattern);
    LinePlot run = lines(
        rows, bytes, [](const BenchRow& row) { return row.run.center; }, true);
    run.x = size;
    run.y = time_axis("run time", Scale::log);
    add("run-over-size", "Run time over size: " + on, run, whiskers());
    if (stock_of(*rows.front(), rows) != nullptr) {
      LinePlot ratio = lines(rows, bytes, gain_over_stock(rows), false);
      ratio.x = size;
      ratio.y = {.label = "run time of stock MPI / run time"};
      add("gain-over-size", "Gain over stock MPI, over size: " + on, ratio,
          "Ratios of medians; above 1: faster.");
    }
    if (rows.front()->over_best) {
      LinePlot ratio = lines(
          rows, bytes, [](const BenchRow& row) { return row.over_best.value_or(kNaN); }, false);
      ratio.x = size;
      ratio.y = {.label = "run time / that of the best"};
      add("over-best", "Run time over that of the best: " + on, ratio, "");
    }
    if (sizes > kFewSizes && rows.front()->efficiency) {
      LinePlot plot = lines(
          rows, bytes, [](const BenchRow& row) { return row.efficiency.value_or(kNaN); }, false);
      plot.x = size;
      plot.y = {.label = "efficiency (bound / run time)"};
      add("efficiency-over-size", "Efficiency over size: " + on, plot, "");
    }
  }

  void over_delay(const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
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
      add("run-over-delay",
          fmt::format("Run time over delay: {}, arrivals {}", case_text(bytes, ranks), name), plot,
          whiskers());
    }
  }

  void bars(const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
    add("bars",
        fmt::format("Run and elapsed time: {}, arrivals {}", case_text(bytes, ranks), rows.front()->pattern),
        run_bars(rows), whiskers());
  }

  static BarChart run_bars(const Rows& rows) {
    BarChart chart{.categories = names_of(rows), .y = time_axis("time", Scale::linear)};
    const auto add_series = [&](const char* name,
                                const std::function<std::optional<Spread>(const BenchRow&)>& of) {
      BarSeries series{.name = name};
      bool any = false;
      for (const BenchRow* row : rows) {
        const std::optional<Spread> spread = of(*row);
        any = any || spread.has_value();
        series.values.push_back(spread ? spread->center : kNaN);
        series.interval.push_back(spread ? Range{spread->low, spread->high} : Range{kNaN, kNaN});
      }
      if (any) chart.series.push_back(std::move(series));
    };
    add_series("run time: first arrival to last exit", [](const BenchRow& row) { return row.run; });
    add_series("last arrival to last exit", [](const BenchRow& row) { return row.after_last; });
    add_series("elapsed: mean over ranks, arrival to exit", [](const BenchRow& row) { return row.elapsed; });
    return chart;
  }

  /// A recorded job: its calls by what they were.
  void recorded() {
    add("bars", fmt::format("Run and elapsed time of recorded calls on {} ranks", all_.front()->ranks),
        run_bars(all_), whiskers());
    LinePlot spreads;
    for (const BenchRow* row : all_) {
      std::vector<double> spread_s;
      const auto ranks = static_cast<std::size_t>(row->ranks);
      for (std::size_t first = 0; first < row->calls->arrival_s.size(); first += ranks)
        spread_s.push_back(std::ranges::max(std::span(row->calls->arrival_s).subspan(first, ranks)));
      spreads.series.push_back(
          distribution(fmt::format("{}, {} calls", row->algorithm, spread_s.size()), spread_s));
    }
    spreads.x = {.label = "last - first arrival", .unit = "s", .range = with_room(greatest_x(spreads))};
    spreads.y = {.label = "share of the calls", .range = Range{0, 1}};
    add("spreads", fmt::format("How far apart the ranks come: distribution, {} ranks", all_.front()->ranks),
        spreads, "");
    constexpr std::size_t kMost = 6;
    for (std::size_t i = 0; i < std::min(all_.size(), kMost); ++i)
      call_by_call({all_[i]}, all_[i]->ranks, all_[i]->bytes);
  }

  /// The share of the values up to x, over x.
  static Series distribution(const std::string& name, std::vector<double> values) {
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

  static double greatest_x(const LinePlot& plot) {
    double most = 0;
    for (const Series& series : plot.series) most = std::max(most, std::ranges::max(series.x));
    return most;
  }

  /// Of the arrivals as they were, all algorithms together: these have no part in them.
  void imbalances(const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
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
    add("imbalance", "Distribution of the imbalance factor: " + case_text(bytes, ranks), plot, "");
  }

  /// The messages of a call in virtual time.
  void schedules(const Rows& rows) {
    for (const BenchRow* row : rows) {
      if (!row->messages) continue;
      const std::vector<Messages::Message>& all = row->messages->messages;
      const auto critical = std::ranges::count_if(all, [](const auto& m) { return m.critical; });
      add("messages",
          fmt::format("Messages of one call: {}, arrivals {}, by {}{}", case_text(row->bytes, row->ranks),
                      row->pattern, row->algorithm,
                      row->segments > 1 ? fmt::format(" in {} segments", row->segments) : ""),
          schedule_plot(*row->messages),
          fmt::format("{} messages, {} of them on the critical path, which decides the last exit.",
                      all.size(), critical));
    }
  }

  static Gantt schedule_plot(const Messages& call) {
    Gantt chart{
        .kinds = {{"computes", palette_color(5)}, {"in the call", kGrid}, {"combines", palette_color(2)}},
        .link_kinds = {{"message", kMuted}, {"on the critical path", palette_color(1)}},
        .row_label = "rank",
        .x = {.label = "time after the first arrival", .unit = "s"}};
    for (std::size_t r = 0; r < call.arrival_s.size(); ++r) {
      chart.rows.push_back(std::to_string(r));
      chart.bars.push_back({r, {0, call.arrival_s[r]}, 0});
      chart.bars.push_back({r, {call.arrival_s[r], call.exit_s[r]}, 1});
    }
    constexpr Range kLowerPart{0, 0.3};
    bool combines = false;
    for (const Messages::Message& m : call.messages) {
      chart.links.push_back({m.from, m.begin_s, m.to, m.end_s, m.critical ? 1U : 0U});
      if (m.combined_s <= m.end_s) continue;
      chart.bars.push_back({m.to, {m.end_s, m.combined_s}, 2, kLowerPart});
      combines = true;
    }
    if (!combines) chart.kinds.pop_back();
    chart.x.range = with_room(std::ranges::max(call.exit_s));
    return chart;
  }

  /// From 0 on, so that what ends last does not end at the frame.
  static Range with_room(double last) { return {0, 1.02 * last}; }

  /// Arrivals and prediction errors of all calls, and what each rank did in one of them.
  void call_by_call(const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
    Rows told;
    for (const BenchRow* row : rows) {
      if (row->calls) told.push_back(row);
    }
    if (told.empty()) return;
    const std::string of =
        group_.kind == BenchKind::record
            ? fmt::format("{} on {} ranks", size_text(bytes), ranks)
            : fmt::format("{}, arrivals {}", case_text(bytes, ranks), told.front()->pattern);
    // The delays are the same for all algorithms, so one map tells of all.
    add("arrivals", fmt::format("Arrivals after the first one: {}, by {}", of, told.front()->algorithm),
        over_calls(*told.front(), "arrival after the first one",
                   [](const Calls& calls, std::size_t i) { return calls.arrival_s[i]; }),
        "");
    const auto predicted = std::ranges::find_if(told, [](const BenchRow* row) {
      return std::ranges::any_of(row->calls->predicted_s, [](double t) { return std::isfinite(t); });
    });
    if (predicted != told.end()) {
      add("prediction-errors",
          fmt::format("Predicted - actual arrival: {}, by {}", of, (*predicted)->algorithm),
          signed_map(over_calls(
              **predicted, "predicted - actual arrival",
              [](const Calls& calls, std::size_t i) { return calls.predicted_s[i] - calls.arrival_s[i]; })),
          "Red: came earlier than predicted.");
    }
    for (const BenchRow* row : told) {
      add("call", fmt::format("The call of median run time: {}, by {}", of, row->algorithm),
          median_call(*row), "");
    }
  }

  static OwnHeatMap signed_map(OwnHeatMap own) {
    own.map.signed_values = true;
    return own;
  }

  static OwnHeatMap over_calls(const BenchRow& row, const std::string& what,
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

  static Gantt median_call(const BenchRow& row) {
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

  /// So that marks can be seen that lie before or behind, but not so far that nothing else can.
  static Range with_marks(const Range& span, const std::vector<Gantt::Mark>& marks) {
    const double length = span.hi - span.lo;
    Range wide = span;
    for (const Gantt::Mark& mark : marks) {
      if (mark.at < span.lo - length || mark.at > span.hi + length) continue;
      wide = {std::min(wide.lo, mark.at), std::max(wide.hi, mark.at)};
    }
    const double room = 0.01 * (wide.hi - wide.lo);
    return {wide.lo - room, wide.hi + 2 * room};
  }

  /// Efficiency and ratio to stock MPI, all patterns side by side.
  void shares(const Rows& rows, std::int64_t ranks, std::int64_t bytes) {
    if (rows.front()->efficiency) {
      add("efficiency", "Efficiency: " + case_text(bytes, ranks),
          by_pattern(
              rows, [](const BenchRow& row) { return row.efficiency.value_or(kNaN); },
              "efficiency (bound / run time)"),
          "Medians. Bound: the least run time that these arrivals and this link allow.");
    }
    if (stock_of(*rows.front(), rows) != nullptr) {
      add("gain", "Gain over stock MPI: " + case_text(bytes, ranks),
          by_pattern(rows, gain_over_stock(rows), "run time of stock MPI / run time"),
          "Ratios of medians within one run; above 1: faster.");
    }
  }

  static BarChart by_pattern(const Rows& rows, const Value& value, const std::string& label) {
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

  static Value gain_over_stock(const Rows& rows) {
    return [rows](const BenchRow& row) {
      const BenchRow* stock = stock_of(row, rows);
      return stock == nullptr || row.run.center <= 0 ? kNaN : stock->run.center / row.run.center;
    };
  }

  void region_map(const Rows& rows, const std::string& pattern) {
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
    add("best", fmt::format("Best algorithm over size and ranks: {}, arrivals {}", group_.operation, pattern),
        map, "In the cells: run time of the second / run time of the best.");
  }

  void planning() {
    for (const auto& [pattern, rows] : split_by(all_, &BenchRow::pattern)) {
      const std::string of =
          group_.operation + (pattern.empty() ? "" : ", arrivals " + pattern) +
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
        add("planning", "Planning time: " + of, chart, whiskers());
        continue;
      }
      LinePlot time = lines(
          rows, ranks, [](const BenchRow& row) { return row.run.center; }, true);
      time.x = ranks_axis(rows);
      time.y = time_axis("planning time", Scale::log);
      add("planning", "Planning time over ranks: " + of, time, whiskers());
      if (!std::ranges::any_of(rows, [](const BenchRow* row) { return row->memory_bytes.value_or(0) > 0; }))
        continue;
      LinePlot memory = lines(
          rows, ranks, [](const BenchRow& row) { return row.memory_bytes.value_or(kNaN); }, false);
      memory.x = time.x;
      memory.y = {.label = "memory", .unit = "B", .scale = Scale::log, .binary = true};
      add("memory", "Memory for planning over ranks: " + of, memory, "");
    }
  }

  void transforms() {
    for (const auto& [bytes, rows] : split_by(all_, &BenchRow::bytes)) {
      const std::string of = fmt::format("vectors of {} on {} ranks", size_text(bytes), rows.front()->ranks);
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
      add("fft-time", "Time per transform: " + of, time,
          "Whole time / vectors; whiskers: 10th to 90th percentile of the times from result to result.");
      add("fft-rate", "Throughput: " + of, rate, "");
      add("fft-efficiency", "Efficiency: " + of, share,
          "Wire bound: all blocks out and back over the root's link.");
    }
  }

  void predictor() {
    const std::string on = fmt::format("{} ranks, arrivals {}", all_.front()->ranks, all_.front()->pattern);
    BarChart work{.categories = names_of(all_), .y = time_axis("time of fixed work", Scale::linear)};
    BarSeries run{.name = "work"};
    BarSeries error{.name = "prediction error"};
    std::vector<std::string> predicting;
    for (const BenchRow* row : all_) {
      run.values.push_back(row->run.center);
      run.interval.push_back({row->run.low, row->run.high});
      if (!row->prediction_error) continue;
      predicting.push_back(row->algorithm);
      error.values.push_back(row->prediction_error->center);
      error.interval.push_back({row->prediction_error->low, row->prediction_error->high});
    }
    work.series = {run};
    add("predictor-cost", "What predicting costs the computation: " + on, work, whiskers());
    if (predicting.empty()) return;
    add("prediction-error", "Error of predicted arrivals: " + on,
        BarChart{.categories = predicting, .series = {error}, .y = time_axis("error", Scale::linear)},
        "Median; whisker: to the 90th percentile.");
  }

  const RunGroup& group_;
  std::string prefix_;
  Rows all_;
  std::vector<Figure> figures_;
};

std::string cell(const std::optional<double>& value, int decimals) {
  return value && std::isfinite(*value) ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

}  // namespace

std::string RunGroup::title() const {
  const std::string what = kind == BenchKind::simulate    ? operation + ", simulated"
                           : kind == BenchKind::schedule  ? operation + ": planning"
                           : kind == BenchKind::fft       ? std::string("Fourier transforms")
                           : kind == BenchKind::predictor ? std::string("predictor")
                                                          : operation;
  return differs.empty() ? what : fmt::format("{} [{}]", what, differs);
}

std::string RunGroup::conditions() const {
  const BenchRun& run = *runs.front();
  std::string machine;
  std::string text;
  for (const char* name : {"host", "cores", "mpi", "kernel"}) {
    const auto found = run.settings.find(name);
    if (found == run.settings.end()) continue;
    machine += (machine.empty() ? "" : ", ") +
               (std::string_view(name) == "cores" ? cores_text(found->second) : found->second);
  }
  const auto on_host = run.settings.find("ranks_on_host");
  if (on_host != run.settings.end()) {
    machine += on_host->second == "all" ? ", all ranks on one host"
                                        : fmt::format(", ranks per host: {}", on_host->second);
  }
  const auto seed = run.settings.find("seed");
  if (seed != run.settings.end()) text = "seed " + seed->second;
  if (run.alpha_us && run.beta_ns_per_byte) {
    text += fmt::format("{}alpha {:.3g} us, beta {:.3g} ns/B", text.empty() ? "" : ", ", *run.alpha_us,
                        *run.beta_ns_per_byte);
  }
  for (const auto& [name, value] : run.settings) {
    static const std::set<std::string> kSaid = {"host",          "cores", "mpi", "kernel",
                                                "ranks_on_host", "seed",  "op",  "architecture"};
    if (!kSaid.contains(name)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  for (const BenchRun* r : runs) {
    if (!r->link_was_steady())
      text += fmt::format("; NOT STEADY: {} ({})", r->link_drift_text(), base_name(r->file));
  }
  if (machine.empty()) return text + ".";
  return fmt::format("{}; {}.", machine, text);
}

std::vector<RunGroup> group_runs(const std::vector<BenchRun>& runs) {
  std::vector<RunGroup> groups;
  for (const BenchRun& run : runs) {
    const auto found =
        std::ranges::find_if(groups, [&](const RunGroup& group) { return may_join(group, run); });
    RunGroup& group = found == groups.end() ? groups.emplace_back() : *found;
    group.kind = run.kind;
    group.operation = run.operation;
    group.runs.push_back(&run);
    group.rows.insert(group.rows.end(), run.rows.begin(), run.rows.end());
  }
  for (RunGroup& group : groups) {
    group.differs = difference(group, groups);
    if (group.kind == BenchKind::simulate) name_segments(group.rows);
  }
  return groups;
}

std::vector<Figure> make_figures(const RunGroup& group, const std::string& prefix) {
  return FigureMaker(group, prefix).make();
}

std::vector<std::vector<std::string>> make_table(const RunGroup& group) {
  const auto any = [&](auto has) { return std::ranges::any_of(group.rows, has); };
  struct Column {
    bool shown;
    const char* heading;
    std::function<std::string(const BenchRow&)> cell;
  };
  Rows all;
  for (const BenchRow& row : group.rows) all.push_back(&row);
  const std::vector<Column> columns = {
      {true, "algorithm", [](const BenchRow& r) { return r.algorithm + (r.correct ? "" : " WRONG DATA"); }},
      {true, "ranks", [](const BenchRow& r) { return std::to_string(r.ranks); }},
      {any([](const BenchRow& r) { return r.bytes > 0; }), "size",
       [](const BenchRow& r) { return size_text(r.bytes); }},
      {any([](const BenchRow& r) { return r.segments > 0; }), "segments",
       [](const BenchRow& r) { return std::to_string(r.segments); }},
      {any([](const BenchRow& r) { return !r.pattern.empty(); }), "arrivals",
       [](const BenchRow& r) { return r.pattern; }},
      {true, "time", [](const BenchRow& r) { return time_text(r.run.center); }},
      {true, "low", [](const BenchRow& r) { return time_text(r.run.low); }},
      {true, "high", [](const BenchRow& r) { return time_text(r.run.high); }},
      {any([](const BenchRow& r) { return r.elapsed.has_value(); }), "elapsed",
       [](const BenchRow& r) { return r.elapsed ? time_text(r.elapsed->center) : "-"; }},
      {any([](const BenchRow& r) { return r.efficiency.has_value(); }), "efficiency",
       [](const BenchRow& r) { return cell(r.efficiency, 3); }},
      {any([&](const BenchRow& r) { return stock_of(r, all) != nullptr; }), "gain over mpi",
       [&](const BenchRow& r) {
         const BenchRow* stock = stock_of(r, all);
         return stock == nullptr ? "-" : cell(stock->run.center / r.run.center, 2);
       }},
      {any([](const BenchRow& r) { return r.over_best.has_value(); }), "over best",
       [](const BenchRow& r) { return cell(r.over_best, 3); }},
      {any([](const BenchRow& r) { return r.vectors_per_s.has_value(); }), "vectors/s",
       [](const BenchRow& r) { return cell(r.vectors_per_s, 1); }},
      {any([](const BenchRow& r) { return r.memory_bytes.has_value(); }), "memory",
       [](const BenchRow& r) { return r.memory_bytes ? size_text(std::llround(*r.memory_bytes)) : "-"; }},
  };
  std::vector<std::vector<std::string>> table(1);
  for (const Column& column : columns) {
    if (column.shown) table.front().emplace_back(column.heading);
  }
  for (const BenchRow& row : group.rows) {
    table.emplace_back();
    for (const Column& column : columns) {
      if (column.shown) table.back().push_back(column.cell(row));
    }
  }
  return table;
}

}  // namespace papfft::app::report
