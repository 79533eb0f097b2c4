// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "app/model/experiment_outcome.hpp"

namespace papfft::app {

/// Runs experiments by starting this program again, on the virtual cluster where they need one.
class ExperimentRunner {
 public:
  /// @param quick   the short form of each
  /// @param folder  for the data and the logs
  ExperimentRunner(bool quick, std::filesystem::path folder) : quick_(quick), folder_(std::move(folder)) {}

  [[nodiscard]] Outcome run(const Experiment& experiment);

 private:
  [[nodiscard]] Outcome attempt(const Experiment& experiment);
  bool cluster_up(const Experiment& experiment, const std::string& log, Outcome& outcome) const;
  void measure(const Experiment& experiment, const Command& command, const std::string& data,
               const std::string& log, Outcome& outcome);

  bool quick_;
  std::filesystem::path folder_;
  std::map<std::pair<int, Command>, std::string> measured_;  ///< hosts and command, to the file of results
};

}  // namespace papfft::app
