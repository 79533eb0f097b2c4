// SPDX-License-Identifier: MIT
// What ranks that arrive apart need at least for an exchange among all, or for a reduction.
#pragma once
#include <cstdint>
#include <span>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Least run time of a reduce, allgather, reduce_scatter, alltoall or allreduce, of any algorithm: from the first arrival to the last exit. A
/// rank sends one segment at a time and receives one at a time, each in `round`. Its data exist from its arrival on. Before it arrives
/// it may receive and hand on what others have, as with a background thread. It is done no sooner than it arrives.
///
/// N = `segments` of each block, or of the vector; t = `round`; b_k is when the k-th latest rank arrives, b_1 the last, b_P the first:
///
/// | operation | done no sooner than | why |
/// |---|---|---|
/// | reduce | N t after the latest rank but the root | its vector leaves it |
/// | alltoall, reduce_scatter | b_1 + (P-1) N t | the last rank has something for each of the P-1 others |
/// | allgather | b_k + k N t, k < P | the first rank must receive the blocks of the k latest after b_k |
/// | | b_1 + (N-1+q) t | the last rank's block is broadcast; q = ceil(log2 P) |
/// | allreduce | b_1 + (N-1+q) t | so is what holds the last rank's part |
/// | | b_k + (N (P-2) + n_k) t / P | n_k parts of segments cannot have begun to leave their own ranks before b_k |
///
/// In the last row the ranks have N segments each, of which rank r can begin to send (b_k - a_r) / t before b_k. The row counts the
/// messages that begin at b_k or later. Say that u of a segment's parts have not begun to leave their ranks by then. Those of one-way
/// gossip: u-1 messages at least until some rank has all of the u, since all but one of their owners must send. After that P-1 ranks
/// each lack one message at least. All ranks receive P messages at a time. The latest rank's part has left in no segment, so u is at
/// least 1 in each. For k = P the row is the 2 (P-1) / P of the vector of ranks that come together (Patarasuk and Yuan, 2009). For
/// k = 1 it says that whoever comes late still has to send all of its own vector, and then to receive the sum.
///
/// Segments may be single bytes: then N is the block's size and t the time of a byte. The bound holds for any cutting.
/// @param arrival_ns  of each rank; the result is in the same unit as these and `round`
/// @throws std::invalid_argument  no rank, no such root, another operation, segments < 1 or round < 0
[[nodiscard]] std::int64_t bound_by_arrivals(Operation operation, std::span<const std::int64_t> arrival_ns,
                                             std::int64_t segments, std::int64_t round, Rank root = 0);

/// Whether there is such a bound.
[[nodiscard]] bool has_bound_by_arrivals(Operation operation);

}  // namespace papfft::comm
