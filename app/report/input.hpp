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

}  // namespace papfft::app::report
