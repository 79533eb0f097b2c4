// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace papfft::app {

/// `papfft bench predictor --replay`: prints what the predictor makes of traces, in one process.
/// @param traces  files of recorded arrivals, or "synthetic:KIND"
/// @param bytes   of the whole vector of the simulated calls
/// @param json    a file, or empty
/// @throws UsageError, io::DataError  naming the trace
void replay_traces(const std::vector<std::string>& traces, std::size_t bytes, const std::string& json,
                   bool quiet);

}  // namespace papfft::app
