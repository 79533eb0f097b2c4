// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <variant>

#include "app/report/bench_run.hpp"
#include "app/report/decision_figures.hpp"
#include "app/report/trace.hpp"

namespace papfft::app::report {

using Input = std::variant<BenchRun, Trace, Decisions>;

/// Reads a file that `papfft report` takes; what it is, its content tells.
/// @throws io::DataError  as read_bench_run(), TraceBuilder and parse_decisions()
[[nodiscard]] Input read_input(const std::string& path);

/// The same of a text. @param path  for messages
[[nodiscard]] Input parse_input(const std::string& path, std::string text);

}  // namespace papfft::app::report
