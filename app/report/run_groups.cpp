// SPDX-License-Identifier: MIT
#include "app/report/run_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "app/report/figure.hpp"

namespace papfft::app::report {
namespace {

constexpr double kSameLink = 1.25;  // ratio of betas up to which two links count as one

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

/// ", round robin"; empty where the order of the ranks is as usual, or not known.
std::string order_text(const BenchRun& run) {
  const auto order = run.settings.find("rank_order");
  return order == run.settings.end() ? "" : ", " + order->second;
}

/// How the ranks are spread over hosts, for small print; empty: the file does not say it.
std::string spread_text(const BenchRun& run) {
  const auto found = run.settings.find("ranks_on_host");
  if (found == run.settings.end()) return "";
  if (found->second == "all") return "all ranks on one host";
  return fmt::format("ranks per host: {}{}", found->second, order_text(run));
}

}  // namespace

std::string RunGroup::title() const {
  const std::string what = kind == BenchKind::simulate    ? operation + ", simulated"
                           : kind == BenchKind::schedule  ? operation + ": planning"
                           : kind == BenchKind::fft       ? std::string("Fourier transforms")
                           : kind == BenchKind::predictor ? std::string("predictor")
                           : kind == BenchKind::guidelines
                               ? std::string("Guidelines: is auto slower than others?")
                               : operation;
  return differs.empty() ? what : fmt::format("{} [{}]", what, differs);
}

std::string RunGroup::ranks_text(std::int64_t ranks) const {
  const BenchRun& run = *runs.front();
  std::string text = fmt::format("{} ranks", ranks);
  const auto found = run.settings.find("ranks_on_host");
  if (found == run.settings.end() || found->second == "all") return text;
  return fmt::format("{}, {} per host{}", text, found->second == "1" ? "one" : found->second,
                     order_text(run));
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
  if (const std::string spread = spread_text(run); !spread.empty()) machine += ", " + spread;
  const auto seed = run.settings.find("seed");
  if (seed != run.settings.end()) text = "seed " + seed->second;
  if (run.alpha_us && run.beta_ns_per_byte) {
    text += fmt::format("{}alpha {:.3g} us, beta {:.3g} ns/B", text.empty() ? "" : ", ", *run.alpha_us,
                        *run.beta_ns_per_byte);
  }
  for (const auto& [name, value] : run.settings) {
    static const std::set<std::string> kSaid = {"host", "cores", "mpi",          "kernel",    "ranks_on_host",
                                                "seed", "op",    "architecture", "rank_order"};
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

}  // namespace papfft::app::report
