// SPDX-License-Identifier: MIT
// From measurements to figures.
#pragma once
#include <string>
#include <vector>

#include "app/report/figure.hpp"
#include "app/report/run_groups.hpp"

namespace papfft::app::report {

/// What a group has to show: run time over size and delay, bars, efficiency, ratios, the map of the best, planning times.
/// @param prefix  of the figures' names
[[nodiscard]] std::vector<Figure> make_figures(const RunGroup& group, const std::string& prefix);

/// The rows as a table, headings first.
[[nodiscard]] std::vector<std::vector<std::string>> make_table(const RunGroup& group);

}  // namespace papfft::app::report
