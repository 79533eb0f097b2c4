// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/summary.hpp"

#include <algorithm>
#include <cstdio>

namespace papfft::comm::preload {

namespace {

constexpr std::size_t kClasses = kClassBytes.size();
/// What "long calls" means in the summary: those that pay.
constexpr std::size_t kLongClass = 2;

enum Column : std::size_t { ours, passed, ours_ns, passed_ns };

std::size_t class_of(std::size_t bytes) {
  return static_cast<std::size_t>(std::ranges::upper_bound(kClassBytes, bytes) - kClassBytes.begin()) - 1;
}

std::size_t index_of(Operation operation, std::size_t size_class, Column column) {
  return static_cast<std::size_t>(operation) * Counts::kPerOperation + 4 * size_class + column;
}

std::size_t index_of(Operation operation, Reason reason) {
  return index_of(operation, kClasses, ours) + static_cast<std::size_t>(reason);
}

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 256> line{};
  const int length = std::snprintf(line.data(), line.size(), format, values...);
  return {line.data(), std::min(line.size() - 1, static_cast<std::size_t>(std::max(0, length)))};
}

std::string size_text(std::size_t bytes) {
  if (bytes == 0) return "less";
  const bool is_mebi = bytes >= std::size_t{1} << 20U;
  return std::to_string(bytes >> (is_mebi ? 20U : 10U)) + (is_mebi ? " MiB" : " KiB");
}

/// Calls fn(operation, size class, counts) for all that have calls.
template <typename Function>
void for_each_row(const Counts& sums, Function fn) {
  for (const OperationTraits& row : kOperations) {
    for (std::size_t c = 0; c < kClasses; ++c) {
      const CallCounts counts = sums.of(row.operation, c);
      if (counts.ours + counts.passed > 0) fn(row, c, counts);
    }
  }
}

struct Totals {
  std::int64_t calls = 0;
  std::int64_t ours = 0;
  std::int64_t long_ns = 0;  // in calls of kLongClass and more
};

Totals totals_of(const Counts& sums) {
  Totals all;
  for_each_row(sums, [&](const OperationTraits&, std::size_t c, const CallCounts& counts) {
    all.calls += counts.ours + counts.passed;
    all.ours += counts.ours;
    if (c >= kLongClass) all.long_ns += counts.ours_ns + counts.passed_ns;
  });
  return all;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string reasons_text(const Counts& sums) {
  std::string text;
  for (const OperationTraits& row : kOperations) {
    for (std::size_t r = 1; r < kReasonTexts.size(); ++r) {
      const std::int64_t calls = sums.passed_for(row.operation, static_cast<Reason>(r));
      if (calls == 0) continue;
      text += formatted("  %-15.15s %10lld calls passed: ", row.name.data(), static_cast<long long>(calls)) +
              std::string(kReasonTexts.at(r)) + "\n";
    }
  }
  return text;
}

}  // namespace

CallCounts Counts::of(Operation operation, std::size_t size_class) const {
  const auto value = [&](Column column) { return values_.at(index_of(operation, size_class, column)); };
  return {value(ours), value(passed), value(ours_ns), value(passed_ns)};
}

std::int64_t Counts::passed_for(Operation operation, Reason reason) const {
  return values_.at(index_of(operation, reason));
}

void Counters::add_ours(Operation operation, std::size_t bytes, std::int64_t ns) {
  const std::size_t c = class_of(bytes);
  values_[index_of(operation, c, ours)].fetch_add(1, std::memory_order_relaxed);
  values_[index_of(operation, c, ours_ns)].fetch_add(ns, std::memory_order_relaxed);
}

void Counters::add_passed(Operation operation, std::size_t bytes, Reason reason, std::int64_t ns) {
  const std::size_t c = class_of(bytes);
  values_[index_of(operation, c, passed)].fetch_add(1, std::memory_order_relaxed);
  values_[index_of(operation, reason)].fetch_add(1, std::memory_order_relaxed);
  if (ns != 0) values_[index_of(operation, c, passed_ns)].fetch_add(ns, std::memory_order_relaxed);
}

Counts Counters::counts() const {
  std::vector<std::int64_t> values;
  for (const auto& value : values_) values.push_back(value.load(std::memory_order_relaxed));
  return Counts(std::move(values));
}

std::string summary_text(const Run& run, const Counts& sums) {
  const Totals all = totals_of(sums);
  const auto ranks = static_cast<double>(std::max(1, run.ranks));
  std::string text = "papfft preload: mode " +
                     std::string(kModeNames.at(static_cast<std::size_t>(run.mode))) + ", " +
                     std::to_string(run.ranks) + " ranks, " + std::to_string(all.calls) +
                     " calls seen on all ranks together, " + std::to_string(all.ours) + " of them ours\n";
  if (all.calls == 0) return text;
  text += formatted("  %.1f %% of the time in collective calls of %s and more\n",
                    percent(all.long_ns, run.wall_ns), size_text(kClassBytes.at(kLongClass)).c_str());
  if (run.own.made > 0) {
    text +=
        formatted("  %.1f communicators of ours per rank, made in %.3f s\n",
                  static_cast<double>(run.own.made) / ranks, static_cast<double>(run.own.ns) / ranks * 1e-9);
  }
  if (run.expected.calls > 0) {
    text += formatted(
        "  of %.1f calls per rank with predicted arrivals %.1f planned by them, %.1f begun early\n",
        static_cast<double>(run.expected.calls) / ranks, static_cast<double>(run.expected.planned) / ranks,
        static_cast<double>(run.expected.begun_early) / ranks);
  }
  text += "  operation       bytes from  ours per rank  MPI's per rank  s in ours  s in MPI's\n";
  for_each_row(sums, [&](const OperationTraits& row, std::size_t c, const CallCounts& counts) {
    text += formatted("  %-15.15s %10s %14.1f %15.1f %10.3f %11.3f\n", row.name.data(),
                      size_text(kClassBytes.at(c)).c_str(), static_cast<double>(counts.ours) / ranks,
                      static_cast<double>(counts.passed) / ranks,
                      static_cast<double>(counts.ours_ns) / ranks * 1e-9,
                      static_cast<double>(counts.passed_ns) / ranks * 1e-9);
  });
  return text + reasons_text(sums);
}

std::string summary_json(const Run& run, const Counts& sums) {
  std::string rows;
  for_each_row(sums, [&](const OperationTraits& row, std::size_t c, const CallCounts& counts) {
    rows += (rows.empty() ? "" : ",\n  ") + std::string("{\"operation\": \"") + std::string(row.name) +
            "\", \"from_bytes\": " + std::to_string(kClassBytes.at(c)) +
            ", \"ours\": " + std::to_string(counts.ours) + ", \"passed\": " + std::to_string(counts.passed) +
            ", \"ours_ns\": " + std::to_string(counts.ours_ns) +
            ", \"passed_ns\": " + std::to_string(counts.passed_ns) + "}";
  });
  std::string reasons;
  for (const OperationTraits& row : kOperations) {
    for (std::size_t r = 1; r < kReasonTexts.size(); ++r) {
      const std::int64_t calls = sums.passed_for(row.operation, static_cast<Reason>(r));
      if (calls == 0) continue;
      reasons += (reasons.empty() ? "" : ",\n  ") + std::string("{\"operation\": \"") +
                 std::string(row.name) + "\", \"reason\": \"" + std::string(kReasonTexts.at(r)) +
                 "\", \"calls\": " + std::to_string(calls) + "}";
    }
  }
  return "{\"preload\": 1, \"mode\": \"" + std::string(kModeNames.at(static_cast<std::size_t>(run.mode))) +
         "\", \"ranks\": " + std::to_string(run.ranks) + ", \"wall_ns\": " + std::to_string(run.wall_ns) +
         ",\n \"communicators\": {\"made\": " + std::to_string(run.own.made) +
         ", \"ns\": " + std::to_string(run.own.ns) + "}" +
         ",\n \"expected\": {\"calls\": " + std::to_string(run.expected.calls) +
         ", \"planned\": " + std::to_string(run.expected.planned) +
         ", \"begun_early\": " + std::to_string(run.expected.begun_early) + "}" + ",\n \"calls\": [" + rows +
         "],\n \"passed\": [" + reasons + "]}\n";
}

}  // namespace papfft::comm::preload
