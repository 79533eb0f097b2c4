// SPDX-License-Identifier: MIT
#include "app/report/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/io/errors.hpp"
#include "app/report/canvas.hpp"
#include "app/report/row_fields.hpp"

namespace papfft::app::report {
namespace {

/// Settings that rows tell for themselves: files may differ in them and be shown together.
constexpr std::array kSwept = {"algorithms", "bytes",  "delays",     "ranks",     "patterns",
                               "gathers",    "length", "operations", "guidelines"};

/// Of the machine: how the ranks are spread over hosts, which is told in one.
constexpr std::array kLayout = {"ranks", "ranks_on_host", "hosts", "ranks_per_host", "rank_order"};

std::optional<BenchKind> kind_of(const Json& row) {
  if (!row.is_object()) return std::nullopt;
  if (row.contains("run_ms")) return BenchKind::collective;
  if (row.contains("guideline")) return BenchKind::guidelines;
  if (row.contains("run_ns")) return BenchKind::simulate;
  if (row.contains("time_us") && row.contains("segments")) return BenchKind::schedule;
  if (row.contains("vector_ms")) return BenchKind::fft;
  if (row.contains("work_with_ms")) return BenchKind::predictor;
  return std::nullopt;
}

const char* main_summary(BenchKind kind) {
  switch (kind) {
    case BenchKind::collective:
      return "run_ms";
    case BenchKind::simulate:
      return "run_ns";
    case BenchKind::schedule:
      return "time_us";
    case BenchKind::fft:
      return "vector_ms";
    case BenchKind::predictor:
      return "work_with_ms";
    case BenchKind::guidelines:
      return "auto_ms";
    case BenchKind::record:
      break;
  }
  return "";
}

std::string value_text(const Json& value) {
  return clean_text(value.is_string() ? value.get<std::string>() : value.dump());
}

std::map<std::string, std::string> settings_of(const Json& document) {
  std::map<std::string, std::string> settings;
  if (document.contains("settings") && document.at("settings").is_object()) {
    for (const auto& [name, value] : document.at("settings").items()) {
      if (std::ranges::find(kSwept, name) == kSwept.end()) settings[name] = value_text(value);
    }
  }
  if (document.contains("machine") && document.at("machine").is_object()) {
    const Json& machine = document.at("machine");
    for (const auto& [name, value] : machine.items()) {
      if (std::ranges::find(kLayout, name) == kLayout.end()) settings[name] = value_text(value);
    }
    if (machine.contains("ranks") && machine.contains("ranks_on_host")) {
      // All of a job on one machine is one situation, whatever the number of ranks.
      settings["ranks_on_host"] = machine.at("ranks") == machine.at("ranks_on_host") ? "all"
                                  : machine.contains("ranks_per_host")
                                      ? value_text(machine.at("ranks_per_host"))
                                      : value_text(machine.at("ranks_on_host"));
    }
    // Said only where it is unusual: files of former versions do not say it.
    if (machine.contains("rank_order") && machine.at("rank_order") != "by host")
      settings["rank_order"] = value_text(machine.at("rank_order"));
  }
  return settings;
}

/// Blocks are of whole words, so a size may have come out a little less than was asked for, by how much depending on the number
/// of ranks. Rows of one request belong together.
void name_sizes_as_asked(const Json& document, std::vector<BenchRow>& rows) {
  constexpr std::int64_t kWordBytes = 8;
  if (!document.contains("settings") || !document.at("settings").is_object()) return;
  for (const Json& asked : document.at("settings").value("bytes", Json::array())) {
    if (!asked.is_number_integer()) continue;
    const auto bytes = asked.get<std::int64_t>();
    for (BenchRow& row : rows) {
      if (row.bytes < bytes && row.bytes + kWordBytes * row.ranks >= bytes) row.bytes = bytes;
    }
  }
}

}  // namespace

std::string_view to_string(BenchKind kind) {
  switch (kind) {
    case BenchKind::collective:
      return "collective";
    case BenchKind::simulate:
      return "simulate";
    case BenchKind::schedule:
      return "schedule";
    case BenchKind::fft:
      return "fft";
    case BenchKind::predictor:
      return "predictor";
    case BenchKind::record:
      return "record";
    case BenchKind::guidelines:
      return "guidelines";
  }
  return "?";
}

bool is_steady_link(double before, double after) {
  return std::max(before, after) <= (1 + kLinkDrift) * std::min(before, after);
}

bool BenchRun::link_was_steady() const {
  return !beta_ns_per_byte || !beta_after_ns_per_byte ||
         is_steady_link(*beta_ns_per_byte, *beta_after_ns_per_byte);
}

std::string BenchRun::link_drift_text() const {
  return fmt::format("the link took {:.3g} ns per byte before the run and {:.3g} after it",
                     beta_ns_per_byte.value_or(0), beta_after_ns_per_byte.value_or(0));
}

BenchRun read_bench_run(const std::string& path) {
  const auto refuse = [&](const Json&) {
    throw io::DataError(path, "is a timeline; what would work: the output of 'papfft bench ... --json'");
  };
  return to_bench_run(path, parse_json(path, read_text(path), refuse));
}

BenchRun to_bench_run(const std::string& path, const Json& document) {
  if (document.is_object() && document.contains("arrivals") && document.contains("calls")) {
    BenchRun run;
    run.file = path;
    run.kind = BenchKind::record;
    run.operation = "recorded calls";
    run.settings = settings_of(document);
    run.rows = recorded_rows(path, document);
    if (document.contains("command") && document.at("command").is_string())
      run.settings["command"] = value_text(document.at("command"));
    run.json = document.dump();
    return run;
  }
  if (!document.is_object() || !document.contains("rows") || !document.at("rows").is_array() ||
      document.at("rows").empty()) {
    throw io::DataError(
        path,
        "has no rows; what would work: the output of 'papfft bench ... --json', 'papfft simulate --json', "
        "'papfft record' or --timeline");
  }
  const Json& rows = document.at("rows");
  const std::optional<BenchKind> kind = kind_of(rows.front());
  if (!kind) {
    throw io::DataError(
        path,
        "is of no known kind; known are bench collective, guidelines, fft, predictor and schedule, simulate, "
        "record and "
        "--timeline");
  }
  BenchRun run;
  run.file = path;
  run.kind = *kind;
  run.json = document.dump();
  run.settings = settings_of(document);
  const auto measured = [&](const char* name) {
    return document.contains(name) && document.at(name).is_number()
               ? std::optional(document.at(name).get<double>())
               : std::nullopt;
  };
  run.alpha_us = measured("alpha_us");
  run.beta_ns_per_byte = measured("beta_ns_per_byte");
  run.beta_after_ns_per_byte = measured("beta_after_ns_per_byte");
  std::int64_t most_ranks = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowFields fields(path, i, rows[i]);
    const bool has_one = rows[i].contains("op") && *kind != BenchKind::guidelines;
    const std::string operation = has_one ? fields.text("op") : std::string(to_string(*kind));
    if (i > 0 && operation != run.operation) fields.fail("is of another operation than those before");
    run.operation = operation;
    run.centers_are_means = run.centers_are_means || fields.lacks(main_summary(*kind), "median");
    run.has_percentiles = run.has_percentiles && !fields.lacks(main_summary(*kind), "p10");
    add_row(*kind, fields, run.rows);
    most_ranks = std::max(most_ranks, run.rows.back().ranks);
  }
  if (*kind == BenchKind::collective || *kind == BenchKind::guidelines)
    name_sizes_as_asked(document, run.rows);
  if (*kind == BenchKind::fft) {  // the process alone is what the others are compared to
    for (BenchRow& row : run.rows) row.ranks = most_ranks;
  }
  return run;
}

}  // namespace papfft::app::report
