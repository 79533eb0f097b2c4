// SPDX-License-Identifier: MIT
#include "app/report/input.hpp"

#include <utility>

namespace papfft::app::report {

Input read_input(const std::string& path) { return parse_input(path, read_text(path)); }

Input parse_input(const std::string& path, std::string text) {
  if (is_decisions(text)) return parse_decisions(path, text);
  TraceBuilder trace(path);
  const Json document = parse_json(path, text, [&](const Json& event) { trace.add(event); });
  const bool is_trace = document.is_object() && document.contains("traceEvents");
  if (is_trace) return std::move(trace).finish(document, std::move(text));
  return to_bench_run(path, document);
}

}  // namespace papfft::app::report
