// SPDX-License-Identifier: MIT
#include "comm/schedule/builder.hpp"

#include <algorithm>
#include <iterator>

namespace papfft::comm {

int ProgramBuilder::send(Rank peer, BlockRange blocks, int round, const std::vector<int>& after) {
  return add({.kind = OpKind::send, .peer = peer, .blocks = blocks, .round = round}, after);
}
int ProgramBuilder::recv(Rank peer, BlockRange blocks, int round, const std::vector<int>& after) {
  return add({.kind = OpKind::recv, .peer = peer, .blocks = blocks, .round = round}, after);
}
int ProgramBuilder::recv_combine(Rank peer, BlockRange blocks, int round, const std::vector<int>& after) {
  return add({.kind = OpKind::recv_combine, .peer = peer, .blocks = blocks, .round = round}, after);
}
int ProgramBuilder::copy(int from, BlockRange to, int round, const std::vector<int>& after) {
  return add({.kind = OpKind::copy, .blocks = to, .from = from, .round = round}, after);
}
int ProgramBuilder::combine(int from, BlockRange to, int round, const std::vector<int>& after) {
  return add({.kind = OpKind::combine, .blocks = to, .from = from, .round = round}, after);
}

int ProgramBuilder::add(const Op& op, const std::vector<int>& after) {
  const int index = program_.size();
  needed_.clear();
  std::ranges::copy_if(after, std::back_inserter(needed_), [](int before) { return before >= 0; });
  if (is_local(op.kind)) read({op.from, op.from + op.blocks.count()}, index);
  if (op.kind == OpKind::send) {
    read(op.blocks, index);
  } else {
    write(op.blocks, index);
  }
  std::ranges::sort(needed_);
  needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
  return program_.append(op, needed_);
}

void ProgramBuilder::read(BlockRange range, int index) {
  for (int slot = range.first; slot < range.last; ++slot) {
    Slot& state = slots_.at(static_cast<std::size_t>(slot));
    if (state.writer >= 0) needed_.push_back(state.writer);
    state.readers.push_back(index);
  }
}

void ProgramBuilder::write(BlockRange range, int index) {
  for (int slot = range.first; slot < range.last; ++slot) {
    Slot& state = slots_.at(static_cast<std::size_t>(slot));
    if (state.writer >= 0) needed_.push_back(state.writer);
    for (const int reader : state.readers) {
      if (reader != index) needed_.push_back(reader);
    }
    state.readers.clear();
    state.writer = index;
  }
}

}  // namespace papfft::comm
