// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "app/run/job.hpp"
#include "app/run/job_options.hpp"

namespace papfft::app {

/// What an engine needs of the root's link per vector.
enum class Wire { none, both_ways, one_way };

/// What can be timed.
struct FftEngine {
  const char* name;
  Wire wire;
  bool has_gather;              ///< one row per --gathers
  bool is_distributed = false;  ///< the vector is with the ranks before and after; one row per order of bins
};

/// @throws std::logic_error  there is none of this name, which --engines would have refused
[[nodiscard]] const FftEngine& find_fft_engine(const std::string& name);

/// The words of `papfft bench fft`.
struct FftBenchOptions {
  JobOptions job;
  int vectors = 1000;
  std::size_t length = 131072;
  std::string precision = "float";
  std::string scatter = "lin";
  std::vector<std::string> engines = {"dif"};
  std::vector<std::string> gathers = {"mpi", "ls", "bsls", "bsbn"};
  bool real = false;
  int depth = 0;
  int block = 50;
  int warm_up = 1;
  ArrivalOptions arrivals;

  void declare(cli::Command& command);
  /// Once the command line has been read: what follows from options that were given or left out.
  void complete();
  /// What can be told before the ranks are known. @throws UsageError, std::invalid_argument
  void check() const;
  /// The rest, and the outputs. @throws UsageError, io::OutputError
  void check(int ranks) const;
  [[nodiscard]] bool has_engine(const std::string& name) const;

 private:
  void check_engine(const std::string& engine) const;

  const cli::Option* engines_option_ = nullptr;
  const cli::Option* gathers_option_ = nullptr;
};

}  // namespace papfft::app
