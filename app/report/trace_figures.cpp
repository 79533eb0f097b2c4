// SPDX-License-Identifier: MIT
#include "app/report/trace_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "app/report/host_rows.hpp"

namespace papfft::app::report {
namespace {

constexpr std::size_t kDetailedCalls = 8;    // the first ones, which a picture can show with their messages
constexpr double kMuchLonger = 1.5;          // than those: the whole job gets a picture of its own
constexpr std::size_t kMostMarks = 400;      // more, of edges, would hide what lies below
constexpr std::size_t kMostMessages = 2000;  // the same
constexpr int kMostLanes = 4;                // of calls that go on beside each other
constexpr std::size_t kCells = 2000;         // of the time shown: less is no pixel
constexpr int kLane_px = 13;
constexpr Rgb kMessageColor{0x4d, 0x4d, 0x4d};

// Okabe and Ito's colours; greys for what is not the rank's own doing.
constexpr std::array<Rgb, kActivities> kColors = {{{0x56, 0xb4, 0xe9},
                                                   {0x00, 0x72, 0xb2},
                                                   {0xf0, 0xe4, 0x42},
                                                   {0x00, 0x9e, 0x73},
                                                   {0xd5, 0x5e, 0x00},
                                                   {0xe6, 0x9f, 0x00},
                                                   {0xcc, 0x79, 0xa7},
                                                   {0x75, 0x75, 0x75},
                                                   {0xb3, 0xb3, 0xb3}}};

/// In the order in which a rank's time is summed up: first what it is there for.
constexpr std::array kOwnActivities = {Activity::computing,   Activity::other_work,    Activity::in_call,
                                       Activity::late_sender, Activity::late_receiver, Activity::wait_at_nxn,
                                       Activity::waiting};

Gantt::Kind kind_of(Activity activity) {
  return {std::string(to_string(activity)), kColors[static_cast<std::size_t>(activity)]};
}

/// What lies below what in a rank's row: its computing, its calls, what others do for it.
std::pair<int, int> lane_of(const TraceSlice& slice) {
  if (slice.activity <= Activity::waiting) return {0, 0};
  if (slice.activity <= Activity::wait_at_nxn) return {1, 0};
  if (slice.activity == Activity::background) return {2, 0};
  return {3, std::min(slice.lane, kMostLanes - 1)};
}

bool is_call(const TraceSlice& slice) {
  return slice.activity == Activity::in_call || slice.activity == Activity::beside;
}

class TimelinePlot {
 public:
  TimelinePlot(const Trace& trace, Range window, bool detailed)
      : trace_(trace),
        window_(window),
        detailed_(detailed),
        rows_(rows_by_host(trace.ranks.size(), trace.hosts)) {
    for (const TraceSlice& slice : trace.slices) {
      if (!shows(slice.begin_s, slice.end_s)) continue;
      lanes_.try_emplace(lane_of(slice), 0);
      of_lane_[{slice.rank, lane_of(slice)}].push_back(&slice);
    }
    int next = 0;
    for (auto& [lane, index] : lanes_) index = next++;
  }

  [[nodiscard]] int height_px() const {
    const auto lanes = static_cast<int>(lanes_.size() * std::min<std::size_t>(trace_.ranks.size(), 256));
    return std::clamp(180 + lanes * (kLane_px + 4), 360, 1600);
  }

  [[nodiscard]] Gantt plot() {
    chart_ = {.row_label = "rank",
              .x = {.label = "time since the job's first event", .unit = "s", .range = window_}};
    chart_.rows = rows_.labels;
    chart_.bands = rows_.boxes;
    std::map<Activity, std::size_t> kinds;
    for (const auto& [where, slices] : of_lane_) {
      for (const TraceSlice* slice : slices) kinds.emplace(slice->activity, 0);
    }
    for (auto& [activity, kind] : kinds) {
      kind = chart_.kinds.size();
      chart_.kinds.push_back(kind_of(activity));
    }
    for (const auto& [where, slices] : of_lane_) {
      const auto& [rank, lane] = where;
      std::vector<Stretch> all = stretches(slices);
      if (all.size() > kCells) all = coarser(all);
      for (const Stretch& s : all) {
        chart_.bars.push_back({rows_.row_of[rank],
                               {s.begin_s, s.end_s},
                               kinds.at(s.slice->activity),
                               across(lane),
                               caption(s)});
      }
    }
    if (detailed_) {
      add_edges();
      add_messages();
    }
    return std::move(chart_);
  }

 private:
  using Lane = std::pair<int, int>;

  [[nodiscard]] bool shows(double begin_s, double end_s) const {
    return end_s >= window_.lo && begin_s <= window_.hi;
  }

  /// The first lane is on top, and there is a little white between them.
  [[nodiscard]] Range across(const Lane& lane) const {
    const double share = 1.0 / static_cast<double>(lanes_.size());
    const double upper = 1 - share * lanes_.at(lane);
    return {upper - (1 - 0.06) * share, upper};
  }

  [[nodiscard]] std::string caption(const Stretch& stretch) const {
    const TraceSlice& slice = *stretch.slice;
    return detailed_ && (is_call(slice) || slice.activity == Activity::other_work) ? slice.name : "";
  }

  /// More than can be seen: in each of kCells equal times what took most of it.
  [[nodiscard]] std::vector<Stretch> coarser(const std::vector<Stretch>& fine) const {
    const double cell_s = (window_.hi - window_.lo) / kCells;
    std::vector<Stretch> result;
    for (std::size_t cell = 0, next = 0; cell < kCells; ++cell) {
      const double begin_s = window_.lo + static_cast<double>(cell) * cell_s;
      const double end_s = begin_s + cell_s;
      std::array<double, kActivities> sums{};
      std::array<const TraceSlice*, kActivities> slices{};
      while (next < fine.size() && fine[next].end_s <= begin_s) ++next;
      for (std::size_t i = next; i < fine.size() && fine[i].begin_s < end_s; ++i) {
        const auto activity = static_cast<std::size_t>(fine[i].slice->activity);
        sums[activity] += std::min(fine[i].end_s, end_s) - std::max(fine[i].begin_s, begin_s);
        slices[activity] = fine[i].slice;
      }
      const auto most = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
      if (sums[most] <= 0) continue;
      if (!result.empty() && result.back().slice->activity == slices[most]->activity &&
          begin_s - result.back().end_s < cell_s / 2) {
        result.back().end_s = end_s;
      } else {
        result.push_back({slices[most], begin_s, end_s});
      }
    }
    return result;
  }

  void add_edges() {
    for (const TraceEdge& edge : trace_.edges) {
      const Lane lane = {0, 0};
      if (shows(edge.at_s, edge.at_s) && lanes_.contains(lane))
        chart_.marks.push_back({rows_.row_of[edge.rank], edge.at_s, across(lane)});
    }
    if (chart_.marks.size() > kMostMarks) chart_.marks.clear();
    if (!chart_.marks.empty()) chart_.mark_name = "edge";
  }

  void add_messages() {
    for (const TraceMessage& message : trace_.messages) {
      if (!shows(message.begin_s, message.end_s)) continue;
      chart_.links.push_back(
          {rows_.row_of[message.from], message.begin_s, rows_.row_of[message.to], message.end_s, 0});
    }
    if (chart_.links.size() > kMostMessages) chart_.links.clear();
    if (!chart_.links.empty()) chart_.link_kinds = {{"message", kMessageColor}};
  }

  const Trace& trace_;
  Range window_;
  bool detailed_;
  HostRows rows_;
  std::map<Lane, int> lanes_;  // the index from the top
  std::map<std::pair<std::size_t, Lane>, std::vector<const TraceSlice*>> of_lane_;
  Gantt chart_;
};

/// The time of the first calls.
Range detailed_window(const Trace& trace) {
  Range window{std::numeric_limits<double>::infinity(), 0};
  std::vector<std::size_t> calls(trace.ranks.size());
  for (const TraceSlice& slice : trace.slices) {
    if (!is_call(slice) || ++calls[slice.rank] > kDetailedCalls) continue;
    window.lo = std::min(window.lo, slice.begin_s);
    window.hi = std::max(window.hi, slice.end_s);
  }
  if (!(window.hi > window.lo)) return {0, trace.end_s};
  const double margin = 0.05 * (window.hi - window.lo);
  return {std::max(0.0, window.lo - margin), std::min(trace.end_s, window.hi + margin)};
}

std::size_t most_calls_of_a_rank(const Trace& trace) {
  std::vector<std::size_t> calls(trace.ranks.size());
  for (const TraceSlice& slice : trace.slices) calls[slice.rank] += is_call(slice) ? 1U : 0U;
  return std::ranges::max(calls);
}

Gantt sums_plot(const Trace& trace) {
  Gantt chart{.row_label = "rank", .x = {.label = "time", .unit = "s"}};
  std::map<Activity, std::size_t> kinds;
  const std::vector<std::array<double, kActivities>> sums = trace.times_s();
  for (std::size_t r = 0; r < sums.size(); ++r) chart.rows.push_back(std::to_string(r));
  for (const Activity activity : kOwnActivities) {
    const auto a = static_cast<std::size_t>(activity);
    if (std::ranges::none_of(sums, [a](const auto& of_rank) { return of_rank[a] > 0; })) continue;
    kinds[activity] = chart.kinds.size();
    chart.kinds.push_back(kind_of(activity));
  }
  for (std::size_t r = 0; r < sums.size(); ++r) {
    double at_s = 0;
    for (const Activity activity : kOwnActivities) {
      const double length_s = sums[r][static_cast<std::size_t>(activity)];
      if (length_s <= 0) continue;
      chart.bars.push_back({r, {at_s, at_s + length_s}, kinds.at(activity), {0, 1}, time_text(length_s)});
      at_s += length_s;
    }
  }
  chart.x.range = Range{0, trace.end_s};
  return chart;
}

/// The command's own words: "transform" of "transform x.npy -o y.npy".
std::string job_of(const Trace& trace) {
  const std::string word = trace.command.substr(0, trace.command.find(' '));
  return word.empty() ? "a job" : word;
}

std::string ranks_text(const Trace& trace) {
  return fmt::format("{} rank{}", trace.ranks.size(), trace.ranks.size() == 1 ? "" : "s");
}

}  // namespace

std::string title_of(const Trace& trace) { return "timeline of " + job_of(trace); }

std::string conditions_of(const Trace& trace) {
  std::string text = trace.machine.empty() ? "" : trace.machine + ". ";
  if (!trace.command.empty()) text += "Command: " + trace.command + ". ";
  std::string names;
  for (const std::string& name : trace.ranks) {
    constexpr std::size_t kMost = 500;
    if (names.size() > kMost) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + name;
  }
  text += names + ".";
  if (trace.dropped > 0) text += fmt::format(" {} EVENTS ARE MISSING: there were too many.", trace.dropped);
  return text;
}

std::vector<Figure> make_figures(const Trace& trace, const std::string& prefix) {
  std::vector<Figure> figures;
  const std::string of = fmt::format("{} on {}", job_of(trace), ranks_text(trace));
  const std::string missing =
      trace.dropped > 0 ? fmt::format(" {} EVENTS ARE MISSING.", trace.dropped) : std::string();
  const auto add = [&](const char* name, const std::string& what, Gantt plot, const std::string& note,
                       int height_px) {
    figures.push_back({.name = fmt::format("{}-{:02}-{}", prefix, figures.size() + 1, name),
                       .title = what + of,
                       .note = note + missing + " " + trace.machine_name,
                       .plot = std::move(plot),
                       .size = {.width_px = kFigureSize.width_px, .height_px = height_px}});
  };
  const Range whole{0, trace.end_s};
  const Range first = detailed_window(trace);
  const std::size_t calls = most_calls_of_a_rank(trace);
  const bool is_long = trace.end_s > kMuchLonger * (first.hi - first.lo);
  if (is_long) {
    TimelinePlot plot(trace, whole, false);
    add("timeline", "Timeline: ", plot.plot(), fmt::format("All {} calls.", calls), plot.height_px());
  }
  TimelinePlot plot(trace, is_long ? first : whole, true);
  add("calls", is_long ? "Timeline of the first calls: " : "Timeline: ", plot.plot(),
      is_long ? fmt::format("The first {} of {} calls: {} of {}.", std::min(calls, kDetailedCalls), calls,
                            time_text(first.hi - first.lo), time_text(trace.end_s))
      : calls == 0 ? "No collective call."
                   : fmt::format("All {} calls.", calls),
      plot.height_px());
  add("sums", "What each rank did in all: ", sums_plot(trace),
      "What is missing to the right end: nothing is known of it.",
      std::clamp(200 + 34 * static_cast<int>(std::min<std::size_t>(trace.ranks.size(), 64)), 300, 1600));
  return figures;
}

std::vector<std::vector<std::string>> make_table(const Trace& trace) {
  std::vector<std::vector<std::string>> table = {{"rank"}};
  for (const Activity activity : kOwnActivities) table.front().emplace_back(to_string(activity));
  for (const std::array<double, kActivities>& sums : trace.times_s()) {
    table.push_back({std::to_string(table.size() - 1)});
    for (const Activity activity : kOwnActivities)
      table.back().push_back(time_text(sums[static_cast<std::size_t>(activity)]));
  }
  return table;
}

}  // namespace papfft::app::report
