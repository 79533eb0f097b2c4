// SPDX-License-Identifier: MIT
#include "comm/bounds/bounds.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <stdexcept>
#include <vector>

namespace papfft::comm {

namespace {

using Times = std::span<const std::int64_t>;

std::int64_t first(Times times) { return *std::ranges::min_element(times); }
std::int64_t last(Times times) { return *std::ranges::max_element(times); }

void require_ranks(Times arrival_ns) {
  if (arrival_ns.empty()) throw std::invalid_argument("arrival times: at least one rank is needed");
}

void require_pairs(Times arrival_ns, Times exit_ns) {
  require_ranks(arrival_ns);
  if (arrival_ns.size() != exit_ns.size()) {
    throw std::invalid_argument("arrival and exit times: not of the same ranks");
  }
}

}  // namespace

std::int64_t arrival_spread_ns(Times arrival_ns) {
  require_ranks(arrival_ns);
  return last(arrival_ns) - first(arrival_ns);
}

double imbalance_factor(Times arrival_ns, double message_ns) {
  if (!(message_ns > 0)) throw std::invalid_argument("imbalance: the time of a message must be positive");
  return static_cast<double>(arrival_spread_ns(arrival_ns)) / message_ns;
}

std::int64_t run_time_ns(Times arrival_ns, Times exit_ns) {
  require_pairs(arrival_ns, exit_ns);
  return last(exit_ns) - first(arrival_ns);
}

double elapsed_ns(Times arrival_ns, Times exit_ns) {
  require_pairs(arrival_ns, exit_ns);
  double sum = 0;
  for (std::size_t r = 0; r < exit_ns.size(); ++r) sum += static_cast<double>(exit_ns[r] - arrival_ns[r]);
  return sum / static_cast<double>(exit_ns.size());
}

namespace {

/// When one segment can be combined at the earliest, if every port were free: two parts that are there at x <= y make one
/// that is there at y + round, and to combine the two earliest first is best (Golumbic, Combinatorial merging, 1976).
std::int64_t combined_ns(Times arrival_ns, std::int64_t round_ns) {
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> parts(
      std::greater<>(), {arrival_ns.begin(), arrival_ns.end()});
  while (parts.size() > 1) {
    parts.pop();
    const std::int64_t later = parts.top();
    parts.pop();
    parts.push(later + round_ns);
  }
  return parts.top();
}

}  // namespace

std::int64_t bound_reduce_ns(Times arrival_ns, int segments, std::int64_t round_ns) {
  require_ranks(arrival_ns);
  if (segments < 1 || round_ns < 0) {
    throw std::invalid_argument("reduce's bound: needs a segment and a round time");
  }
  if (arrival_ns.size() == 1) return 0;
  return combined_ns(arrival_ns, round_ns) + (segments - 1) * round_ns - first(arrival_ns);
}

}  // namespace papfft::comm
