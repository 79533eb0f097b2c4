// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <vector>

#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

/// A round in which every rank r hands blocks on to r + skip.
struct RelayRound {
  int skip = 0;
  /// Which, by their distance: how far behind its source a block's target is, 1 .. P-1, ascending.
  std::vector<int> distances = {};
};

/// An all-to-all of few messages: blocks go to their targets through other ranks, in each round many of them in one message. All ranks
/// do the same, relative to themselves. So each always has one block of every distance, which it hands on, or keeps in the end.
///
/// What does not lie side by side is named together by copies in scratch slots. The executor copies nothing for these: it packs a
/// message when it leaves.
/// @param rounds  a block of distance d is in rounds whose skips add up to d
[[nodiscard]] RankSchedule relayed_exchange(const Request& request, Rank rank,
                                            const std::vector<RelayRound>& rounds);

}  // namespace papfft::comm
