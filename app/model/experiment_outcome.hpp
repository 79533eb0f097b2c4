// SPDX-License-Identifier: MIT
// What came of an experiment, and how a folder of results keeps it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/io/json.hpp"
#include "app/model/experiment_file.hpp"
#include "app/report/bench_run.hpp"

namespace papfft::app {

enum class Verdict { reproduced, in_part, not_reproduced, skipped, failed };

[[nodiscard]] const char* to_string(Verdict verdict);

/// Where and when an experiment was run, as the folder of results keeps it.
struct Record {
  std::string date = {};
  std::string machine = {};
  bool quick = false;
  double seconds = 0;
};

struct Outcome {
  Verdict verdict = Verdict::skipped;
  Record record = {};
  std::string why = {};  ///< it was skipped or failed
  std::size_t held = 0;
  std::size_t measured = 0;
  std::string first_ratio = {};  ///< "2.10 (paper 2.00)" of the first statement that was measured
  std::vector<std::vector<std::string>> table = {};
  std::vector<std::optional<report::BenchRun>> runs = {};

  /// "3 of 4", or "-" where nothing was measured.
  [[nodiscard]] std::string held_text() const;
  /// "full, 2026-11-21, x86_64, 2 cores"
  [[nodiscard]] std::string run_text() const;
};

/// Compares what was measured with what the experiment expects.
void judge(const Experiment& experiment, Outcome& outcome);

/// What a folder of results says about itself. @throws io::DataError
[[nodiscard]] io::Json read_records(const std::filesystem::path& folder);
void write_record(const std::filesystem::path& folder, const Experiment& experiment, const Outcome& outcome);

/// From a folder that an earlier run has written, without measuring. @throws io::DataError
[[nodiscard]] Outcome recall(const Experiment& experiment, const std::filesystem::path& folder,
                             const io::Json& records);

}  // namespace papfft::app
