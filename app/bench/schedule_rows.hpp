// SPDX-License-Identifier: MIT
// What `papfft bench schedule` has measured, and how it is written.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/bench/schedule_instances.hpp"
#include "app/io/json.hpp"
#include "app/run/job_options.hpp"

namespace papfft::app {

struct ScheduleBenchOptions {
  JobOptions job;
  std::string operation = "reduce";
  std::vector<std::string> algorithms;  ///< empty: see default_algorithms
  std::vector<int> ranks;               ///< empty: see default_ranks
  int segments = 0;
  std::vector<std::string> patterns = {"uniform", "skewed"};
  int repetitions = 10;
  std::uint64_t seed = 1;
  std::string csv;
};

/// One algorithm on the instances of one size and pattern.
struct ScheduleRow {
  const comm::Algorithm* algorithm = nullptr;
  int ranks = 0;
  int segments = 0;
  std::string pattern;
  std::vector<double> time_us;
  std::size_t memory_bytes = 0;  ///< for planning the first instance
  std::optional<CirculantTimes> circulant = {};
};

/// All that is written about a run.
struct ScheduleResult {
  const ScheduleBenchOptions& options;
  std::vector<const comm::Algorithm*> algorithms = {};
  std::vector<int> ranks = {};
  std::vector<std::string> patterns = {};
  std::vector<ScheduleRow> rows = {};

  [[nodiscard]] io::Json document(const io::Json& machine) const;
  /// The times one by one.
  [[nodiscard]] std::string csv() const;
  /// For people.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] double gain(const ScheduleRow& row, std::string_view peer) const;
  [[nodiscard]] io::Json row_json(const ScheduleRow& row) const;
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::string circulant_table() const;
};

}  // namespace papfft::app
