// SPDX-License-Identifier: MIT
#pragma once
#include <span>

#include "comm/schedule/schedule.hpp"

namespace papfft::comm {

/// The same messages backwards: scatter becomes gather, bcast reduce, allgather reduce_scatter, and the other way
/// round. Every send becomes a receive (combining, where the result is a reduction) and every receive a send;
/// what waited is now waited for.
/// @throws std::invalid_argument  for an allreduce, or a schedule with local ops, which have no reverse.
[[nodiscard]] Schedule reverse(const Schedule& schedule);

/// One rank's part of the same. @param last_round  the largest round of all ranks
[[nodiscard]] RankSchedule reverse(const RankSchedule& part, int last_round);

/// The same schedule with rank r's part played by order[r]: peers, root and holders are renamed.
/// @param order  a permutation of 0 .. P-1.
/// @throws std::invalid_argument  unless `order` is a permutation of the ranks.
[[nodiscard]] Schedule relabel(const Schedule& schedule, std::span<const Rank> order);

/// @throws std::invalid_argument naming `what` unless `order` is a permutation of 0 .. ranks-1.
void require_permutation(std::span<const Rank> order, int ranks, std::string_view what);

}  // namespace papfft::comm
