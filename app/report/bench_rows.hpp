// SPDX-License-Identifier: MIT
// Rows of measurements, sorted and compared: what figures and tables share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/report/bench_run.hpp"

namespace papfft::app::report {

using Rows = std::vector<const BenchRow*>;
using Value = std::function<double(const BenchRow&)>;

/// In the order of the numbers.
[[nodiscard]] std::vector<std::pair<std::int64_t, Rows>> split_by(const Rows& rows,
                                                                  std::int64_t BenchRow::*member);
/// In the order of the file.
[[nodiscard]] std::vector<std::pair<std::string, Rows>> split_by(const Rows& rows,
                                                                 std::string BenchRow::*member);

/// The row of an algorithm in the same situation; nullptr: there is none.
[[nodiscard]] const BenchRow* row_of(std::string_view algorithm, const BenchRow& row, const Rows& rows);

[[nodiscard]] std::vector<std::string> names_of(const Rows& rows);

/// How many times as long stock MPI took.
[[nodiscard]] Value gain_over_stock(const Rows& rows);

}  // namespace papfft::app::report
