// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/cli11_bridge.hpp"
#include "app/cli/command_line.hpp"

namespace papfft::app {

using Action = cli::Command::Action;

/// Each command declares itself, its options and what it does.
void add_transform(cli::Command& app);
void add_spectrogram(cli::Command& app);
void add_psd(cli::Command& app);
void add_correlate(cli::Command& app);
void add_convolve(cli::Command& app);
void add_algorithms(CLI::App& app, Action& action);
void add_schedule(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_cluster(cli::Command& app);
void add_tune(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_experiment(CLI::App& app, Action& action);
void add_info(cli::Command& app);
void add_record(CLI::App& app, Action& action);

/// Reads a command line, without the program's name, and does what it says. Complains by itself. @return the exit code
[[nodiscard]] int run_words(const std::vector<std::string>& words);

/// The whole command line as it was typed, for the check that all ranks were started alike.
[[nodiscard]] const std::string& command_line();

}  // namespace papfft::app
