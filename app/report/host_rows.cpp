// SPDX-License-Identifier: MIT
#include "app/report/host_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

namespace papfft::app::report {

HostRows rows_by_host(std::size_t ranks, const std::vector<std::string>& hosts) {
  if (!hosts.empty() && hosts.size() != ranks) {
    throw std::invalid_argument("rows_by_host: not one host per rank");
  }
  HostRows rows;
  rows.ranks.resize(ranks);
  std::iota(rows.ranks.begin(), rows.ranks.end(), 0U);
  if (std::set(hosts.begin(), hosts.end()).size() < hosts.size()) {
    std::ranges::stable_sort(rows.ranks, {}, [&](std::size_t rank) {
      return std::ranges::find(hosts, hosts[rank]) - hosts.begin();
    });
    for (std::size_t row = 0; row < ranks; ++row) {
      const std::string& host = hosts[rows.ranks[row]];
      if (row > 0 && host == hosts[rows.ranks[row - 1]]) {
        rows.boxes.back().last_row = row;
      } else {
        rows.boxes.push_back({row, row, host});
      }
    }
  }
  rows.row_of.resize(ranks);
  for (std::size_t row = 0; row < ranks; ++row) {
    rows.row_of[rows.ranks[row]] = row;
    rows.labels.push_back(std::to_string(rows.ranks[row]));
  }
  return rows;
}

}  // namespace papfft::app::report
