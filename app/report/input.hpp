// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <variant>

#include "app/report/bench_run.hpp"
#include "app/report/trace.hpp"

namespace papfft::app::report {

/// Reads a file that `papfft report` takes; what it is, its content tells.
/// @throws io::DataError  as read_bench_run() and TraceBuilder
[[nodiscard]] std::variant<BenchRun, Trace> read_input(const std::string& path);

/// The same of a text. @param path  for messages
[[nodiscard]] std::variant<BenchRun, Trace> parse_input(const std::string& path, std::string text);

}  // namespace papfft::app::report
