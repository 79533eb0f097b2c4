// SPDX-License-Identifier: MIT
// Two files of measurements, row by row.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/report/bench_run.hpp"
#include "app/report/ticks.hpp"

namespace papfft::app::report {

/// The 95 % confidence interval of median(b) / median(a), by bootstrap: 2000 times both samples are drawn anew with replacement
/// (percentile method, fixed seed: the same data give the same interval). It takes the values of a sample as independent.
/// Nothing if a sample has fewer than 5 values or a value is not positive.
[[nodiscard]] std::optional<Range> median_ratio_interval(std::span<const double> a,
                                                         std::span<const double> b);

/// One situation that both files measured.
struct RowComparison {
  const BenchRow* a = nullptr;
  const BenchRow* b = nullptr;
  double ratio = 1;                    ///< time of b / time of a: below 1, b is faster
  std::optional<Range> interval = {};  ///< of `ratio`; nothing: the files have no samples
  std::string statement = {};          ///< "b is faster", "no difference shown", "raw data are needed", ...
};

/// In the order of `a`; rows that only one file has are left out.
[[nodiscard]] std::vector<RowComparison> compare(const BenchRun& a, const BenchRun& b);

/// "seed: 1 and 2" for each setting in which they differ. Empty: they were measured alike.
[[nodiscard]] std::vector<std::string> setting_differences(const BenchRun& a, const BenchRun& b);

/// What speaks against comparing the times of the two although the settings are the same: links of different speed, or one whose
/// speed changed during its run. Empty: nothing.
[[nodiscard]] std::vector<std::string> link_doubts(const BenchRun& a, const BenchRun& b);

/// Headings first.
[[nodiscard]] std::vector<std::vector<std::string>> comparison_table(const std::vector<RowComparison>& rows);

}  // namespace papfft::app::report
