// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "app/run/job_options.hpp"

namespace papfft::app {

/// The words of `papfft bench collective`. What they mean: CollectiveSettings.
struct CollectiveOptions {
  /// Not watched, as programs are by default: what is watched is not left to stock MPI.
  CollectiveOptions() { job.stuck_after_s = 0; }

  JobOptions job;
  std::string operation = "gather";
  std::vector<std::string> algorithms = {"all"};
  std::vector<std::string> bytes = {"8M"};
  std::vector<std::string> delays = {"none"};
  int iterations = 30;
  int warmup = 3;
  std::string compute = "100ms";
  double edge = 0.5;
  std::string work = "sleep";
  std::uint64_t seed = 1;
  int root = 0;
  std::string counts = "regular";
  std::string type = "float";
  bool measure_link = false;
  bool predicts = true;  ///< calls are announced to a session, which predicts arrivals
  bool calls = false;
  std::string csv;
  std::string raw;

  void declare(cli::Command& command);
  /// Those that any benchmark of collectives has: sizes, patterns, the root, what is added up.
  void declare_cases(cli::Command& command);
  /// And how calls are measured.
  void declare_measurement(cli::Command& command);
};

}  // namespace papfft::app
