// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::comm {

/// A part of a schedule in which each of p ranks has a block, on some of the schedule's slots and ranks.
struct ExchangeFrame {
  std::function<Rank(int)> player = {};  ///< who plays rank v of the graph; empty: v itself
  int slots_per_block = 1;
  int first_slot = 0;                                 ///< block b is at first_slot + b * slots_per_block
  int first_round = 0;                                ///< for printing
  int most_blocks = std::numeric_limits<int>::max();  ///< in a message
  bool one_by_one = false;                            ///< each send waits for the one before

  [[nodiscard]] Rank rank_of(int v) const { return player ? player(v) : v; }
  [[nodiscard]] BlockRange slots_of(BlockRange blocks) const {
    return {first_slot + blocks.first * slots_per_block, first_slot + blocks.last * slots_per_block};
  }
};

enum class Exchange : std::uint8_t { allgather, reduce_scatter };

/// CIR Algorithm 7, round k of q. Allgather: rank v of the graph, which holds blocks v .. v+s[k]-1, gets the s[k+1]-s[k]
/// behind them from v + s[k] and gives as many of its first to v - s[k]. Reduce-scatter is the same backwards: v, which holds
/// sums for blocks v .. v+s[k+1]-1, gives those from v+s[k] on away and adds what it gets to its first ones; rounds go from q-1
/// down to 0, and then v has block v's sum.
///
/// Blocks are cyclic; a message whose range goes around the end is two. Of these the first may have come while the second is
/// on its way: what it allows to be sent would share the next rank's link with a message of this round and delay that rank,
/// which delays others, round by round. So a rank leaves a round when it has received all of it.
/// @param after  what the sends wait for
/// @return what those of the next round wait for: the receives of this one and, one by one, its last send
std::vector<int> add_exchange_round(ProgramBuilder& builder, const Circulant& graph, Exchange exchange, int v,
                                    int k, const ExchangeFrame& frame, const std::vector<int>& after);

/// Both, reduce-scatter first, for `pieces` vectors at once: piece i's block b is slot i * p + b. 2q rounds.
void add_allreduce(ProgramBuilder& builder, const Circulant& graph, int v, int pieces, ExchangeFrame frame);

}  // namespace papfft::comm
