// SPDX-License-Identifier: MIT
#include "comm/schedule/core/schedule.hpp"

#include <array>

namespace papfft::comm {

std::string_view to_string(OpKind kind) {
  constexpr std::array<std::string_view, 5> names = {"send", "recv", "recv_combine", "copy", "combine"};
  return names.at(static_cast<std::size_t>(kind));
}

int Program::append(const Op& op, std::span<const int> after) {
  ops_.push_back(op);
  edges_.insert(edges_.end(), after.begin(), after.end());
  edge_end_.push_back(static_cast<int>(edges_.size()));
  return size() - 1;
}

std::span<const int> Program::after(int i) const {
  const auto last = static_cast<std::size_t>(edge_end_[static_cast<std::size_t>(i)]);
  const auto first =
      i == 0 ? std::size_t{0} : static_cast<std::size_t>(edge_end_[static_cast<std::size_t>(i) - 1]);
  return std::span(edges_).subspan(first, last - first);
}

int Shape::block_of(Rank rank, int slot) const {
  if (slot >= blocks()) {
    return per_pair() ? kAnyBlock : block_of(rank, scratch[static_cast<std::size_t>(slot - blocks())]);
  }
  if (!per_rank()) return slot;
  const int part = slot / segments;
  const Rank other = holder_of(part % ranks);
  const int block = !per_pair() ? other : part < ranks ? rank * ranks + other : other * ranks + rank;
  return block * segments + slot % segments;
}

}  // namespace papfft::comm
