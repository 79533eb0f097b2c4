// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/report/plot.hpp"

namespace papfft::app::report {

/// The rows of a chart with one row per rank: the ranks of a host stand together, in a box.
struct HostRows {
  std::vector<std::size_t> ranks = {};   ///< per row; host by host, in the order of their first ranks
  std::vector<std::size_t> row_of = {};  ///< per rank
  std::vector<Gantt::Band> boxes =
      {};  ///< none where every rank has a host of its own: that would tell nothing
  std::vector<std::string> labels = {};  ///< per row: the rank's number
};

/// @param hosts  per rank the name of its host; empty: not known, and nothing is moved
/// @throws std::invalid_argument  unless there are no hosts or one per rank
[[nodiscard]] HostRows rows_by_host(std::size_t ranks, const std::vector<std::string>& hosts);

}  // namespace papfft::app::report
