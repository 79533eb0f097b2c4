// SPDX-License-Identifier: MIT
#include "comm/bounds/arrival_bounds.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace papfft::comm {

namespace {

/// Of all ranks' segments, how many cannot have begun to leave their own ranks before `time`.
std::int64_t parts_at_home(std::span<const std::int64_t> arrival_ns, std::int64_t time, std::int64_t segments,
                           std::int64_t round) {
  std::int64_t parts = 0;
  for (const std::int64_t arrival : arrival_ns) {
    if (arrival >= time) {
      parts += segments;
    } else if (round > 0) {
      parts += std::max<std::int64_t>(0, segments - (time - arrival + round - 1) / round);
    }
  }
  return parts;
}

/// How many rounds of one segment follow the arrival of the k-th latest rank, at least.
std::int64_t rounds_after(Operation operation, std::span<const std::int64_t> latest_first,
                          std::int64_t segments, std::int64_t round, std::int64_t k) {
  const OperationTraits& row = traits(operation);
  const std::int64_t ranks = std::ssize(latest_first);
  const std::int64_t everything = (ranks - 1) * segments;
  const auto q = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(ranks - 1)));
  const std::int64_t broadcast = k == 1 ? segments - 1 + q : 0;
  if (row.is_per_pair() || row.after == Holder::owner) return k == 1 ? everything : 0;
  if (row.is_per_rank()) return std::max(broadcast, std::min(k, ranks - 1) * segments);
  const std::int64_t at_home =
      parts_at_home(latest_first, latest_first[static_cast<std::size_t>(k - 1)], segments, round);
  const std::int64_t messages = (ranks - 2) * segments + at_home;
  return std::max(broadcast, (messages + ranks - 1) / ranks);
}

}  // namespace

bool has_bound_by_arrivals(Operation operation) {
  return operation == Operation::reduce || !is_rooted(operation);
}

std::int64_t bound_by_arrivals(Operation operation, std::span<const std::int64_t> arrival_ns,
                               std::int64_t segments, std::int64_t round, Rank root) {
  if (!has_bound_by_arrivals(operation))
    throw std::invalid_argument("bound by arrivals: " + std::string(to_string(operation)) +
                                " has no such bound");
  if (arrival_ns.empty() || segments < 1 || round < 0 || root < 0 || root >= std::ssize(arrival_ns))
    throw std::invalid_argument("bound by arrivals: needs a rank, a segment and a round time");
  if (arrival_ns.size() == 1) return 0;
  if (is_rooted(operation)) {
    const auto [first, last] = std::ranges::minmax(arrival_ns);
    std::int64_t end = last;
    for (Rank r = 0; r < std::ssize(arrival_ns); ++r) {
      if (r != root) end = std::max(end, arrival_ns[static_cast<std::size_t>(r)] + segments * round);
    }
    return end - first;
  }
  std::vector<std::int64_t> latest_first(arrival_ns.begin(), arrival_ns.end());
  std::ranges::sort(latest_first, std::greater<>());
  const std::int64_t ranks = std::ssize(arrival_ns);
  std::int64_t end = latest_first.front();
  for (std::int64_t k = 1; k <= ranks; ++k) {
    const std::int64_t from = latest_first[static_cast<std::size_t>(k - 1)];
    end = std::max(end, from + rounds_after(operation, latest_first, segments, round, k) * round);
  }
  return end - latest_first.back();
}

}  // namespace papfft::comm
