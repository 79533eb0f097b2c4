// SPDX-License-Identifier: MIT
// What the times of one collective mean, and the least time that any algorithm could have taken. All times are on one
// clock; arrival_ns[r] is when rank r called, exit_ns[r] when its call returned. The functions throw
// std::invalid_argument if there is no rank, if two spans differ in length, or if the root is none of the ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/schedule/schedule.hpp"

namespace papfft::comm {

/// max arrival - min arrival.
[[nodiscard]] std::int64_t arrival_spread_ns(std::span<const std::int64_t> arrival_ns);

/// The spread in units of the time of one point-to-point message of the operation's size.
/// @throws std::invalid_argument also unless message_ns > 0.
[[nodiscard]] double imbalance_factor(std::span<const std::int64_t> arrival_ns, double message_ns);

/// max exit - min arrival: from the first rank's arrival until the last is done.
[[nodiscard]] std::int64_t run_time_ns(std::span<const std::int64_t> arrival_ns,
                                       std::span<const std::int64_t> exit_ns);

/// The mean over ranks of exit - arrival: what the operation costs a rank.
[[nodiscard]] double elapsed_ns(std::span<const std::int64_t> arrival_ns,
                                std::span<const std::int64_t> exit_ns);

/// Least run time of a scatter: the root's link carries P-1 blocks after its arrival, and nobody is done before it
/// arrives. `beta_ns_per_byte` is the inverse of the link's speed.
[[nodiscard]] std::int64_t bound_scatter_ns(std::span<const std::int64_t> arrival_ns, Rank root,
                                            std::size_t block_bytes, double beta_ns_per_byte);

/// Least run time of a gather: the root's link carries the blocks one after another, each after its rank's arrival,
/// and may do so before the root itself arrives.
[[nodiscard]] std::int64_t bound_gather_ns(std::span<const std::int64_t> arrival_ns, Rank root,
                                           std::size_t block_bytes, double beta_ns_per_byte);

/// Least run time of a reduce of `segments` segments by a one-port algorithm that works in rounds of round_ns, a round
/// being one segment sent and combined: max(a_root + N t, max_k a_(k) + (N - 1 + ceil(log2(k + 1))) t) - min a, with
/// a_(k) the k-th latest arrival of the others. One rank alone: 0.
/// @throws std::invalid_argument also unless segments >= 1 and round_ns >= 0.
[[nodiscard]] std::int64_t bound_reduce_ns(std::span<const std::int64_t> arrival_ns, Rank root, int segments,
                                           std::int64_t round_ns);

/// Least run time of an allgather of blocks of these sizes: each rank's link carries all blocks but its own, each after its
/// owner's arrival. @throws std::invalid_argument also unless there is one block per rank.
[[nodiscard]] std::int64_t bound_allgather_ns(std::span<const std::int64_t> arrival_ns,
                                              std::span<const std::size_t> block_bytes,
                                              double beta_ns_per_byte);

/// Least run time of a reduce_scatter: after its arrival each rank's link carries its part of all blocks but its own, and
/// after the last of the others' arrival its own block. @throws as bound_allgather_ns
[[nodiscard]] std::int64_t bound_reduce_scatter_ns(std::span<const std::int64_t> arrival_ns,
                                                   std::span<const std::size_t> block_bytes,
                                                   double beta_ns_per_byte);

/// Least run time of an allreduce of P ranks: 2 (P-1)/P of the vector through some link after the first arrival (Patarasuk
/// and Yuan, 2009), and the vector once after the last.
[[nodiscard]] std::int64_t bound_allreduce_ns(std::span<const std::int64_t> arrival_ns, std::size_t bytes,
                                              double beta_ns_per_byte);

}  // namespace papfft::comm
