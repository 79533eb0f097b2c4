// SPDX-License-Identifier: MIT
#include "comm/schedule/core/builder.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace papfft::comm {

int ProgramBuilder::add(const Op& op, const std::vector<int>& after) {
  const int index = program_.size();
  needed_.clear();
  std::ranges::copy_if(after, std::back_inserter(needed_), [](int before) { return before >= 0; });
  if (is_local(op.kind)) read({op.from, op.from + op.blocks.count()}, index);
  if (op.kind == OpKind::send) {
    read(op.blocks, index);
  } else if (joins_as_it_comes(op)) {
    join(op.blocks, index);
  } else {
    write(op.blocks, index);
  }
  std::ranges::sort(needed_);
  needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
  return program_.append(op, needed_);
}

/// Those of a range, of which the ones not named before are new.
std::span<ProgramBuilder::Slot> ProgramBuilder::slots(BlockRange range) {
  if (range.count() <= 0) return {};
  if (range.first < 0 || range.last > slot_count_)
    throw std::out_of_range("program: an op names slots that do not exist");
  if (slots_.empty()) first_slot_ = range.first;
  if (range.first < first_slot_) {  // at least twice as many, for those who count down
    const int first = std::max(0, std::min(range.first, first_slot_ - static_cast<int>(slots_.size())));
    slots_.insert(slots_.begin(), static_cast<std::size_t>(first_slot_ - first), Slot{});
    first_slot_ = first;
  }
  const auto first = static_cast<std::size_t>(range.first - first_slot_);
  const auto count = static_cast<std::size_t>(range.count());
  if (slots_.size() < first + count) slots_.resize(first + count);
  return std::span(slots_).subspan(first, count);
}

void ProgramBuilder::read(BlockRange range, int index) {
  for (Slot& state : slots(range)) {
    if (state.writer >= 0) needed_.push_back(state.writer);
    needed_.insert(needed_.end(), state.joined.begin(), state.joined.end());
    state.readers.push_back(index);
  }
}

void ProgramBuilder::join(BlockRange range, int index) {
  for (Slot& state : slots(range)) {
    if (state.writer >= 0) needed_.push_back(state.writer);
    needed_.insert(needed_.end(), state.readers.begin(), state.readers.end());
    state.joined.push_back(index);
  }
}

void ProgramBuilder::write(BlockRange range, int index) {
  for (Slot& state : slots(range)) {
    if (state.writer >= 0) needed_.push_back(state.writer);
    for (const int reader : state.readers) {
      if (reader != index) needed_.push_back(reader);
    }
    needed_.insert(needed_.end(), state.joined.begin(), state.joined.end());
    state.readers.clear();
    state.joined.clear();
    state.writer = index;
  }
}

}  // namespace papfft::comm
