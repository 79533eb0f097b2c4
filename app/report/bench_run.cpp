// SPDX-License-Identifier: MIT
#include "app/report/bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "app/io/errors.hpp"
#include "app/io/nlohmann_bridge.hpp"
#include "app/io/recording_file.hpp"
#include "app/report/canvas.hpp"
#include "app/report/statistics.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app::report {
namespace {

/// Settings that rows tell for themselves: files may differ in them and be shown together.
constexpr std::array kSwept = {"algorithms", "bytes", "delays", "ranks", "patterns", "gathers", "length"};

/// In place of a pattern, where arrivals were not made.
constexpr std::string_view kRecorded = "as recorded";

/// A row, with errors that say where they are.
class Fields {
 public:
  Fields(const std::string& file, std::size_t row, const Json& json) : file_(file), row_(row), json_(json) {
    if (!json.is_object()) fail("is no object");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw io::DataError(file_,
                        fmt::format("row {} {}; what would work: the output of --json", row_ + 1, what));
  }

  [[nodiscard]] bool has(const char* name) const { return json_.contains(name) && !json_.at(name).is_null(); }

  [[nodiscard]] double number(const char* name) const { return number_in(json_, name, ""); }

  [[nodiscard]] std::optional<double> optional_number(const char* name) const {
    return has(name) ? std::optional(number(name)) : std::nullopt;
  }

  [[nodiscard]] std::int64_t count(const char* name) const {
    constexpr double kMost = 9e15;  // whole numbers up to here are exact
    const double value = number(name);
    if (!(value >= 0 && value <= kMost) || value != static_cast<double>(static_cast<std::int64_t>(value))) {
      fail(fmt::format("has no whole number '{}'", name));
    }
    return static_cast<std::int64_t>(value);
  }

  [[nodiscard]] bool truth(const char* name) const {
    if (!json_.at(name).is_boolean()) fail(fmt::format("has neither true nor false as '{}'", name));
    return json_.at(name).get<bool>();
  }

  [[nodiscard]] std::string text(const char* name) const {
    if (!has(name) || !json_.at(name).is_string()) fail(fmt::format("has no text '{}'", name));
    return clean_text(json_.at(name).get<std::string>());
  }

  [[nodiscard]] Spread spread(const char* name, double unit_s) const {
    if (!has(name) || !json_.at(name).is_object()) fail(fmt::format("has no summary '{}'", name));
    const Json& s = json_.at(name);
    const auto first_of = [&](std::initializer_list<const char*> keys) {
      for (const char* key : keys) {
        if (s.contains(key)) return number_in(s, key, name) * unit_s;
      }
      fail(fmt::format("has no '{}' in '{}'", *keys.begin(), name));
    };
    Spread spread{.center = first_of({"median", "mean"})};
    spread.low = s.contains("p10") || s.contains("min") ? first_of({"p10", "min"}) : spread.center;
    spread.high = s.contains("p90") || s.contains("max") ? first_of({"p90", "max"}) : spread.center;
    return spread;
  }

  [[nodiscard]] std::vector<double> samples(const char* name, double unit_s) const {
    std::vector<double> values;
    if (!has(name)) return values;
    if (!json_.at(name).is_array()) fail(fmt::format("has no list '{}'", name));
    for (const Json& value : json_.at(name)) {
      if (!value.is_number()) fail(fmt::format("has no numbers in '{}'", name));
      values.push_back(value.get<double>() * unit_s);
    }
    return values;
  }

  /// "calls": {"arrival_us": [[rank 0, rank 1, ...], ...], ...}; null where nothing was predicted.
  [[nodiscard]] std::optional<Calls> calls(std::size_t ranks) const {
    if (!has("calls")) return std::nullopt;
    const Json& json = json_.at("calls");
    const auto table = [&](const char* name, bool may_lack) {
      if (!json.is_object() || !json.contains(name) || !json.at(name).is_array())
        fail(fmt::format("has no list '{}' in 'calls'", name));
      std::vector<double> values;
      for (const Json& call : json.at(name)) {
        if (!call.is_array() || call.size() != ranks)
          fail(fmt::format("has not one value per rank in '{}' of 'calls'", name));
        for (const Json& value : call) {
          if (!value.is_number() && !(may_lack && value.is_null()))
            fail(fmt::format("has no numbers in '{}' of 'calls'", name));
          values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                           : value.get<double>() * 1e-6);
        }
      }
      return values;
    };
    Calls calls{table("arrival_us", false), table("exit_us", false), table("predicted_us", true)};
    if (calls.arrival_s.size() != calls.exit_s.size() || calls.arrival_s.size() != calls.predicted_s.size())
      fail("has lists of different lengths in 'calls'");
    if (calls.arrival_s.empty()) return std::nullopt;
    return calls;
  }

  /// "messages": {"from": [...], "to": [...], "bytes": [...], "begin_ns": [...], ..., "arrival_ns": [one per rank], ...}.
  [[nodiscard]] std::optional<Messages> messages(std::size_t ranks) const {
    if (!has("messages")) return std::nullopt;
    const Json& json = json_.at("messages");
    const auto list = [&](const char* name, double most) {
      if (!json.is_object() || !json.contains(name) || !json.at(name).is_array())
        fail(fmt::format("has no list '{}' in 'messages'", name));
      std::vector<double> values;
      for (const Json& value : json.at(name)) {
        if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= most))
          fail(fmt::format("has a number in '{}' of 'messages' that cannot be", name));
        values.push_back(value.get<double>());
      }
      return values;
    };
    constexpr double kMost = 9e15;
    const double last = static_cast<double>(ranks) - 1;
    const std::vector<double> from = list("from", last);
    const std::vector<double> to = list("to", last);
    const std::vector<double> bytes = list("bytes", kMost);
    const std::vector<double> begin = list("begin_ns", kMost);
    const std::vector<double> end = list("end_ns", kMost);
    const std::vector<double> combined = list("combined_ns", kMost);
    const std::vector<double> critical = list("critical", 1);
    Messages result{.arrival_s = list("arrival_ns", kMost), .exit_s = list("exit_ns", kMost)};
    for (const auto* other : {&to, &bytes, &begin, &end, &combined, &critical}) {
      if (other->size() != from.size()) fail("has lists of different lengths in 'messages'");
    }
    if (result.arrival_s.size() != ranks || result.exit_s.size() != ranks)
      fail("has not one arrival and exit per rank in 'messages'");
    for (std::vector<double>* times : {&result.arrival_s, &result.exit_s}) {
      for (double& t : *times) t *= 1e-9;
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      result.messages.push_back({.from = static_cast<std::size_t>(from[i]),
                                 .to = static_cast<std::size_t>(to[i]),
                                 .bytes = static_cast<std::int64_t>(bytes[i]),
                                 .begin_s = begin[i] * 1e-9,
                                 .end_s = end[i] * 1e-9,
                                 .combined_s = combined[i] * 1e-9,
                                 .critical = critical[i] != 0});
    }
    return result;
  }

  [[nodiscard]] bool lacks(const char* summary, const char* key) const {
    return has(summary) && !json_.at(summary).contains(key);
  }

 private:
  [[nodiscard]] double number_in(const Json& object, const char* name, const std::string& of) const {
    if (!object.contains(name) || !object.at(name).is_number()) {
      fail(fmt::format("has no number '{}'{}", name, of.empty() ? "" : " in '" + of + "'"));
    }
    return object.at(name).get<double>();
  }

  const std::string& file_;
  std::size_t row_;
  const Json& json_;
};

std::optional<BenchKind> kind_of(const Json& row) {
  if (!row.is_object()) return std::nullopt;
  if (row.contains("run_ms")) return BenchKind::collective;
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
    case BenchKind::record:
      break;
  }
  return "";
}

/// The duration at a pattern's end, in s: 0.05 for "uniform:50ms"; 0 if there is none.
double delay_in(const std::string& pattern) {
  const std::string text = pattern.substr(std::min(pattern.rfind(':'), pattern.size() - 1) + 1);
  double value = 0;
  std::size_t used = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    return 0;
  }
  const std::string unit = text.substr(used);
  if (unit == "s") return value;
  if (unit == "ms") return value * 1e-3;
  if (unit == "us") return value * 1e-6;
  return unit == "ns" ? value * 1e-9 : 0;
}

void add_rows(BenchKind kind, const Fields& f, std::vector<BenchRow>& rows) {
  BenchRow row;
  row.ranks = f.count("ranks");
  const bool needs_pattern = kind == BenchKind::collective || kind == BenchKind::simulate;
  if (needs_pattern || f.has("pattern")) row.pattern = f.text("pattern");
  if (f.has("memory_bytes")) row.memory_bytes = f.number("memory_bytes");
  if (f.has("efficiency")) row.efficiency = f.number("efficiency");
  switch (kind) {
    case BenchKind::collective:
      row.algorithm = f.text("algorithm");
      row.bytes = f.count("bytes");
      row.max_delay_s = f.number("max_delay_ms") * 1e-3;
      row.run = f.spread("run_ms", 1e-3);
      row.samples_s = f.samples("run_samples_ms", 1e-3);
      row.elapsed = f.spread("elapsed_ms", 1e-3);
      if (f.has("after_last_ms")) row.after_last = f.spread("after_last_ms", 1e-3);
      row.imbalance = f.samples("imbalance_samples", 1);
      row.calls = f.calls(static_cast<std::size_t>(row.ranks));
      row.correct = !f.has("correct") || f.truth("correct");
      break;
    case BenchKind::simulate: {
      row.algorithm = f.text("algorithm");
      row.bytes = f.count("bytes");
      row.segments = f.count("segments");
      row.max_delay_s = row.pattern.empty() ? 0 : delay_in(row.pattern);
      row.run = f.spread("run_ns", 1e-9);
      if (f.has("elapsed_ns")) {
        const double elapsed_s = f.number("elapsed_ns") * 1e-9;
        row.elapsed = Spread{elapsed_s, elapsed_s, elapsed_s};
      }
      if (f.has("after_last_ns")) row.after_last = f.spread("after_last_ns", 1e-9);
      row.messages = f.messages(static_cast<std::size_t>(row.ranks));
      row.over_best = f.optional_number("over_best");
      break;
    }
    case BenchKind::schedule:
      row.algorithm = f.text("algorithm");
      row.segments = f.count("segments");
      row.run = f.spread("time_us", 1e-6);
      row.samples_s = f.samples("time_samples_us", 1e-6);
      break;
    case BenchKind::fft: {
      constexpr std::int64_t kDouble = 16;
      const std::string engine = f.text("engine");
      const bool is_double = f.text("precision") == "double";
      row.bytes = f.count("n") * (is_double ? kDouble : kDouble / 2);
      row.algorithm = f.has("gather") ? engine + ", gather " + f.text("gather")
                      : row.ranks > 1 ? engine
                                      : engine + ", one process";
      row.run = f.spread("vector_ms", 1e-3);
      row.samples_s = f.samples("vector_samples_ms", 1e-3);
      row.vectors_per_s = f.optional_number("vectors_per_s");
      break;
    }
    case BenchKind::predictor:
      row.algorithm = "without predictor";
      row.run = f.spread("work_without_ms", 1e-3);
      rows.push_back(row);
      row.algorithm = "with predictor";
      row.run = f.spread("work_with_ms", 1e-3);
      if (f.has("prediction_error_ms")) row.prediction_error = f.spread("prediction_error_ms", 1e-3);
      break;
    case BenchKind::record:  // has no rows
      break;
  }
  rows.push_back(std::move(row));
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
      if (name != "ranks" && name != "ranks_on_host") settings[name] = value_text(value);
    }
    // All of a job on one machine is one situation, whatever the number of ranks.
    if (machine.contains("ranks") && machine.contains("ranks_on_host")) {
      settings["ranks_on_host"] = machine.at("ranks") == machine.at("ranks_on_host")
                                      ? "all"
                                      : value_text(machine.at("ranks_on_host"));
    }
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

/// Of calls that differ in nothing but their times.
BenchRow row_of(const std::vector<const comm::RecordedCall*>& calls) {
  const comm::RecordedCall& first = *calls.front();
  BenchRow row{.algorithm = first.algorithm,
               .pattern = std::string(kRecorded),
               .ranks = std::ssize(first.ranks),
               .bytes = static_cast<std::int64_t>(first.bytes) *
                        (comm::moves_per_rank(first.operation) ? std::ssize(first.ranks) : 1),
               .calls = Calls{}};
  std::vector<double> run_s;
  std::vector<double> elapsed_s;
  std::vector<double> after_last_s;
  for (const comm::RecordedCall* call : calls) {
    const std::int64_t begin_ns =
        std::ranges::min(call->ranks, {}, &comm::RecordedArrival::arrival_ns).arrival_ns;
    const std::int64_t last_ns =
        std::ranges::max(call->ranks, {}, &comm::RecordedArrival::arrival_ns).arrival_ns;
    const auto seconds = [&](std::int64_t ns) { return static_cast<double>(ns - begin_ns) * 1e-9; };
    double exit_s = 0;
    double sum_s = 0;
    for (const comm::RecordedArrival& a : call->ranks) {
      row.calls->arrival_s.push_back(seconds(a.arrival_ns));
      row.calls->exit_s.push_back(seconds(a.exit_ns));
      row.calls->predicted_s.push_back(a.predicted_ns ? seconds(*a.predicted_ns)
                                                      : std::numeric_limits<double>::quiet_NaN());
      exit_s = std::max(exit_s, seconds(a.exit_ns));
      sum_s += seconds(a.exit_ns) - seconds(a.arrival_ns);
    }
    run_s.push_back(exit_s);
    elapsed_s.push_back(sum_s / static_cast<double>(call->ranks.size()));
    after_last_s.push_back(exit_s - seconds(last_ns));
  }
  const auto spread = [](const std::vector<double>& values) {
    const Summary s = summarize(values);
    return Spread{s.median, s.p10, s.p90};
  };
  row.run = spread(run_s);
  row.samples_s = run_s;
  row.elapsed = spread(elapsed_s);
  row.after_last = spread(after_last_s);
  row.max_delay_s = std::ranges::max(row.calls->arrival_s);
  return row;
}

/// What `papfft record` wrote: a row per algorithm and size.
void add_recording(const Json& document, BenchRun& run) {
  comm::ArrivalRecording recording;
  try {
    recording = io::recording_of(document);
  } catch (const comm::TraceError& e) {
    throw io::DataError(run.file, e.what());
  }
  std::map<std::tuple<comm::Operation, std::string, std::uint64_t>, std::vector<const comm::RecordedCall*>>
      alike;
  for (const comm::RecordedCall& call : recording.calls)
    alike[{call.operation, call.algorithm, call.bytes}].push_back(&call);
  if (alike.empty()) throw io::DataError(run.file, "holds no call");
  for (const auto& [key, calls] : alike) {
    run.rows.push_back(row_of(calls));
    run.rows.back().algorithm =
        fmt::format("{} {}", comm::to_string(std::get<0>(key)), run.rows.back().algorithm);
  }
  if (document.contains("command") && document.at("command").is_string())
    run.settings["command"] = value_text(document.at("command"));
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
    add_recording(document, run);
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
        "is of no known kind; known are bench collective, fft, predictor and schedule, simulate, record and "
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
    const Fields fields(path, i, rows[i]);
    const std::string operation = rows[i].contains("op") ? fields.text("op") : std::string(to_string(*kind));
    if (i > 0 && operation != run.operation) fields.fail("is of another operation than those before");
    run.operation = operation;
    run.centers_are_means = run.centers_are_means || fields.lacks(main_summary(*kind), "median");
    run.has_percentiles = run.has_percentiles && !fields.lacks(main_summary(*kind), "p10");
    add_rows(*kind, fields, run.rows);
    most_ranks = std::max(most_ranks, run.rows.back().ranks);
  }
  if (*kind == BenchKind::collective) name_sizes_as_asked(document, run.rows);
  if (*kind == BenchKind::fft) {  // the process alone is what the others are compared to
    for (BenchRow& row : run.rows) row.ranks = most_ranks;
  }
  return run;
}

}  // namespace papfft::app::report
