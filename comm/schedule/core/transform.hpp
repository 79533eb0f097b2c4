// SPDX-License-Identifier: MIT
#pragma once
#include <span>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// The same messages backwards: scatter becomes gather, bcast reduce, allgather reduce_scatter, and the other way
/// round. Every send becomes a receive (combining, where the result is a reduction) and every receive a send;
/// what waited is now waited for.
/// @throws std::invalid_argument  for what has no reverse: an allreduce, a schedule with local ops or with credits, a reduction in
///   which a rank gets back a block that it handed over (Clairvoyant's head does).
[[nodiscard]] Schedule reverse(const Schedule& schedule);

/// One rank's part of the same. @param last_round  the largest round of all ranks
[[nodiscard]] RankSchedule reverse(const RankSchedule& part, int last_round);

/// The same schedule with rank r's part played by order[r]: peers, root and holders are renamed.
/// @param order  a permutation of 0 .. P-1.
/// @throws std::invalid_argument  unless `order` is a permutation of the ranks.
[[nodiscard]] Schedule relabel(const Schedule& schedule, std::span<const Rank> order);
/// One rank's part of the same, which order[part.rank] plays.
[[nodiscard]] RankSchedule relabel(const RankSchedule& part, std::span<const Rank> order);

/// The same reduction for ranks that may come late: what a rank receives before it needs its own input is combined apart, in
/// scratch slots, and its own contribution last, just before the first op that reads the slot, or at the end. So those
/// receives, and their combining, no longer need the caller (background.hpp). Messages, their order and their sizes stay, so
/// that a rank may do so whatever the others do.
///
///     rank 0 of P = 4, bnom    recv_combine <-1 [0,1), recv_combine <-2 [0,1)
///     becomes                  recv <-1 [1,2), recv_combine <-2 [1,2), combine 1 => [0,1)
///
/// Receives that join as they come (joins_as_it_comes) all stay what they are: in scratch slots that hold nothing, the first to come
/// is the first value.
///
/// Needs one scratch slot per block: at most one vector of memory for what comes early.
/// @throws std::invalid_argument  unless it is a reduction by a commutative operation (not Shape::ordered).
[[nodiscard]] Schedule combine_own_last(const Schedule& schedule);
/// One rank's part of it.
[[nodiscard]] RankSchedule combine_own_last(const RankSchedule& part);

/// @throws std::invalid_argument naming `what` unless `order` is a permutation of 0 .. ranks-1.
void require_permutation(std::span<const Rank> order, int ranks, std::string_view what);

}  // namespace papfft::comm
