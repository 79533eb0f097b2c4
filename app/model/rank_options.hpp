// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "comm/choose/ranking.hpp"

namespace papfft::app {

/// The words of `papfft rank`, and what they mean.
struct RankOptions {
  std::vector<std::string> operations = {};  ///< none: all
  std::vector<std::string> ways = {};        ///< none: all that need no arrivals
  std::string hosts = "8x1";
  std::vector<std::string> bytes = {"64K", "1M", "16M"};
  int root = 0;
  std::string alpha = "8us";
  double beta_ns = 8;
  double gamma_ns = 0.25;
  std::string latency = "80us";
  std::string inside_alpha = "1us";
  double inside_beta_ns = 0.2;
  std::string inside_latency = "1us";
  std::string profile = {};
  bool are_arrivals_unknown = false;
  bool checks_auto = false;
  int most_shown = 5;
  int most_steps = static_cast<int>(comm::RankingLimits{}.most_steps);
  double budget_s = 60;
  std::string json = {};
  std::string table = {};  ///< a file for DecisionTable
  bool is_crowded = false;
  bool quiet = false;

  void declare(cli::Command& command);

  /// @throws std::invalid_argument, UsageError
  [[nodiscard]] std::vector<comm::Operation> parsed_operations() const;
  /// With the links of the profile, if one is named. @throws std::invalid_argument  of that file, too
  [[nodiscard]] comm::MachineLinks links() const;

 private:
  void declare_links(cli::Command& command);
};

}  // namespace papfft::app
