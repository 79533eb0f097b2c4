// SPDX-License-Identifier: MIT
// What the times of one collective call mean. All times are on one clock: arrival_ns[r] is when rank r called, exit_ns[r] is
// when its call returned. The functions throw std::invalid_argument if there is no rank, if two spans differ in length, or
// if the root is none of the ranks.
#pragma once
#include <cstdint>
#include <span>

#include "comm/schedule/core/schedule.hpp"

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

/// Least run time of a reduce of N = `segments` segments, a message and its combining taking round_ns, by ranks that each send
/// one at a time and receive one at a time: c + (N - 1) t - min a. One rank alone: 0.
///
/// c is when a single segment can be combined at the earliest: by a binary tree with the ranks as leaves, of which rank i at
/// depth d_i is part of the result at a_i + d_i t or later. So c is the least time at which depths d_i = floor((c - a_i) / t)
/// belong to a tree, that is, at which the sum of 2^-d_i is at most 1 (Kraft). The first segment is done at c or later; and
/// each has a last message of its own to the root, which receives these one after another, so the N-th is N - 1 rounds later.
/// Nor can a late root be faster: it is a leaf of that tree, so c is a round after its arrival or later.
///
/// Arrivals may be rounded up to a grid of rounds of which the bound is a point: that changes no floor, so not the bound.
/// @throws std::invalid_argument also unless segments >= 1 and round_ns >= 0.
[[nodiscard]] std::int64_t bound_reduce_ns(std::span<const std::int64_t> arrival_ns, int segments,
                                           std::int64_t round_ns);

}  // namespace papfft::comm
