// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

enum class ArrivalOrder : std::uint8_t { earliest_first, latest_first };

/// The ranks by expected arrival, ties by rank, but the root first whenever it arrives.
/// @param arrival_ns  one per rank, or empty: all at once.
///
///   root 2, arrivals 30 10 50 10    earliest first: 2 1 3 0    latest first: 2 0 1 3
///
/// @note Source  SG Figs 5, 7, 9, 11; their sort would move the root again, so only positions 1 .. P-1 are sorted.
[[nodiscard]] std::vector<Rank> arrival_order(int ranks, Rank root, std::span<const std::int64_t> arrival_ns,
                                              ArrivalOrder order = ArrivalOrder::earliest_first);

/// Who is expected last, of several the first one; without arrivals rank 0.
[[nodiscard]] Rank latest_rank(std::span<const std::int64_t> arrival_ns);

/// The binomial tree over positions 0 .. P-1 in which positions join in order: in round k each x < 2^k gains the
/// child x + 2^k, any P. A parent clears the highest set bit; low positions are inner and act early in a scatter
/// (late in a gather), high ones are leaves.
///
///   P = 6    0 -> 1 2 4     1 -> 3 5      subtree of 1: {1, 3, 5}
///
/// In bit-reversed order every subtree is contiguous: slot_order() = 0 4 2 1 5 3 for P = 6.
/// @note Source  SG Figs 7 and 11 with their bit-reversing shuffles.
struct JoiningTree {
  int size = 1;

  [[nodiscard]] int parent(int x) const { return x == 0 ? -1 : x - highest_bit(x); }
  /// Earliest joined, i.e. largest subtree, first: the order in which a scatter serves them.
  [[nodiscard]] std::vector<int> children(int x) const;
  /// The round, counted from 0, in which x joins.
  [[nodiscard]] int round_of(int x) const {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(x))) - 1;
  }
  [[nodiscard]] int rounds() const {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1)));
  }
  [[nodiscard]] int subtree_size(int x) const {
    return x == 0 ? size : (size - 1 - x) / (2 * highest_bit(x)) + 1;
  }
  /// Positions in bit-reversed order.
  [[nodiscard]] std::vector<int> slot_order() const;

 private:
  [[nodiscard]] static int highest_bit(int x) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(x)));
  }
};

/// The part of one rank in a joining tree over ranks in some order: who it deals with, and which blocks each
/// message carries.
struct JoiningPart {
  struct Child {
    Rank rank = 0;
    int round = 0;     ///< in which it joins
    BlockRange slots;  ///< of its subtree
  };
  std::vector<Rank> holder;     ///< see Shape::holder
  std::vector<Child> children;  ///< largest subtree first
  Rank parent = -1;             ///< -1: the root
  int round = 0;                ///< in which this rank joins
  int rounds = 0;               ///< of the whole tree
  BlockRange slots;             ///< of its own subtree
};

/// @param order  the ranks by tree position, the root first.
[[nodiscard]] JoiningPart joining_part(const std::vector<Rank>& order, int segments, Rank rank);

}  // namespace papfft::comm
