// SPDX-License-Identifier: MIT
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace papfft::app {

/// What to run once the command line has been read; returns the exit code.
using Action = std::function<int()>;

/// Each command declares its options on `app` and gives the action to run; app/<command>.cpp has one each.
/// `action` is set when the command was chosen.
void add_transform(CLI::App& app, Action& action);
void add_spectrogram(CLI::App& app, Action& action);
void add_psd(CLI::App& app, Action& action);
void add_correlate(CLI::App& app, Action& action);
void add_convolve(CLI::App& app, Action& action);
void add_algorithms(CLI::App& app, Action& action);
void add_schedule(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_cluster(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_experiment(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_record(CLI::App& app, Action& action);

/// Reads a command line, without the program's name, and does what it says. Complains by itself. @return the exit code
[[nodiscard]] int run_words(const std::vector<std::string>& words);

/// The whole command line as it was typed, for the check that all ranks were started alike.
[[nodiscard]] const std::string& command_line();

}  // namespace papfft::app
