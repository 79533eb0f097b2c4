// SPDX-License-Identifier: MIT
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "app/progress.hpp"
#include "papfft/options.hpp"

namespace papfft::app {

/// Options that every job has. Each can also be set by an environment variable PAPFFT_<NAME>.
struct JobOptions {
  int threads = 0;  ///< 0: OMP_NUM_THREADS, or the rank's share of the cores
  std::string scatter = "auto";
  std::string gather = "auto";
  std::string bcast = "auto";
  std::string reduce = "auto";
  std::string wait = "auto";
  double stuck_after_s = 300;
  std::string progress = "auto";
  bool quiet = false;
  bool stats = false;
  std::string json;

  /// Declares them on a command.
  void declare(CLI::App& app);
  /// Those without the algorithms and --stats, for commands that have their own.
  void declare_common(CLI::App& app);
  /// @throws std::invalid_argument  unknown algorithms or wait policy, listing the known.
  [[nodiscard]] comm::Options to_comm_options() const;
  /// Sets the number of OpenMP threads. @param ranks_here  ranks that share this host's cores
  void apply_threads(int ranks_here) const;
  [[nodiscard]] Progress make_progress(bool is_root, std::string what) const;
};

}  // namespace papfft::app
