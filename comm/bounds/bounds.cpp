// SPDX-License-Identifier: MIT
#include "comm/bounds/bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string>
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

void require_root(Times arrival_ns, Rank root) {
  require_ranks(arrival_ns);
  if (root < 0 || static_cast<std::size_t>(root) >= arrival_ns.size()) {
    throw std::invalid_argument("arrival times: no root " + std::to_string(root) + " among " +
                                std::to_string(arrival_ns.size()) + " ranks");
  }
}

std::int64_t wire_ns(std::size_t blocks, std::size_t block_bytes, double beta_ns_per_byte) {
  return std::llround(static_cast<double>(blocks) * static_cast<double>(block_bytes) * beta_ns_per_byte);
}

void require_blocks(Times arrival_ns, std::span<const std::size_t> block_bytes) {
  require_ranks(arrival_ns);
  if (arrival_ns.size() != block_bytes.size()) {
    throw std::invalid_argument("arrival times and block sizes: not of the same ranks");
  }
}

std::vector<std::int64_t> without_root(Times arrival_ns, Rank root) {
  std::vector<std::int64_t> others(arrival_ns.begin(), arrival_ns.end());
  others.erase(others.begin() + root);
  return others;
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

std::int64_t bound_scatter_ns(Times arrival_ns, Rank root, std::size_t block_bytes, double beta_ns_per_byte) {
  require_root(arrival_ns, root);
  const std::int64_t sent_ns = arrival_ns[static_cast<std::size_t>(root)] +
                               wire_ns(arrival_ns.size() - 1, block_bytes, beta_ns_per_byte);
  return std::max(sent_ns, last(arrival_ns)) - first(arrival_ns);
}

std::int64_t bound_gather_ns(Times arrival_ns, Rank root, std::size_t block_bytes, double beta_ns_per_byte) {
  require_root(arrival_ns, root);
  std::vector<std::int64_t> others = without_root(arrival_ns, root);
  std::ranges::sort(others);
  // The link is busy from the k-th arrival on with all blocks from the k-th on, at least.
  std::int64_t end_ns = arrival_ns[static_cast<std::size_t>(root)];
  for (std::size_t k = 0; k < others.size(); ++k) {
    end_ns = std::max(end_ns, others[k] + wire_ns(others.size() - k, block_bytes, beta_ns_per_byte));
  }
  return end_ns - first(arrival_ns);
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

std::int64_t bound_reduce_ns(Times arrival_ns, Rank root, int segments, std::int64_t round_ns) {
  require_root(arrival_ns, root);
  if (segments < 1 || round_ns < 0) {
    throw std::invalid_argument("reduce's bound: needs a segment and a round time");
  }
  if (arrival_ns.size() == 1) return 0;
  const std::int64_t root_ns = arrival_ns[static_cast<std::size_t>(root)] + segments * round_ns;
  const std::int64_t all_ns = combined_ns(arrival_ns, round_ns) + (segments - 1) * round_ns;
  return std::max(root_ns, all_ns) - first(arrival_ns);
}

std::int64_t bound_allgather_ns(Times arrival_ns, std::span<const std::size_t> block_bytes,
                                double beta_ns_per_byte) {
  require_blocks(arrival_ns, block_bytes);
  std::vector<std::size_t> order(arrival_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater<>(), [&](std::size_t r) { return arrival_ns[r]; });
  std::int64_t end_ns = last(arrival_ns);
  for (std::size_t receiver = 0; receiver < order.size(); ++receiver) {
    std::size_t behind = 0;  // bytes of those that come last
    for (const std::size_t owner : order) {
      if (owner == receiver) continue;
      behind += block_bytes[owner];
      end_ns = std::max(end_ns, arrival_ns[owner] + wire_ns(1, behind, beta_ns_per_byte));
    }
  }
  return end_ns - first(arrival_ns);
}

std::int64_t bound_reduce_scatter_ns(Times arrival_ns, std::span<const std::size_t> block_bytes,
                                     double beta_ns_per_byte) {
  require_blocks(arrival_ns, block_bytes);
  const std::size_t all = std::accumulate(block_bytes.begin(), block_bytes.end(), std::size_t{0});
  std::int64_t end_ns = last(arrival_ns);
  for (std::size_t r = 0; r < arrival_ns.size() && arrival_ns.size() > 1; ++r) {
    const std::int64_t others_ns = last(without_root(arrival_ns, static_cast<Rank>(r)));
    end_ns = std::max({end_ns, arrival_ns[r] + wire_ns(1, all - block_bytes[r], beta_ns_per_byte),
                       others_ns + wire_ns(1, block_bytes[r], beta_ns_per_byte)});
  }
  return end_ns - first(arrival_ns);
}

std::int64_t bound_allreduce_ns(Times arrival_ns, std::size_t bytes, double beta_ns_per_byte) {
  require_ranks(arrival_ns);
  if (arrival_ns.size() == 1) return 0;
  const double ranks = static_cast<double>(arrival_ns.size());
  const std::int64_t flat_ns =
      std::llround(2 * (ranks - 1) / ranks * static_cast<double>(bytes) * beta_ns_per_byte);
  return std::max(flat_ns, arrival_spread_ns(arrival_ns) + wire_ns(1, bytes, beta_ns_per_byte));
}

}  // namespace papfft::comm
