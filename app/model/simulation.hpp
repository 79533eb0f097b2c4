// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/io/json.hpp"
#include "app/model/simulate_settings.hpp"

namespace papfft::app {

/// One algorithm in one situation.
struct SimulatedRow {
  std::string algorithm;
  int ranks = 0;
  std::uint64_t bytes = 0;
  std::string pattern;
  int segments = 0;
  std::vector<double> run_ns = {};         // per iteration
  std::vector<double> elapsed_ns = {};     // means over the ranks
  std::vector<double> after_last_ns = {};  // last exit - last arrival; where known
  io::Json messages = {};                  // of the first call, if wanted
  double over_best = 1;                    // mean run time / that of the best algorithm here
  double bound_ns = 0;                     // mean of the least that any could need; 0: not computed

  [[nodiscard]] double mean_run_ns() const { return mean(run_ns); }
  static double mean(const std::vector<double>& v);
};

/// All algorithms in all situations that were asked for. @throws UsageError
[[nodiscard]] std::vector<SimulatedRow> run_simulation(const SimulateOptions& options,
                                                       const SimulateSettings& settings);

}  // namespace papfft::app
