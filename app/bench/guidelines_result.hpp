// SPDX-License-Identifier: MIT
// What `papfft bench guidelines` has found, and how it is written: for people, as JSON, as CSV.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/bench/guideline_verdict.hpp"
#include "app/bench/guidelines_options.hpp"
#include "app/run/host_layout.hpp"

namespace papfft::app {

/// One cell and one guideline.
struct GuidelineRow {
  comm::Operation operation = comm::Operation::gather;
  std::size_t bytes = 0;        ///< where the whole vector is
  std::size_t block_bytes = 0;  ///< of one rank
  std::string pattern;
  Guideline guideline = Guideline::stock;
  std::string peer;                     ///< the one that the verdict is about
  std::optional<StockAlgorithm> stock;  ///< of mpi-best
  std::size_t peer_bytes = 0;           ///< of monotone: the larger size
  std::size_t peers = 1;                ///< of which that one is the worst
  std::vector<double> auto_ms;
  std::vector<double> peer_ms;
  Verdict verdict;

  /// "mpi-best 3/64K", "auto of 64K"
  [[nodiscard]] std::string peer_text() const;
};

/// All that is written about a run.
struct GuidelinesResult {
  const GuidelinesOptions& options;
  const GuidelinesSettings& settings;
  int ranks = 0;
  HostLayout layout;
  io::Json machine = {};
  std::size_t cells = 0;
  std::vector<GuidelineRow> rows = {};
  std::vector<std::string> notes = {};  ///< what could not be checked, and why

  [[nodiscard]] std::size_t count(Finding finding) const;
  /// The violation with the largest ratio; nullptr: there is none.
  [[nodiscard]] const GuidelineRow* worst() const;
  /// Some violation is worse than the user takes.
  [[nodiscard]] bool fails() const;
  [[nodiscard]] io::Json document() const;
  [[nodiscard]] std::string csv() const;
  /// For people: the answer first.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] io::Json row_json(const GuidelineRow& row) const;
  [[nodiscard]] io::Json settings_json() const;
  [[nodiscard]] std::string answer() const;
};

}  // namespace papfft::app
