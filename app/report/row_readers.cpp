// SPDX-License-Identifier: MIT
// The rows of each kind of file.
#include <algorithm>
#include <exception>
#include <string>

#include "app/report/row_fields.hpp"

namespace papfft::app::report {
namespace {

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

void fill_collective(const RowFields& f, BenchRow& row) {
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
}

void fill_simulate(const RowFields& f, BenchRow& row) {
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
}

void fill_schedule(const RowFields& f, BenchRow& row) {
  row.algorithm = f.text("algorithm");
  row.segments = f.count("segments");
  row.run = f.spread("time_us", 1e-6);
  row.samples_s = f.samples("time_samples_us", 1e-6);
}

void fill_fft(const RowFields& f, BenchRow& row) {
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
}

void fill_guideline(const RowFields& f, BenchRow& row) {
  row.promise = Promise{.operation = f.text("op"),
                        .guideline = f.text("guideline"),
                        .peer = f.spread("peer_ms", 1e-3),
                        .ratio = f.number("ratio"),
                        .p = f.number("p"),
                        .verdict = f.text("verdict"),
                        .violated = f.has("violated") && f.truth("violated")};
  const std::string stock = f.has("mpi_algorithm") ? " " + f.text("mpi_algorithm") : "";
  row.algorithm =
      row.promise->operation + ": auto and " + f.text("peer") + stock + " (" + row.promise->guideline + ")";
  row.bytes = f.count("bytes");
  row.run = f.spread("auto_ms", 1e-3);
  row.samples_s = f.samples("auto_samples_ms", 1e-3);
}

}  // namespace

void add_row(BenchKind kind, const RowFields& f, std::vector<BenchRow>& rows) {
  BenchRow row;
  row.ranks = f.count("ranks");
  const bool needs_pattern =
      kind == BenchKind::collective || kind == BenchKind::simulate || kind == BenchKind::guidelines;
  if (needs_pattern || f.has("pattern")) row.pattern = f.text("pattern");
  if (f.has("memory_bytes")) row.memory_bytes = f.number("memory_bytes");
  if (f.has("efficiency")) row.efficiency = f.number("efficiency");
  switch (kind) {
    case BenchKind::collective:
      fill_collective(f, row);
      break;
    case BenchKind::simulate:
      fill_simulate(f, row);
      break;
    case BenchKind::schedule:
      fill_schedule(f, row);
      break;
    case BenchKind::fft:
      fill_fft(f, row);
      break;
    case BenchKind::predictor:
      row.algorithm = "without predictor";
      row.run = f.spread("work_without_ms", 1e-3);
      rows.push_back(row);
      row.algorithm = "with predictor";
      row.run = f.spread("work_with_ms", 1e-3);
      if (f.has("prediction_error_ms")) row.prediction_error = f.spread("prediction_error_ms", 1e-3);
      break;
    case BenchKind::guidelines:
      fill_guideline(f, row);
      break;
    case BenchKind::record:  // has no rows
      break;
  }
  rows.push_back(std::move(row));
}

}  // namespace papfft::app::report
