// SPDX-License-Identifier: MIT
// Measurements that may stand in one figure. Runs of different settings never share one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/report/bench_run.hpp"

namespace papfft::app::report {

/// Runs that may stand in one figure: of one kind, operation and machine, with the same settings but for those that the rows tell
/// themselves, links alike (beta within a quarter), and no situation measured twice.
struct RunGroup {
  BenchKind kind = BenchKind::collective;
  std::string operation;
  std::vector<const BenchRun*> runs;  ///< at least one
  std::vector<BenchRow> rows;  ///< of all; algorithm names tell the number of segments where that varies
  std::string
      differs;  ///< in what this group differs from others of its kind and operation; empty: it is the only one
  /// "gather, seed 1, file a.json": a heading.
  [[nodiscard]] std::string title() const;
  /// "32 ranks, 4 per host, round robin": what a title says of so many ranks, and of how they are spread over hosts if that is
  /// known and they are not all on one.
  [[nodiscard]] std::string ranks_text(std::int64_t ranks) const;
  /// Machine, seed and the other settings, as a sentence for small print.
  [[nodiscard]] std::string conditions() const;
};

/// In the order of the files. The runs must outlive the groups.
[[nodiscard]] std::vector<RunGroup> group_runs(const std::vector<BenchRun>& runs);

}  // namespace papfft::app::report
