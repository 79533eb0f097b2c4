// SPDX-License-Identifier: MIT
#pragma once
#include <bit>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// A hypercube on the largest power of two among p ranks; each of the first ranks 0 1 | 2 3 | ... that are too many share a
/// position, where the odd one acts and the even one stands aside. Positions are in rank order.
class PairedHypercube {
 public:
  explicit PairedHypercube(int p)
      : size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(p)))), pairs_(p - size_) {}

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int steps() const { return std::countr_zero(static_cast<unsigned>(size_)); }
  [[nodiscard]] bool is_pair(int position) const { return position < pairs_; }
  [[nodiscard]] bool stands_aside(Rank rank) const { return rank < 2 * pairs_ && rank % 2 == 0; }
  [[nodiscard]] int position_of(Rank rank) const { return rank < 2 * pairs_ ? rank / 2 : rank - pairs_; }
  /// Who acts there.
  [[nodiscard]] Rank rank_of(int position) const {
    return is_pair(position) ? 2 * position + 1 : position + pairs_;
  }
  /// All ranks there.
  [[nodiscard]] BlockRange ranks_of(int position) const {
    const Rank last = rank_of(position);
    return {is_pair(position) ? last - 1 : last, last + 1};
  }

 private:
  int size_;
  int pairs_;
};

}  // namespace papfft::comm
