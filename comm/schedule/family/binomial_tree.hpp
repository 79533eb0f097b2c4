// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <bit>
#include <vector>

namespace papfft::comm {

/// The binomial tree over positions 0 .. P-1, root 0, any P. A position's parent clears its lowest set bit; its
/// subtree is the contiguous range [position, subtree_end).
///
///   P = 6    0 -> 4 2 1     4 -> 5     2 -> 3
struct BinomialTree {
  int size = 1;

  /// 2^(trailing zeros); for the root the smallest power of two that is not below P.
  [[nodiscard]] int span_of(int v) const {
    return v == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(size))) : v & -v;
  }
  [[nodiscard]] int parent(int v) const { return v == 0 ? -1 : v & (v - 1); }
  [[nodiscard]] int subtree_end(int v) const { return std::min(v + span_of(v), size); }
  /// Largest subtree first: the order in which a scatter or bcast serves them.
  [[nodiscard]] std::vector<int> children(int v) const {
    std::vector<int> result;
    for (int half = span_of(v) / 2; half >= 1; half /= 2) {
      if (v + half < size) result.push_back(v + half);
    }
    return result;
  }
  [[nodiscard]] int rounds() const { return std::countr_zero(static_cast<unsigned>(span_of(0))); }
  /// The round, counted from the root's first send, in which v receives.
  [[nodiscard]] int round_of(int v) const {
    return rounds() - 1 - std::countr_zero(static_cast<unsigned>(v));
  }
};

}  // namespace papfft::comm
