// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <vector>

#include "comm/schedule/core/builder.hpp"

namespace papfft::comm {

/// A reduction in which everybody combines a share of the vector: P players exchange parts in groups until each has one
/// complete piece of P (reduce-scatter), and the pieces go to the root by the same way back (gather).
///
/// In round i, players whose numbers differ in digit i only (mixed radix, the lowest digit first) form a group of radices[i].
/// They share a range of pieces, cut it into as many parts, and each sends the others theirs:
///
///     radices 2 2    round 0: {0,1} {2,3}    round 1: {0,2} {1,3}    pieces of 0 1 2 3: 0 2 1 3
///
/// What a player has combined always comes from consecutive players, so their order can be kept.
/// @note Source  Rabenseifner, ICCS 2004 (all radices 2); Peterka et al., SC 2009 (Radix-K)
struct Butterfly {
  std::vector<int> radices;  ///< their product is the number of players and of pieces

  [[nodiscard]] int players() const;
  /// Appends one player's ops. Piece i is slot i, all of which hold the player's contribution.
  /// @param rank_of  who plays player v
  /// @param round    of the first exchange
  /// @param ordered  combine in the order of the players
  void write(ProgramBuilder& builder, int player, int root, bool ordered, int round,
             const std::function<Rank(int)>& rank_of) const;
};

}  // namespace papfft::comm
