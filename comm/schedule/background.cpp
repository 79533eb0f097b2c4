// SPDX-License-Identifier: MIT
#include "comm/schedule/background.hpp"

#include <algorithm>

#include "comm/schedule/contract.hpp"

namespace papfft::comm {

std::vector<bool> needs_arrival(const RankSchedule& part) {
  const Shape& shape = part.shape;
  std::vector<bool> input(
      static_cast<std::size_t>(shape.slots()));  // the slot still holds what the caller gave
  for (int slot = 0; slot < shape.blocks(); ++slot) {
    input[static_cast<std::size_t>(slot)] =
        held_before(shape, part.rank, shape.block_of(slot)) != Held::nothing;
  }
  std::vector<bool> needs(static_cast<std::size_t>(part.program.size()));
  for (int i = 0; i < part.program.size(); ++i) {
    const Op& op = part.program[i];
    const auto reads_input = [&](int first) {
      const auto begin = input.begin() + first;
      return std::find(begin, begin + op.blocks.count(), true) != begin + op.blocks.count();
    };
    bool need = std::ranges::any_of(part.program.after(i),
                                    [&](int before) { return needs[static_cast<std::size_t>(before)]; });
    need = need || op.announces;
    if (is_local(op.kind)) need = need || reads_input(op.from);
    if (op.kind == OpKind::send || combines(op.kind)) need = need || reads_input(op.blocks.first);
    if (op.kind == OpKind::recv || op.kind == OpKind::copy) {
      std::fill_n(input.begin() + op.blocks.first, op.blocks.count(), false);
    }
    needs[static_cast<std::size_t>(i)] = need;
  }
  return needs;
}

}  // namespace papfft::comm
