// SPDX-License-Identifier: MIT
#include "app/bench/schedule_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "app/bench/bench_common.hpp"
#include "app/bench/heap_meter.hpp"
#include "app/cli/version.hpp"
#include "app/report/statistics.hpp"
#include "app/report/text_table.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::app {

namespace {

/// What all others are compared with, where they run (CLV Table 1).
constexpr std::array kPeers = {"clv-linear", "clv-heap"};

std::vector<std::string> names(std::span<const comm::Algorithm* const> algorithms) {
  std::vector<std::string> result;
  for (const comm::Algorithm* a : algorithms) result.emplace_back(a->name);
  return result;
}

}  // namespace

/// How many times as long the peer took on the same instances, in the mean; NaN if it did not run.
double ScheduleResult::gain(const ScheduleRow& row, std::string_view peer) const {
  for (const ScheduleRow& other : rows) {
    if (other.algorithm->name == peer && other.ranks == row.ranks && other.segments == row.segments &&
        other.pattern == row.pattern) {
      return report::summarize(other.time_us).mean / report::summarize(row.time_us).mean;
    }
  }
  return std::nan("");
}

io::Json ScheduleResult::row_json(const ScheduleRow& row) const {
  io::Json json = {{"op", options.operation},
                   {"algorithm", row.algorithm->name},
                   {"ranks", row.ranks},
                   {"segments", row.segments},
                   {"pattern", row.pattern},
                   {"repetitions", row.time_us.size()},
                   {"time_us", to_json(report::summarize(row.time_us))},
                   {"time_samples_us", row.time_us},
                   {"memory_bytes", nullptr},
                   {"gain_over", io::Json::object()}};
  if (HeapMeter::works()) json["memory_bytes"] = row.memory_bytes;
  for (const char* peer : kPeers) {
    const double value = gain(row, peer);
    json["gain_over"][peer] = std::isnan(value) ? io::Json() : io::Json(value);
  }
  if (row.circulant) {
    json["rounds"] = comm::Circulant(row.ranks).rounds();
    json["sampled_ranks"] = row.circulant->sampled;
    json["rank_ns"] = to_json(report::summarize(row.circulant->rank_ns));
    if (!row.circulant->all_us.empty())
      json["all_ranks_us"] = to_json(report::summarize(row.circulant->all_us));
    json["checksum"] = row.circulant->checksum;
  }
  return json;
}

std::string ScheduleResult::circulant_table() const {
  report::TextTable table({"ranks", "rounds", "ns per rank", "min", "all ranks, us", "bytes per rank"});
  bool any = false;
  for (const ScheduleRow& row : rows) {
    if (!row.circulant) continue;
    any = true;
    const CirculantTimes& times = *row.circulant;
    table.add({std::to_string(row.ranks), std::to_string(comm::Circulant(row.ranks).rounds()),
               figure(report::median(times.rank_ns)), figure(*std::ranges::min_element(times.rank_ns)),
               times.all_us.empty() ? "-" : figure(report::median(times.all_us)),
               std::to_string(2 * sizeof(comm::Circulant::Blocks))});
  }
  return !any ? ""
              : "\nwhat a rank receives and sends in a phase of the circulant graph\n\n" + table.text() +
                    "all ranks: every receive schedule, as an allgatherv needs\n";
}

std::string ScheduleResult::table() const {
  report::TextTable table({"pattern", "ranks", "segments", "algorithm", "mean us", "median", "min",
                           "memory KiB", "gain over clv-linear", "over clv-heap"});
  for (const ScheduleRow& row : rows) {
    const report::Summary time = report::summarize(row.time_us);
    table.add({row.pattern, std::to_string(row.ranks), std::to_string(row.segments),
               std::string(row.algorithm->name), figure(time.mean), figure(time.median), figure(time.min),
               figure(static_cast<double>(row.memory_bytes) / 1024), figure(gain(row, kPeers[0])),
               figure(gain(row, kPeers[1]))});
  }
  return table.text();
}

std::string ScheduleResult::text() const {
  return fmt::format(
      "planning {}: {} instances per size and pattern, seed {}\n\n{}\n"
      "time: the plan of one rank, the root (it has the longest program)\n"
      "memory: for planning, the program itself apart\n"
      "gain: mean time of the peer / mean time, on the same instances\n{}",
      options.operation, options.repetitions, options.seed, table(), circulant_table());
}

std::string ScheduleResult::csv() const {
  report::TextTable table(
      {"op", "algorithm", "ranks", "segments", "pattern", "repetition", "time_us", "memory_bytes"});
  for (const ScheduleRow& row : rows) {
    for (std::size_t i = 0; i < row.time_us.size(); ++i) {
      table.add({options.operation, std::string(row.algorithm->name), std::to_string(row.ranks),
                 std::to_string(row.segments), row.pattern, std::to_string(i),
                 fmt::format("{:.3f}", row.time_us[i]), std::to_string(row.memory_bytes)});
    }
  }
  return table.csv();
}

io::Json ScheduleResult::document(const io::Json& machine) const {
  io::Json json;
  json["papfft"] = kVersion;
  json["machine"] = machine;
  json["settings"] = {{"op", options.operation}, {"algorithms", names(algorithms)},
                      {"ranks", ranks},          {"segments", options.segments},
                      {"patterns", patterns},    {"repetitions", options.repetitions},
                      {"seed", options.seed}};
  json["rows"] = io::Json::array();
  for (const ScheduleRow& row : rows) json["rows"].push_back(row_json(row));
  return json;
}

}  // namespace papfft::app
