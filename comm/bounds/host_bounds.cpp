// SPDX-License-Identifier: MIT
#include "comm/bounds/host_bounds.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace papfft::comm {

namespace {

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw std::overflow_error("hosts' bound: exceeds 63 bits");
  return result;
}

/// 2 (n - 1) / n of the bytes. No fraction of a byte is moved, so the bound may be rounded up.
std::int64_t there_and_back(std::int64_t bytes, std::int64_t n) {
  return (product(bytes, 2 * (n - 1)) + n - 1) / n;
}

}  // namespace

LeastTraffic least_traffic(Operation operation, const Hosts& hosts, Rank root, std::int64_t bytes) {
  const int ranks = hosts.rank_count();
  if (bytes < 0) throw std::invalid_argument("hosts' bound: a negative size");
  if (is_rooted(operation) && (root < 0 || root >= ranks)) {
    throw std::invalid_argument("hosts' bound: no root " + std::to_string(root) + " among " +
                                std::to_string(ranks) + " ranks");
  }
  if (ranks == 1) return {};
  const OperationTraits& row = traits(operation);
  if (row.is_per_pair()) {
    std::int64_t pairs = 0;  // of a rank here and one elsewhere
    for (const std::int64_t here : hosts.ranks_per_host()) pairs = std::max(pairs, here * (ranks - here));
    return {product(pairs, bytes), product(ranks - 1, bytes)};
  }
  if (row.is_per_rank()) {
    const std::int64_t near = row.is_rooted() ? std::ssize(hosts.members(hosts.of(root)))
                                              : std::ranges::min(hosts.ranks_per_host());
    return {product(ranks - near, bytes), product(ranks - 1, bytes)};
  }
  if (row.is_rooted()) return {hosts.count() > 1 ? bytes : 0, bytes};
  return {there_and_back(bytes, hosts.count()), there_and_back(bytes, ranks)};
}

std::int64_t bound_on_hosts(Operation operation, const Hosts& hosts, Rank root, std::int64_t bytes,
                            std::int64_t beta, std::int64_t inside_beta, int card_ports) {
  if (beta < 0 || inside_beta < 0) throw std::invalid_argument("hosts' bound: a negative cost");
  if (card_ports < 1) throw std::invalid_argument("hosts' bound: a card without a port");
  const LeastTraffic least = least_traffic(operation, hosts, root, bytes);
  const std::int64_t near = hosts.are_single() ? beta : std::min(beta, inside_beta);
  return std::max(product(least.link_bytes, beta) / card_ports, product(least.rank_bytes, near));
}

}  // namespace papfft::comm
