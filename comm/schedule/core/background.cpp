// SPDX-License-Identifier: MIT
#include "comm/schedule/core/background.hpp"

#include <algorithm>

#include "comm/schedule/core/contract.hpp"

namespace papfft::comm {

std::vector<bool> needs_arrival(const Shape& shape, Rank rank, const Program& program) {
  std::vector<int> named;  // slots, ascending: any range that an op names is contiguous here too
  for (const Op& op : program.ops()) {
    for (int k = 0; k < op.blocks.count(); ++k) {
      named.push_back(op.blocks.first + k);
      if (is_local(op.kind)) named.push_back(op.from + k);
    }
  }
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  std::vector<bool> input(named.size());  // the slot still holds what the caller gave
  for (std::size_t i = 0; i < named.size(); ++i) {
    input[i] = named[i] < shape.blocks() &&
               held_before(shape, rank, shape.block_of(rank, named[i])) != Held::nothing;
  }
  std::vector<bool> needs(static_cast<std::size_t>(program.size()));
  for (int i = 0; i < program.size(); ++i) {
    const Op& op = program[i];
    const auto at = [&](int slot) {
      return input.begin() + (std::ranges::lower_bound(named, slot) - named.begin());
    };
    const auto reads_input = [&](int first) {
      return std::find(at(first), at(first) + op.blocks.count(), true) != at(first) + op.blocks.count();
    };
    bool need = std::ranges::any_of(program.after(i),
                                    [&](int before) { return needs[static_cast<std::size_t>(before)]; });
    need = need || op.announces;
    if (is_local(op.kind)) need = need || reads_input(op.from);
    if (op.kind == OpKind::send || combines(op.kind)) need = need || reads_input(op.blocks.first);
    if (op.kind == OpKind::recv || op.kind == OpKind::copy) {
      std::fill_n(at(op.blocks.first), op.blocks.count(), false);
    }
    needs[static_cast<std::size_t>(i)] = need;
  }
  return needs;
}

}  // namespace papfft::comm
