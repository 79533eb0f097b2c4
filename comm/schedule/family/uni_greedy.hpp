// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>

#include "comm/schedule/core/transfer_rounds.hpp"

namespace papfft::comm {

/// Plans a reduction for ranks that take part in one message at a time: of those that still hold a part of the segment, the
/// two that are free first meet next. Optimal among all that reduce the segments in order, on each rank (GRD Theorem 5).
///
/// Three ranks, two segments, root 0, a message takes 2 and combining 1 (sender > receiver : segment, start):
///
///     1>0:0 at 0    2>0:0 at 3    1>2:1 at 5    2>0:1 at 8    done at 11
///
/// @param message_time  per segment, > 0: the sender is busy for so long
/// @param combine_time  per segment, >= 0: and the receiver for so much longer
/// @param sink          the transfers; Transfer::round is the time at which the message starts
/// @return when the root has combined the last one
/// @note Source  GRD Algorithm 1. Its rule that the times of ranks not involved are advanced to t is left out: it has no
///   effect on the schedule, since nobody starts before t anyway.
std::int64_t plan_uni_greedy(int ranks, Rank root, std::span<const std::int64_t> message_time,
                             std::span<const std::int64_t> combine_time, const TransferSink& sink);

}  // namespace papfft::comm
