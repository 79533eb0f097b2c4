// SPDX-License-Identifier: MIT
#include "comm/schedule/family/circulant.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace papfft::comm {

namespace {

/// One rank's receive schedule, found by walking sums of different skips in descending order.
///
/// On its way to rank r a block takes skips whose sum leads from the root, here at r's own place or one turn earlier, to
/// r - s[k], which sends it on in round k. The walk tries the largest free skip first, goes deeper while the windows of
/// the rounds to come lie above, and gives round k the first sum within its window (r - s[k+1], r - s[k]].
class ReceiveSearch {
 public:
  ReceiveSearch(const Circulant& graph, int r, std::span<int> blocks)
      : graph_(graph),
        blocks_(blocks),
        end_(static_cast<int>(blocks.size())),
        base_(graph.baseblock(r)),
        top_(std::int64_t{r} + graph.ranks()),
        last_(2 * std::int64_t{graph.ranks()}),
        free_((std::uint32_t{2} << static_cast<unsigned>(graph.rounds())) - 1) {
    take(base_);
    walk(0, graph.rounds());
  }

 private:
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): e is a round
  void take(int e) { free_ &= ~(std::uint32_t{1} << static_cast<unsigned>(e)); }

  /// The largest free index below e, or -1.
  [[nodiscard]] int below(int e) const {
    const std::uint32_t lower = free_ & ((std::uint32_t{1} << static_cast<unsigned>(e)) - 1);
    return static_cast<int>(std::bit_width(lower)) - 1;
  }

  void walk(std::int64_t position, int e) {
    while (e >= 0 && round_ < end_) {
      const std::int64_t target = position + graph_.skip(e);
      if (target <= top_ - graph_.skip(round_) && target < last_) {
        if (target <= top_ - graph_.skip(round_ + 1)) walk(target, below(e));
        if (round_ == end_ || position > top_ - graph_.skip(round_ + 1)) return;  // the caller's turn
        last_ = target;
        blocks_[static_cast<std::size_t>(round_)] = e == graph_.rounds() ? base_ : e - graph_.rounds();
        ++round_;
        take(e);
      }
      e = below(e);
    }
  }

  const Circulant& graph_;
  std::span<int> blocks_;
  int end_;
  int base_;
  int round_ = 0;
  std::int64_t top_;
  std::int64_t last_;  // targets descend strictly
  std::uint32_t free_;
};

}  // namespace

Circulant::Circulant(int ranks) : ranks_(ranks) {
  if (ranks < 1 || ranks > kMostRanks) {
    throw std::invalid_argument("circulant graph: " + std::to_string(ranks) + " ranks; 1 to " +
                                std::to_string(kMostRanks) + " would work");
  }
  rounds_ = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  int skip = ranks;
  for (int k = rounds_; k >= 0; --k) {
    skips_[static_cast<std::size_t>(k)] = skip;
    skip = (skip + 1) / 2;
  }
}

int Circulant::baseblock(int r) const {
  if (r == 0) return rounds_;
  int k = rounds_ - 1;
  while (r != skip(k)) {
    if (skip(k) < r) r -= skip(k);
    --k;
  }
  return k;
}

void Circulant::receive(int r, std::span<int> blocks) const { ReceiveSearch(*this, r, blocks); }

Circulant::Blocks Circulant::receive(int r) const {
  Blocks blocks{};
  receive(r, std::span(blocks).first(static_cast<std::size_t>(rounds_)));
  return blocks;
}

Circulant::Blocks Circulant::send(int r) const {
  Blocks blocks{};
  if (r == 0) {
    for (int k = 0; k < rounds_; ++k) blocks[static_cast<std::size_t>(k)] = k;
    return blocks;
  }
  // r is followed down the halving of the ranks: x within a range of e of them, all of which get block c in the same
  // way, except at the range's ends; there the receiver's schedule is looked up (at most four times).
  const int base = baseblock(r);
  int x = r;
  int c = base;
  int e = ranks_;
  for (int k = rounds_ - 1; k >= 1; --k) {
    bool known = false;
    if (x < skip(k)) {
      known = x + skip(k) < e || e < skip(k - 1) || (k == 1 && base > 0);
      e = std::min(e, skip(k));
    } else {
      c = k - rounds_;
      known = k == 1 || x > skip(k) || e - skip(k) < skip(k - 1);
      e -= skip(k);
      x -= skip(k);
    }
    const auto at = static_cast<std::size_t>(k);
    if (known) {
      blocks[at] = c;
    } else {
      Blocks theirs;
      receive(to(r, k), std::span(theirs).first(at + 1));
      blocks[at] = theirs[at];
    }
  }
  blocks[0] = base - rounds_;
  return blocks;
}

}  // namespace papfft::comm
