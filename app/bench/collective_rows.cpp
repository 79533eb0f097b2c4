// SPDX-License-Identifier: MIT
#include "app/bench/collective_rows.hpp"

#include <algorithm>
#include <stdexcept>

#include "app/cli/version.hpp"
#include "app/report/bench_run.hpp"
#include "app/report/statistics.hpp"
#include "comm/bounds/bounds.hpp"

namespace papfft::app {

namespace {

using Json = io::Json;
using report::summarize;

}  // namespace

double run_time_ms(std::span<const CallRecord> records) {
  return milliseconds(std::ranges::max(records, {}, &CallRecord::exit_ns).exit_ns -
                      std::ranges::min(records, {}, &CallRecord::arrival_ns).arrival_ns);
}

void CollectiveRow::add(std::span<const CallRecord> records, bool counts, double message_ns) {
  std::vector<std::int64_t> arrival_ns;
  std::vector<std::int64_t> exit_ns;
  bool was_planned = false;
  bool began_early = false;
  for (const CallRecord& record : records) {
    arrival_ns.push_back(record.arrival_ns);
    exit_ns.push_back(record.exit_ns);
    was_planned = was_planned || record.planned != 0;
    began_early = began_early || record.begun_early != 0;
    segments = static_cast<int>(record.segments);
    thread_share = std::max(thread_share, record.thread_share);
    correct = correct && record.correct != 0;
    if (counts && record.prediction_error_ns >= 0)
      prediction_error.push_back(milliseconds(record.prediction_error_ns));
  }
  const double run_ms = run_time_ms(records);
  if (first < 0) first = run_ms;
  if (!counts) return;
  run.push_back(run_ms);
  elapsed.push_back(comm::elapsed_ns(arrival_ns, exit_ns) * 1e-6);
  after_last.push_back(milliseconds(std::ranges::max(exit_ns) - std::ranges::max(arrival_ns)));
  imbalance.push_back(comm::imbalance_factor(arrival_ns, message_ns));
  calls.insert(calls.end(), records.begin(), records.end());
  planned += was_planned ? 1 : 0;
  begun_early += began_early ? 1 : 0;
}

void CollectiveRow::finish(const CallSize& call, const Links& links) {
  const std::size_t ranks = links.host.size();
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::vector<std::int64_t> arrival_ns;
    for (std::size_t r = 0; r < ranks; ++r) arrival_ns.push_back(calls[i * ranks + r].arrival_ns);
    bound.push_back(milliseconds(least_run_time_ns(call, arrival_ns, links)));
    efficiency.push_back(bound.back() / run[i]);
  }
}

const CollectiveRow* CollectiveResult::peer(const CollectiveRow& row, std::string_view algorithm) const {
  for (const CollectiveRow& other : rows) {
    if (other.algorithm == algorithm && other.size.total_bytes == row.size.total_bytes &&
        other.size.pattern == row.size.pattern) {
      return &other;
    }
  }
  return nullptr;
}

/// The duration that the pattern names, or else the largest that it gave.
double CollectiveResult::max_delay_ms(const ArrivalPattern& pattern) const {
  try {
    return milliseconds(parse_duration_ns(pattern.spec().substr(pattern.spec().rfind(':') + 1)));
  } catch (const std::invalid_argument&) {
    std::int64_t most = 0;
    for (int i = 0; i < options.warmup + options.iterations; ++i) {
      for (int r = 0; r < ranks; ++r) most = std::max(most, pattern.delay_ns(i, r, ranks, options.root));
    }
    return milliseconds(most);
  }
}

Json CollectiveResult::row_json(const CollectiveRow& row) const {
  Json json = {{"op", options.operation},
               {"algorithm", row.algorithm},
               {"ranks", ranks},
               {"hosts", layout.hosts().count()},
               {"ranks_per_host", layout.per_host_text()},
               {"rank_order", layout.order()},
               {"bytes", row.size.total_bytes},
               {"block_bytes", row.size.block_bytes},
               {"pattern", row.size.pattern->spec()},
               {"max_delay_ms", max_delay_ms(*row.size.pattern)},
               {"iterations", options.iterations},
               {"run_ms", to_json(summarize(row.run))},
               {"run_samples_ms", row.run},
               {"elapsed_ms", to_json(summarize(row.elapsed))},
               {"after_last_ms", to_json(summarize(row.after_last))},
               {"first_ms", row.first},
               {"bound_ms", report::median(row.bound)},
               {"efficiency", report::median(row.efficiency)},
               {"correct", row.correct},
               {"imbalance_factor", report::median(row.imbalance)},
               {"imbalance_samples", row.imbalance},
               {"prediction_error_ms", nullptr},
               {"planned", row.planned},
               {"begun_early", row.begun_early},
               {"segments", row.segments},
               {"thread_share", row.thread_share}};
  json["mpi_algorithm"] = row.stock ? Json(row.stock->text()) : Json();
  if (options.calls) json["calls"] = calls_json(row);
  if (!row.prediction_error.empty()) {
    json["prediction_error_ms"] = {{"median", report::median(row.prediction_error)},
                                   {"p90", report::percentile(row.prediction_error, 0.9)}};
  }
  return json;
}

/// In us from the first arrival of each call.
Json CollectiveResult::calls_json(const CollectiveRow& row) const {
  Json arrival = Json::array();
  Json exit = Json::array();
  Json predicted = Json::array();
  const auto group = static_cast<std::size_t>(ranks);
  for (std::size_t first = 0; first < row.calls.size(); first += group) {
    const auto call = std::span(row.calls).subspan(first, group);
    const std::int64_t begin_ns = std::ranges::min(call, {}, &CallRecord::arrival_ns).arrival_ns;
    const auto us = [&](std::int64_t ns) { return static_cast<double>(ns - begin_ns) * 1e-3; };
    Json arrivals = Json::array();
    Json exits = Json::array();
    Json predictions = Json::array();
    for (const CallRecord& record : call) {
      arrivals.push_back(us(record.arrival_ns));
      exits.push_back(us(record.exit_ns));
      predictions.push_back(record.prediction_error_ns < 0 ? Json() : Json(us(record.predicted_ns)));
    }
    arrival.push_back(arrivals);
    exit.push_back(exits);
    predicted.push_back(predictions);
  }
  return {{"arrival_us", arrival}, {"exit_us", exit}, {"predicted_us", predicted}};
}

Json measurement_json(const CollectiveOptions& options) {
  return {{"iterations", options.iterations},
          {"warmup", options.warmup},
          {"compute_ms", milliseconds(parse_duration_ns(options.compute))},
          {"edge", options.edge},
          {"work", options.work},
          {"seed", options.seed},
          {"root", options.root},
          {"counts", options.counts},
          {"type", options.type},
          {"wait", options.job.wait}};
}

Json CollectiveResult::settings_json() const {
  Json json = {{"op", options.operation},
               {"algorithms", settings.names()},
               {"bytes", settings.bytes},
               {"delays", options.delays}};
  const Json measurement = measurement_json(options);
  for (const auto& [name, value] : measurement.items()) json[name] = value;
  return json;
}

Json CollectiveResult::document() const {
  Json json;
  json["papfft"] = kVersion;
  json["machine"] = machine;
  json["settings"] = settings_json();
  json["alpha_us"] = link.alpha_ns * 1e-3;
  json["beta_ns_per_byte"] = link.beta_ns_per_byte;
  json["beta_after_ns_per_byte"] = link_after.beta_ns_per_byte;
  json["link_steady"] = report::is_steady_link(link.beta_ns_per_byte, link_after.beta_ns_per_byte);
  json["link"] = bound_link;
  json["rows"] = Json::array();
  for (const CollectiveRow& row : rows) json["rows"].push_back(row_json(row));
  return json;
}

std::string CollectiveResult::csv() const {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> lines;
  for (const CollectiveRow& row : rows) {
    Json whole = row_json(row);
    whole.erase("calls");
    const Json flat = whole.flatten();
    std::vector<std::string> cells;
    headings.clear();
    for (const auto& [path, value] : flat.items()) {
      // "/run_ms/median"; a missing prediction still needs its two columns
      if (path == "/prediction_error_ms") {
        for (const char* name : {"prediction_error_ms_median", "prediction_error_ms_p90"}) {
          headings.emplace_back(name);
          cells.emplace_back();
        }
        continue;
      }
      std::string name = path.substr(1);
      std::ranges::replace(name, '/', '_');
      headings.push_back(name);
      cells.push_back(value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump());
    }
    lines.push_back(std::move(cells));
  }
  report::TextTable table(headings);
  for (auto& cells : lines) table.add(std::move(cells));
  return table.csv();
}

void RawCalls::add(const CollectiveOptions& options, const CollectiveRow& row,
                   std::span<const CallRecord> records, int round) {
  for (std::size_t r = 0; r < records.size(); ++r) {
    const CallRecord& record = records[r];
    table_.add(
        {options.operation, row.algorithm, std::to_string(row.size.total_bytes), row.size.pattern->spec(),
         std::to_string(round - options.warmup), round < options.warmup ? "1" : "0", std::to_string(r),
         std::to_string(record.arrival_ns), std::to_string(record.exit_ns),
         record.prediction_error_ns < 0 ? "" : std::to_string(record.prediction_error_ns),
         std::to_string(record.planned), std::to_string(record.begun_early), std::to_string(record.correct)});
  }
}

}  // namespace papfft::app
