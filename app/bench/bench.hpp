// SPDX-License-Identifier: MIT
#pragma once
#include "app/cli/command.hpp"

namespace papfft::app {

/// The commands below `papfft bench`.
void add_bench_collective(cli::Command& bench);
void add_bench_guidelines(cli::Command& bench);
void add_bench_engine(cli::Command& bench);
void add_bench_guard(cli::Command& bench);
void add_bench_overlap(cli::Command& bench);
void add_bench_fft(cli::Command& bench);
void add_bench_schedule(cli::Command& bench);
void add_bench_local(cli::Command& bench);
void add_bench_predictor(cli::Command& bench);

}  // namespace papfft::app
