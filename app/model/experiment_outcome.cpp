// SPDX-License-Identifier: MIT
#include "app/model/experiment_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/bench/bench_common.hpp"
#include "app/cli/version.hpp"
#include "app/io/errors.hpp"
#include "app/report/json_file.hpp"

namespace papfft::app {

namespace {

namespace fs = std::filesystem;
using Json = io::Json;

constexpr const char* kRecords = "experiments.json";

std::string decimal(double value) { return fmt::format("{:.{}f}", value, std::abs(value) >= 100 ? 1 : 3); }

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::in_part:
      return "in part";
    case Verdict::not_reproduced:
      return "not reproduced";
    case Verdict::skipped:
      return "skipped";
    case Verdict::failed:
      return "failed";
  }
  return "?";
}

std::string Outcome::held_text() const {
  return measured == 0 ? "-" : fmt::format("{} of {}", held, measured);
}

std::string Outcome::run_text() const {
  if (record.date.empty()) return "";
  return fmt::format("{}, {}, {}", record.quick ? "short form" : "full", record.date, record.machine);
}

void judge(const Experiment& experiment, Outcome& outcome) {
  outcome.table = {{"statement", "paper", "ours", "holds if", "verdict"}};
  for (const Expectation& x : experiment.expectations) {
    const std::optional<double> of = x.of.time_s(outcome.runs);
    const std::optional<double> to = x.to ? x.to->time_s(outcome.runs) : 1e-9;
    const std::string bounds = std::isinf(x.most) ? fmt::format("at least {:g}", x.least)
                               : x.least <= 0     ? fmt::format("at most {:g}", x.most)
                                                  : fmt::format("{:g} to {:g}", x.least, x.most);
    const std::string paper = x.paper ? decimal(*x.paper) : "-";
    if (!of || !to || !(*to > 0)) {
      outcome.table.push_back({x.what, paper, "-", bounds, "not measured"});
      continue;
    }
    constexpr double kRounding = 1e-9;
    const double value = *of / *to;
    const bool holds = value >= x.least * (1 - kRounding) && value <= x.most * (1 + kRounding);
    ++outcome.measured;
    outcome.held += holds ? 1 : 0;
    if (outcome.first_ratio.empty())
      outcome.first_ratio = fmt::format("{} (paper {})", decimal(value), paper);
    outcome.table.push_back({x.what, paper, decimal(value), bounds, holds ? "reproduced" : "not reproduced"});
  }
  if (outcome.measured == 0)
    outcome.verdict = Verdict::failed;
  else if (outcome.held == outcome.measured)
    outcome.verdict = Verdict::reproduced;
  else
    outcome.verdict = outcome.held == 0 ? Verdict::not_reproduced : Verdict::in_part;
  if (outcome.measured == 0 && outcome.why.empty()) outcome.why = "nothing that it expects was measured";
}

Json read_records(const fs::path& folder) {
  const std::string path = (folder / kRecords).string();
  if (!fs::exists(path)) return Json::object();
  try {
    const Json records = Json::parse(report::read_text(path));
    if (!records.is_object()) throw io::DataError(path, "is no list of experiments");
    return records;
  } catch (const io::JsonError&) {
    throw io::DataError(path, "is no JSON");
  }
}

void write_record(const fs::path& folder, const Experiment& experiment, const Outcome& outcome) {
  Json records = read_records(folder);
  Json record = {{"date", outcome.record.date},
                 {"machine", outcome.record.machine},
                 {"papfft", kVersion},
                 {"quick", outcome.record.quick},
                 {"seconds", outcome.record.seconds},
                 {"verdict", to_string(outcome.verdict)}};
  if (!outcome.why.empty()) record["why"] = outcome.why;
  records[experiment.name] = record;
  write_text((folder / kRecords).string(), records.dump(2) + "\n");
}

Outcome recall(const Experiment& experiment, const fs::path& folder, const Json& records) {
  Outcome outcome;
  if (!experiment.skipped.empty()) {
    outcome.why = experiment.skipped;
    return outcome;
  }
  if (!records.contains(experiment.name)) {
    outcome.why = "not run";
    return outcome;
  }
  const Json& record = records.at(experiment.name);
  outcome.record = {.date = record.value("date", ""),
                    .machine = record.value("machine", ""),
                    .quick = record.value("quick", false),
                    .seconds = record.value("seconds", 0.0)};
  outcome.why = record.value("why", "");
  const auto& commands = outcome.record.quick ? experiment.quick : experiment.commands;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string data = (folder / fmt::format("{}-{}.json", experiment.name, i + 1)).string();
    outcome.runs.emplace_back();
    if (fs::exists(data)) outcome.runs.back() = report::read_bench_run(data);
  }
  if (std::ranges::any_of(outcome.runs, [](const auto& run) { return run.has_value(); })) {
    judge(experiment, outcome);
  } else if (record.value("verdict", "") == to_string(Verdict::failed)) {
    outcome.verdict = Verdict::failed;
  }
  return outcome;
}

}  // namespace papfft::app
