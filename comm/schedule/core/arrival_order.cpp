// SPDX-License-Identifier: MIT
#include "comm/schedule/core/arrival_order.hpp"

#include <algorithm>
#include <numeric>

#include "comm/schedule/core/index.hpp"

namespace papfft::comm {

namespace {

unsigned bit_reversed(unsigned v, int bits) {
  unsigned result = 0;
  for (int k = 0; k < bits; ++k) result |= (v >> k & 1U) << (bits - 1 - k);
  return result;
}

}  // namespace

std::vector<Rank> arrival_order(int ranks, Rank root, std::span<const std::int64_t> arrival_ns,
                                ArrivalOrder order) {
  std::vector<Rank> result(idx(ranks));
  std::iota(result.begin(), result.end(), 0);
  std::rotate(result.begin(), result.begin() + root, result.begin() + root + 1);  // the others stay ascending
  if (!arrival_ns.empty()) {
    std::stable_sort(result.begin() + 1, result.end(), [&](Rank a, Rank b) {
      const std::int64_t at_a = arrival_ns[idx(a)];
      const std::int64_t at_b = arrival_ns[idx(b)];
      return order == ArrivalOrder::earliest_first ? at_a < at_b : at_b < at_a;
    });
  }
  return result;
}

Rank latest_rank(std::span<const std::int64_t> arrival_ns) {
  return arrival_ns.empty() ? 0
                            : static_cast<Rank>(std::ranges::max_element(arrival_ns) - arrival_ns.begin());
}

std::vector<int> JoiningTree::children(int x) const {
  std::vector<int> result;
  for (int step = x == 0 ? 1 : 2 * highest_bit(x); x + step < size; step *= 2) result.push_back(x + step);
  return result;
}

std::vector<int> JoiningTree::slot_order() const {
  const int bits = rounds();
  std::vector<int> result;
  for (unsigned v = 0; v < 1U << bits; ++v) {
    const int x = static_cast<int>(bit_reversed(v, bits));
    if (x < size) result.push_back(x);
  }
  return result;
}

JoiningPart joining_part(const std::vector<Rank>& order, int segments, Rank rank) {
  const JoiningTree tree{static_cast<int>(order.size())};
  const std::vector<int> positions = tree.slot_order();
  std::vector<int> place(positions.size());  // position -> where its block is
  for (std::size_t i = 0; i < positions.size(); ++i) place[idx(positions[i])] = static_cast<int>(i);
  const auto slots = [&](int x) {
    return BlockRange{place[idx(x)] * segments, (place[idx(x)] + tree.subtree_size(x)) * segments};
  };
  const int x = static_cast<int>(std::ranges::find(order, rank) - order.begin());
  JoiningPart part;
  for (const int position : positions) part.holder.push_back(order[idx(position)]);
  for (const int child : tree.children(x)) {
    part.children.push_back({order[idx(child)], tree.round_of(child), slots(child)});
  }
  if (x > 0) part.parent = order[idx(tree.parent(x))];
  if (x > 0) part.round = tree.round_of(x);
  part.rounds = tree.rounds();
  part.slots = slots(x);
  return part;
}

}  // namespace papfft::comm
