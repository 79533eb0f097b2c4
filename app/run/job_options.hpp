// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "app/run/arrival_pattern.hpp"
#include "app/run/progress.hpp"
#include "papfft/operation.hpp"
#include "papfft/options.hpp"

namespace papfft::app {

/// ArrivalPattern::parse(), and traces may be JSON too.
[[nodiscard]] ArrivalPattern parse_arrivals(const std::string& spec, std::uint64_t seed);

/// Imbalance on purpose, and when the ranks tell how far they are: for jobs and benchmarks alike.
struct ArrivalOptions {
  std::string delay = "none";
  std::uint64_t seed = 1;
  double edge = 0.5;

  void declare(cli::Command& app);
  /// @throws std::invalid_argument  listing the known patterns; if the delays are in times of a message
  [[nodiscard]] ArrivalPattern pattern() const {
    ArrivalPattern made = parse_arrivals(delay, seed);
    if (made.is_in_messages()) (void)made.delay_ns(0, 0, 1, 0);  // throws
    return made;
  }
  [[nodiscard]] bool delays() const { return delay != "none"; }
};

/// The option --edge alone.
cli::Option* add_edge_option(cli::Command& app, double& edge);

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
  std::vector<std::string> record;
  std::string timeline;
  ArrivalOptions arrivals;

  /// Declares them on a command.
  void declare(cli::Command& app);
  /// --record and --timeline alone.
  void declare_recording(cli::Command& app);
  /// Those without the algorithms, --stats, arrivals and recording, for commands that have their own.
  void declare_common(cli::Command& app);
  /// @throws std::invalid_argument  unknown algorithms, wait policy or arrival pattern, listing the known.
  [[nodiscard]] comm::Options to_comm_options() const;
  /// Somebody wants to know how the job went.
  [[nodiscard]] bool wants_report() const { return stats || !json.empty(); }
  /// And what one process alone would need, which says nothing where ranks are late on purpose.
  [[nodiscard]] bool compares_with_one_process() const { return wants_report() && !arrivals.delays(); }
  /// The user's word for one of the four.
  [[nodiscard]] const std::string& algorithm(comm::Operation operation) const;
  /// How many OpenMP threads a rank should have. @param ranks_here  ranks that share this host's cores
  [[nodiscard]] int threads_for(int ranks_here) const;
  /// The same for a rank that has so many cores for itself.
  [[nodiscard]] int threads_on(int cores) const;
  /// Sets the number of OpenMP threads to threads_for().
  void apply_threads(int ranks_here) const;
  [[nodiscard]] Progress make_progress(bool is_root, std::string what) const;
};

}  // namespace papfft::app
