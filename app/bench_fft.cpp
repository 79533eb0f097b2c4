// SPDX-License-Identifier: MIT
#include "app/bench.hpp"
namespace papfft::app {
void add_bench_fft(CLI::App&, Action&) {}
void add_bench_predictor(CLI::App&, Action&) {}
}
