// SPDX-License-Identifier: MIT
#include "app/report/input.hpp"

#include <utility>

namespace papfft::app::report {

std::variant<BenchRun, Trace> read_input(const std::string& path) {
  TraceBuilder trace(path);
  JsonFile file = read_json_file(path, [&](const Json& event) { trace.add(event); });
  const bool is_trace = file.document.is_object() && file.document.contains("traceEvents");
  if (is_trace) return std::move(trace).finish(std::move(file));
  return to_bench_run(path, file.document);
}

}  // namespace papfft::app::report
