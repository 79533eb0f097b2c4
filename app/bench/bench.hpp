// SPDX-License-Identifier: MIT
#pragma once
#include "app/cli/command.hpp"

namespace papfft::app {

/// The commands below `papfft bench`.
void add_bench_collective(CLI::App& bench, Action& action);
void add_bench_fft(CLI::App& bench, Action& action);
void add_bench_schedule(CLI::App& bench, Action& action);
void add_bench_local(CLI::App& bench, Action& action);
void add_bench_predictor(CLI::App& bench, Action& action);

}  // namespace papfft::app
