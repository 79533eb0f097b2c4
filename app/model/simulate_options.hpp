// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"

namespace papfft::app {

/// The words of `papfft simulate`. What they mean: SimulateSettings.
struct SimulateOptions {
  std::string operation = "reduce";
  std::vector<std::string> algorithms = {"all"};
  std::vector<int> ranks = {8};
  std::string hosts;
  std::vector<std::string> bytes = {"1M"};
  std::vector<std::string> segments = {"best"};
  std::vector<std::string> arrivals = {"none"};
  int iterations = 1;
  std::uint64_t seed = 1;
  int root = 0;
  bool ordered = false;
  std::string alpha = "8us";
  double beta_ns = 8;
  double gamma_ns = 0.25;
  // As two ranks with a core each move 1 MB through memory on the machine of docs/measurements.md.
  std::string inside_alpha = "1us";
  double inside_beta_ns = 0.2;
  int card_ports = 1;
  std::string ports = "bi";
  std::string combining = "overlapped";
  std::string window = "auto";
  std::string prediction_error = "0ns";
  int most_segments = 1024;
  std::string platform;
  std::string network = "plain";
  bool messages = false;
  std::string json;
  std::string csv;
  bool quiet = false;

  void declare(cli::Command& command);

 private:
  void declare_case(cli::Command& command);
  cli::Option* declare_links(cli::Command& command);
  void declare_ports(cli::Command& command);
  cli::Option* declare_platform(cli::Command& command);
};

}  // namespace papfft::app
