// SPDX-License-Identifier: MIT
#include "comm/bounds/host_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace papfft::comm {

namespace {

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw std::overflow_error("hosts' bound: exceeds 63 bits");
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw std::overflow_error("hosts' bound: exceeds 63 bits");
  return result;
}

/// 2 (n - 1) / n of the amount. No fraction of a byte is moved and nothing takes a fraction of a tick, so the bound may be rounded up.
std::int64_t there_and_back(std::int64_t amount, std::int64_t n) {
  return (product(amount, 2 * (n - 1)) + n - 1) / n;
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

std::int64_t bound_in_rounds(int places, std::int64_t bytes, std::int64_t alpha, std::int64_t beta) {
  if (places < 2 || bytes == 0) return 0;
  const std::int64_t moving = product(bytes, beta);
  if (places == 2 || alpha == 0) return sum(moving, alpha);
  const auto q = static_cast<std::int64_t>(std::bit_width(static_cast<unsigned>(places - 1)));
  // The least is next to where the two terms are equal. Nothing takes a fraction of a tick, so the bound may be rounded up.
  const auto middle =
      static_cast<std::int64_t>(std::sqrt(2 * static_cast<double>(moving) / static_cast<double>(alpha)));
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t k = std::max<std::int64_t>(1, middle - 1); k <= middle + 2; ++k) {
    const std::int64_t twice = sum(product(2, moving), product(k * (k + 1), alpha));
    least = std::min(least, (twice + 2 * k - 1) / (2 * k));
  }
  return sum(sum(moving, product(q - 1, alpha)), least);
}

namespace {

/// Of places with one port each way, as bound_on_hosts.
std::int64_t bound_on_places(Operation operation, int places, std::int64_t bytes, std::int64_t traffic,
                             std::int64_t alpha, std::int64_t beta) {
  const std::int64_t moving = product(traffic, beta);
  const OperationTraits& row = traits(operation);
  if (row.is_per_rank() || row.is_per_pair() || bytes == 0 || places < 2) return moving;
  const std::int64_t passed_on = bound_in_rounds(places, bytes, alpha, beta);
  if (row.is_rooted()) return std::max(moving, passed_on);
  return std::max({moving, passed_on, there_and_back(sum(alpha, product(bytes, beta)), places)});
}

}  // namespace

std::int64_t bound_on_hosts(Operation operation, const Hosts& hosts, Rank root, std::int64_t bytes,
                            const HostCosts& costs) {
  if (std::min({costs.alpha, costs.beta, costs.inside_alpha, costs.inside_beta}) < 0)
    throw std::invalid_argument("hosts' bound: a negative cost");
  if (costs.card_ports < 1) throw std::invalid_argument("hosts' bound: a card without a port");
  const LeastTraffic least = least_traffic(operation, hosts, root, bytes);
  const bool are_single = hosts.are_single();
  const std::int64_t near_alpha = are_single ? costs.alpha : std::min(costs.alpha, costs.inside_alpha);
  const std::int64_t near_beta = are_single ? costs.beta : std::min(costs.beta, costs.inside_beta);
  const std::int64_t by_links =
      costs.card_ports > 1
          ? product(least.link_bytes, costs.beta) / costs.card_ports
          : bound_on_places(operation, hosts.count(), bytes, least.link_bytes, costs.alpha, costs.beta);
  return std::max(by_links, bound_on_places(operation, hosts.rank_count(), bytes, least.rank_bytes,
                                            near_alpha, near_beta));
}

}  // namespace papfft::comm
