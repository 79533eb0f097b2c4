// SPDX-License-Identifier: MIT
// Rows of what `papfft record` wrote.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "app/io/errors.hpp"
#include "app/io/recording_file.hpp"
#include "app/report/row_fields.hpp"
#include "app/report/statistics.hpp"
#include "comm/choose/select.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app::report {
namespace {

/// In place of a pattern, where arrivals were not made.
constexpr std::string_view kRecorded = "as recorded";

/// Of calls that differ in nothing but their times.
BenchRow row_of(const std::vector<const comm::RecordedCall*>& calls) {
  const comm::RecordedCall& first = *calls.front();
  BenchRow row{.algorithm = first.algorithm,
               .pattern = std::string(kRecorded),
               .ranks = std::ssize(first.ranks),
               .bytes = static_cast<std::int64_t>(
                   comm::vector_bytes(first.operation, first.bytes, static_cast<int>(first.ranks.size()))),
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

}  // namespace

std::vector<BenchRow> recorded_rows(const std::string& file, const Json& document) {
  comm::ArrivalRecording recording;
  try {
    recording = io::recording_of(document);
  } catch (const comm::TraceError& e) {
    throw io::DataError(file, e.what());
  }
  std::vector<BenchRow> rows;
  std::map<std::tuple<comm::Operation, std::string, std::uint64_t>, std::vector<const comm::RecordedCall*>>
      alike;
  for (const comm::RecordedCall& call : recording.calls)
    alike[{call.operation, call.algorithm, call.bytes}].push_back(&call);
  if (alike.empty()) throw io::DataError(file, "holds no call");
  for (const auto& [key, calls] : alike) {
    rows.push_back(row_of(calls));
    rows.back().algorithm = fmt::format("{} {}", comm::to_string(std::get<0>(key)), rows.back().algorithm);
  }
  return rows;
}

}  // namespace papfft::app::report
