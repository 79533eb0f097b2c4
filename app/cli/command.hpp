// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"

namespace papfft::app {

/// Each command declares itself, its options and what it does.
void add_transform(cli::Command& app);
void add_spectrogram(cli::Command& app);
void add_stft(cli::Command& app);
void add_istft(cli::Command& app);
void add_psd(cli::Command& app);
void add_correlate(cli::Command& app);
void add_convolve(cli::Command& app);
void add_algorithms(cli::Command& app);
void add_schedule(cli::Command& app);
void add_simulate(cli::Command& app);
void add_rank(cli::Command& app);
void add_bench(cli::Command& app);
void add_cluster(cli::Command& app);
void add_tune(cli::Command& app);
void add_preload(cli::Command& app);
void add_report(cli::Command& app);
void add_experiment(cli::Command& app);
void add_info(cli::Command& app);
void add_record(cli::Command& app);

/// Reads a command line, without the program's name, and does what it says. Complains by itself. @return the exit code
[[nodiscard]] int run_words(const std::vector<std::string>& words);

/// The whole command line as it was typed, for the check that all ranks were started alike.
[[nodiscard]] const std::string& command_line();

}  // namespace papfft::app
