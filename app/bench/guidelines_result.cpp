// SPDX-License-Identifier: MIT
#include "app/bench/guidelines_result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/bench/collective_rows.hpp"
#include "app/cli/version.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/statistics.hpp"
#include "app/report/text_table.hpp"

namespace papfft::app {

namespace {

using Json = io::Json;

std::string counted(std::size_t number, const std::string& thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

bool is_violated(const GuidelineRow& row) { return row.verdict.finding == Finding::violated; }

std::string median_us(const std::vector<double>& ms) { return figure(1e3 * report::median(ms)); }

}  // namespace

std::string GuidelineRow::peer_text() const {
  if (guideline == Guideline::monotone) return "auto of " + report::byte_count_text(peer_bytes);
  return stock ? peer + " " + stock->text() : peer;
}

std::size_t GuidelinesResult::count(Finding finding) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [&](const GuidelineRow& row) { return row.verdict.finding == finding; }));
}

const GuidelineRow* GuidelinesResult::worst() const {
  const GuidelineRow* worst = nullptr;
  for (const GuidelineRow& row : rows) {
    if (is_violated(row) && (worst == nullptr || row.verdict.ratio > worst->verdict.ratio)) worst = &row;
  }
  return worst;
}

bool GuidelinesResult::fails() const {
  std::vector<Verdict> verdicts;
  for (const GuidelineRow& row : rows) verdicts.push_back(row.verdict);
  return settings.fail_over && is_violated_beyond(verdicts, *settings.fail_over);
}

Json GuidelinesResult::settings_json() const {
  Json json = {{"operations", options.operations}, {"guidelines", options.guidelines},
               {"bytes", settings.bytes},          {"delays", options.call.delays},
               {"tolerance", settings.tolerance},  {"significance", kSignificance},
               {"budget_s", options.budget_s},     {"predict", options.call.predicts}};
  const Json measurement = measurement_json(options.call);
  for (const auto& [name, value] : measurement.items()) json[name] = value;
  return json;
}

Json GuidelinesResult::row_json(const GuidelineRow& row) const {
  return {{"op", comm::to_string(row.operation)},
          {"guideline", to_string(row.guideline)},
          {"peer", row.peer},
          {"mpi_algorithm", row.stock ? Json(row.stock->text()) : Json()},
          {"peer_bytes", row.guideline == Guideline::monotone ? row.peer_bytes : row.bytes},
          {"peers", row.peers},
          {"ranks", ranks},
          {"hosts", layout.hosts().count()},
          {"ranks_per_host", layout.per_host_text()},
          {"rank_order", layout.order()},
          {"bytes", row.bytes},
          {"block_bytes", row.block_bytes},
          {"pattern", row.pattern},
          {"iterations", row.auto_ms.size()},
          {"auto_ms", to_json(report::summarize(row.auto_ms))},
          {"auto_samples_ms", row.auto_ms},
          {"peer_ms", to_json(report::summarize(row.peer_ms))},
          {"peer_samples_ms", row.peer_ms},
          {"ratio", row.verdict.ratio},
          {"p", row.verdict.p},
          {"verdict", to_string(row.verdict.finding)},
          {"violated", is_violated(row)}};
}

Json GuidelinesResult::document() const {
  Json json;
  json["papfft"] = kVersion;
  json["machine"] = machine;
  json["settings"] = settings_json();
  json["cells"] = cells;
  json["violations"] = count(Finding::violated);
  json["unproven"] = count(Finding::unproven);
  json["notes"] = notes;
  json["rows"] = Json::array();
  for (const GuidelineRow& row : rows) json["rows"].push_back(row_json(row));
  return json;
}

std::string GuidelinesResult::csv() const {
  report::TextTable table({"op", "bytes", "block_bytes", "pattern", "ranks", "hosts", "ranks_per_host",
                           "guideline", "peer", "mpi_algorithm", "peer_bytes", "peers", "iterations",
                           "auto_ms", "peer_ms", "ratio", "p", "verdict"});
  for (const GuidelineRow& row : rows) {
    table.add({std::string(comm::to_string(row.operation)), std::to_string(row.bytes),
               std::to_string(row.block_bytes), row.pattern, std::to_string(ranks),
               std::to_string(layout.hosts().count()), layout.per_host_text(),
               std::string(to_string(row.guideline)), row.peer, row.stock ? row.stock->text() : "",
               std::to_string(row.guideline == Guideline::monotone ? row.peer_bytes : row.bytes),
               std::to_string(row.peers), std::to_string(row.auto_ms.size()),
               fmt::format("{}", report::median(row.auto_ms)), fmt::format("{}", report::median(row.peer_ms)),
               fmt::format("{}", row.verdict.ratio), fmt::format("{}", row.verdict.p),
               std::string(to_string(row.verdict.finding))});
  }
  return table.csv();
}

std::string GuidelinesResult::answer() const {
  const GuidelineRow* row = worst();
  if (row == nullptr) return "";
  return fmt::format("the worst: {} of {}, delay {}: auto takes {} times as long as {} (p = {:.2g})\n",
                     comm::to_string(row->operation), report::byte_count_text(row->bytes), row->pattern,
                     figure(row->verdict.ratio), row->peer_text(), row->verdict.p);
}

std::string GuidelinesResult::text() const {
  std::string text =
      fmt::format("{}, {} unproven, of {} in {} on {} ranks ({})\n{}",
                  counted(count(Finding::violated), "violation"), count(Finding::unproven),
                  counted(rows.size(), "check"), counted(cells, "cell"), ranks, layout.text(), answer());
  text += fmt::format(
      "violated: auto's median run time is more than {} longer than the peer's, and p < {}; unproven: only "
      "the former\n"
      "{} iterations after {} of warm-up, compute {}, {}, root {}, seed {}\n",
      options.tolerance, kSignificance, options.call.iterations, options.call.warmup, options.call.compute,
      options.call.predicts ? "arrivals predicted" : "plain calls", options.call.root, options.call.seed);
  for (const std::string& note : notes) text += note + "\n";
  report::TextTable table(
      {"op", "bytes", "delay", "guideline", "peer", "calls", "auto us", "peer us", "ratio", "p", "verdict"});
  for (const GuidelineRow& row : rows) {
    table.add({std::string(comm::to_string(row.operation)), report::byte_count_text(row.bytes), row.pattern,
               std::string(to_string(row.guideline)), row.peer_text(), std::to_string(row.auto_ms.size()),
               median_us(row.auto_ms), median_us(row.peer_ms), figure(row.verdict.ratio),
               fmt::format("{:.2g}", row.verdict.p), std::string(to_string(row.verdict.finding))});
  }
  return text + "\n" + table.text();
}

}  // namespace papfft::app
