// SPDX-License-Identifier: MIT
// The linear algorithms differ only in the order in which the root serves the others; here is what they share.
#pragma once
#include <vector>

#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

enum class Pacing : std::uint8_t {
  one_by_one,  ///< the next send waits for the end of the one before
  windowed     ///< the executor's window alone bounds how many sends are under way
};

/// The root sends each rank its block, in the order of order[1], order[2], ...; order[0] is the root.
[[nodiscard]] RankSchedule linear_scatter(const Request& request, Rank rank, const std::vector<Rank>& order,
                                          Pacing pacing);

/// The same in order of expected arrival: a generator.
template <Pacing pacing>
[[nodiscard]] RankSchedule sorted_linear_scatter(const Request& request, Rank rank) {
  return linear_scatter(request, rank, arrival_order(request.ranks, request.root, request.arrival_ns),
                        pacing);
}

/// The root invites order[1], order[2], ... each with an empty message, and waits for the first segment before it
/// turns to the next; order[0] is the root.
[[nodiscard]] RankSchedule linear_sync_gather(const Request& request, Rank rank,
                                              const std::vector<Rank>& order);

}  // namespace papfft::comm
