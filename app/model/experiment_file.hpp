// SPDX-License-Identifier: MIT
// An experiment: what one table or figure of a paper says, and what is run to measure it anew. Each is a file in
// app/experiments.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/report/bench_run.hpp"

namespace papfft::app {

/// Rows of the measurements, and the least of their times.
struct Selection {
  std::optional<std::size_t> command;   ///< counted from 1; nothing: all
  std::vector<std::string> algorithms;  ///< any of these
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> bytes;
  std::string pattern;  ///< empty: any
  bool elapsed = false;

  /// In s; nothing if no row is of this kind.
  [[nodiscard]] std::optional<double> time_s(const std::vector<std::optional<report::BenchRun>>& runs) const;

 private:
  [[nodiscard]] bool takes(const report::BenchRow& row) const;
};

/// One statement of a paper: time(of) / time(to), or the time itself.
struct Expectation {
  std::string what = {};
  Selection of = {};
  std::optional<Selection> to = {};  ///< nothing: the time of `of`, in ns
  std::optional<double> paper = {};
  double least = 0;  ///< reproduced if within these
  double most = std::numeric_limits<double>::infinity();
};

/// Words, the first of which may say how the others are run.
using Command = std::vector<std::string>;

struct Experiment {
  std::string name = {};
  std::string title = {};
  std::string source = {};
  std::string paper = {};    ///< what it says, in words
  std::string method = {};   ///< in what our measurement differs
  int hosts = 0;             ///< of the virtual cluster; 0: needs none
  std::string skipped = {};  ///< why there is nothing to run; empty: there is
  std::vector<Command> commands = {};
  std::vector<Command> quick = {};
  std::vector<Expectation> expectations = {};
};

/// @throws io::DataError  the file is no experiment
[[nodiscard]] Experiment parse_experiment(const std::filesystem::path& path);

/// Those that come with the program. @throws UsageError  they are not where they should be
[[nodiscard]] std::vector<Experiment> known_experiments();

}  // namespace papfft::app
