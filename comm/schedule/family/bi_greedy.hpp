// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>

#include "comm/schedule/core/bit_width.hpp"
#include "comm/schedule/core/transfer_rounds.hpp"

namespace papfft::comm {

/// A reduction in rounds that fills every port it can: in each round, for one segment after another, the ranks that hold an
/// unsent part of it and have a free port are split into senders and receivers, so that as many as possible are paired.
///
/// The later segments get the ports that the earlier ones leave, hence all ports are busy from the second round on. Four
/// ranks, two segments, root 0, nobody late (sender > receiver : segment):
///
///     round 0    2>0:0  3>1:0  1>2:1
///     round 1    1>0:0  3>2:1
///     round 2    2>0:1
///
/// Every rank but the root hands each segment over once: (P-1)N transfers, which are all combined. A rank that comes late
/// joins in when it comes; until then the others reduce among themselves.
///
/// @param first_round  per rank: the first round in which it can take part, >= 0. Empty: 0 for all.
/// @param sink         called once per round that has transfers; idle rounds are skipped.
/// @param width        for tests; the transfers are the same.
/// Cost: O(P N) for the transfers, P/64 words of each segment when a rank comes, and in a busy round with A ranks there at
/// most A/64 words of each unfinished segment, or A N/64 words for what those with free ports hold; space P N / 4 bytes.
/// @note Source  GRD Algorithm 2 in whole rounds, with two changes: the root never sends (printed, it may), and ranks that
///   have not come are left out (ours).
void plan_bi_greedy(int ranks, int segments, Rank root, std::span<const std::int64_t> first_round,
                    const TransferSink& sink, BitWidth width = BitWidth::widest);

}  // namespace papfft::comm
