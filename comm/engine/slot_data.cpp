// SPDX-License-Identifier: MIT
#include "comm/engine/slot_data.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

#include "comm/schedule/core/index.hpp"

namespace papfft::comm {

SlotData::SlotData(const Program& program, const SlotSizes& sizes, Layout layout, const Reducer* reducer)
    : program_(program),
      layout_(std::move(layout)),
      reducer_(reducer),
      messages_(idx(program.size())),
      slots_(layout_.bytes.size()),
      uses_(layout_.bytes.size()) {
  for (std::size_t s = 0; s < slots_.size(); ++s) slots_[s].at = input(s);
  for (int i = 0; i < program.size(); ++i) {
    if (combines(program[i].kind) && reducer == nullptr) {
      throw std::invalid_argument("execution: a reduction needs an operation");
    }
    messages_[idx(i)].bytes = static_cast<std::size_t>(sizes.of(program[i].blocks));
    note_uses(i);
  }
  find_overlap();
}

void SlotData::find_overlap() {
  if (reducer_ == nullptr) return;
  using Byte = const std::byte*;
  const auto span_of = [&](const auto& place_of) {
    std::pair<Byte, Byte> span;  // none: empty
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const Byte begin = place_of(s);
      if (begin == nullptr) continue;
      const Byte end = begin + layout_.bytes[s];
      if (span.first == nullptr || std::less<>{}(begin, span.first)) span.first = begin;
      if (span.second == nullptr || std::less<>{}(span.second, end)) span.second = end;
    }
    return span;
  };
  const auto in = span_of([&](std::size_t s) { return input(s); });
  const auto out = span_of([&](std::size_t s) { return output(s); });
  is_in_place_ = std::less<>{}(in.first, out.second) && std::less<>{}(out.first, in.second);
}

void SlotData::note_uses(int i) {
  const Op& op = program_[i];
  for (int s = op.blocks.first; s < op.blocks.last; ++s) {
    Uses& target = uses_[idx(s)];
    Uses& source = is_local(op.kind) ? uses_[idx(op.from + s - op.blocks.first)] : target;
    if (op.kind != OpKind::send) {
      if (target.first_writer < 0) target.first_writer = i;
      target.last_writer = i;
    }
    target.last = source.last = i;
    if (is_local(op.kind) || op.kind == OpKind::send) ++source.readers;
  }
}

SlotData::Bytes SlotData::allocate(std::size_t bytes) {
  const auto fits = [&](const Spare& s) { return s.bytes == bytes && s.buffer.use_count() == 1; };
  if (const auto found = std::ranges::find_if(spare_, fits); found != spare_.end()) return found->buffer;
  if (fits(long_spare_)) return long_spare_.buffer;
  Bytes made = std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1));
  if (bytes > kLongestKept) {
    long_spare_ = {bytes, made};
  } else if (spare_.size() < kMostSpare) {
    spare_.push_back({bytes, made});
  } else if (const auto unused =
                 std::ranges::find_if(spare_, [](const Spare& s) { return s.buffer.use_count() == 1; });
             unused != spare_.end()) {
    *unused = {bytes, made};
  }
  return made;
}

std::span<const std::byte> SlotData::to_send(int i) {
  const Op& op = program_[i];
  Message& message = messages_[idx(i)];
  if (message.bytes == 0) return {};
  const Slot& first = slots_[first_filled(op)];
  // Staged values are kept until they have left, whatever becomes of their slots (see bind).
  message.buffer = first.owner;
  if (is_contiguous(op.blocks, [&](std::size_t s) { return slots_[s].at; }) &&
      have_one_owner(op.blocks, message.buffer)) {
    return {first.at, message.bytes};
  }
  message.buffer = allocate(message.bytes);
  std::byte* to = message.buffer.get();
  for (int s = op.blocks.first; s < op.blocks.last; ++s) {
    to = std::copy_n(slots_[idx(s)].at, layout_.bytes[idx(s)], to);
  }
  return {message.buffer.get(), message.bytes};
}

std::span<std::byte> SlotData::to_receive(int i) {
  const Op& op = program_[i];
  Message& message = messages_[idx(i)];
  if (lands_in_output(i)) {
    message.landing = message.bytes == 0 ? nullptr : layout_.output[first_filled(op)];
  } else {
    message.buffer = allocate(message.bytes);
    message.landing = message.buffer.get();
    staged_ += message.bytes;
  }
  return {message.landing, message.bytes};
}

void SlotData::begin_pieces(int i, bool now) {
  Message& message = messages_[idx(i)];
  if (!now) {
    (void)to_receive(i);
    return;
  }
  message.is_combined = true;
  sums_.resize(slots_.size());
  const Op& op = program_[i];
  std::size_t at = 0;
  for (int s = op.blocks.first; s < op.blocks.last; ++s) {
    const bool has_place = output(idx(s)) != nullptr || slots_[idx(s)].owner != nullptr;
    if (!has_place && message.buffer == nullptr) {
      message.buffer = allocate(message.bytes);
      message.landing = message.buffer.get();
      staged_ += message.bytes;
    }
    sums_[idx(s)] = sum_of(i, idx(s), 0, has_place ? nullptr : message.landing + at);
    at += layout_.bytes[idx(s)];
  }
}

void SlotData::take(int i, std::size_t offset, std::span<const std::byte> piece) {
  const Message& message = messages_[idx(i)];
  if (!message.is_combined) {
    std::ranges::copy(piece, message.landing + offset);
    return;
  }
  const Op& op = program_[i];
  std::size_t begin = 0;  // of slot s in the message
  for (int s = op.blocks.first; s < op.blocks.last && begin < offset + piece.size(); ++s) {
    const std::size_t end = begin + layout_.bytes[idx(s)];
    const std::size_t from = std::max(begin, offset);
    const std::size_t to = std::min(end, offset + piece.size());
    if (from < to) {
      const std::byte* incoming = piece.data() + (from - offset);
      const std::byte* held = slots_[idx(s)].at + (from - begin);
      auto* out = const_cast<std::byte*>(sums_[idx(s)].at) + (from - begin);
      reducer_->combine(op.incoming_first ? incoming : held, op.incoming_first ? held : incoming, out,
                        to - from);
    }
    begin = end;
  }
}

/// What is to be combined may wait for that in the caller's output, if nothing is put there before: the sum needs no other place.
bool SlotData::lands_in_output(int i) const {
  const Op& op = program_[i];
  if (op.kind == OpKind::recv_combine) {
    if (is_in_place_ || joins_as_it_comes(op)) return false;
    for (int s = op.blocks.first; s < op.blocks.last; ++s) {
      if (layout_.bytes[idx(s)] > 0 && uses_[idx(s)].first_writer != i) return false;
    }
  }
  return is_contiguous(op.blocks, [&](std::size_t s) { return static_cast<const std::byte*>(output(s)); });
}

/// Empty slots need not be anywhere.
template <typename Where>
bool SlotData::is_contiguous(BlockRange range, Where where) const {
  const std::byte* expected = nullptr;
  for (int s = range.first; s < range.last; ++s) {
    if (layout_.bytes[idx(s)] == 0) continue;
    const std::byte* at = where(idx(s));
    if (at == nullptr || (expected != nullptr && at != expected)) return false;
    expected = at + layout_.bytes[idx(s)];
  }
  return true;
}

bool SlotData::have_one_owner(BlockRange range, const Bytes& owner) const {
  for (int s = range.first; s < range.last; ++s) {
    if (layout_.bytes[idx(s)] > 0 && slots_[idx(s)].owner != owner) return false;
  }
  return true;
}

/// Of an op with data, its first slot that has some.
std::size_t SlotData::first_filled(const Op& op) const {
  auto s = idx(op.blocks.first);
  while (layout_.bytes[s] == 0) ++s;
  return s;
}

void SlotData::apply(int i) {
  const Op& op = program_[i];
  Message& message = messages_[idx(i)];
  const std::byte* incoming = message.landing;
  if (std::exchange(message.is_combined, false)) {
    for (int s = op.blocks.first; s < op.blocks.last; ++s) slots_[idx(s)] = std::move(sums_[idx(s)]);
    message.buffer.reset();
    return;
  }
  for (int k = 0; k < op.blocks.count() && op.kind != OpKind::send; ++k) {
    const auto s = idx(op.blocks.first + k);
    if (op.kind == OpKind::combine) incoming = slots_[idx(op.from + k)].at;
    switch (op.kind) {
      case OpKind::recv:
        slots_[s] = {incoming, message.buffer};
        break;
      case OpKind::copy:
        copy(s, idx(op.from + k));
        break;
      default:
        combine(i, s, idx(op.from + k), incoming);
    }
    if (!is_local(op.kind)) incoming += layout_.bytes[s];
  }
  message.buffer.reset();
}

/// Without a reduction nothing overwrites what is staged, nor the caller's input: two slots may share it.
void SlotData::copy(std::size_t s, std::size_t source) {
  const Slot& from = slots_[source];
  std::byte* to = output(s);
  const bool stays = from.owner != nullptr || from.at == input(source);
  if (to == nullptr && reducer_ == nullptr && stays) {
    slots_[s] = from;
    return;
  }
  Bytes owner;
  if (to == nullptr) {
    owner = allocate(layout_.bytes[s]);
    to = owner.get();
  }
  std::copy_n(from.at, layout_.bytes[s], to);
  slots_[s] = {to, std::move(owner)};
}

/// Where a sum goes: where the result is wanted, else over what is staged already, so that it needs no place of its own.
/// @param source  of a local op @param landing  of a message's bytes for this slot, which the sum may replace
SlotData::Slot SlotData::sum_of(int i, std::size_t s, std::size_t source, const std::byte* landing) {
  if (output(s) != nullptr) return {output(s), nullptr};
  if (slots_[s].owner != nullptr) return slots_[s];
  if (program_[i].kind == OpKind::recv_combine) return {landing, messages_[idx(i)].buffer};
  const bool is_last_reader = uses_[source].last == i && uses_[source].readers == 1;
  if (slots_[source].owner != nullptr && is_last_reader) return slots_[source];
  Bytes made = allocate(layout_.bytes[s]);
  return {made.get(), made};
}

/// @param source  of a local op
void SlotData::combine(int i, std::size_t s, std::size_t source, const std::byte* incoming) {
  const Op& op = program_[i];
  if (joins_as_it_comes(op) && slots_[s].at == nullptr) {  // the first that comes
    slots_[s] = {incoming, messages_[idx(i)].buffer};
    return;
  }
  Slot sum = sum_of(i, s, source, incoming);
  const std::byte* left = op.incoming_first ? incoming : slots_[s].at;
  const std::byte* right = op.incoming_first ? slots_[s].at : incoming;
  // What is no output is staging of ours.
  if (layout_.bytes[s] > 0) reducer_->combine(left, right, const_cast<std::byte*>(sum.at), layout_.bytes[s]);
  slots_[s] = std::move(sum);
}

void SlotData::bind(Layout where, const Progress& progress) {
  if (where.input.size() != slots_.size() || where.output.size() != slots_.size()) {
    throw std::invalid_argument("execution: the buffers have not one entry per slot");
  }
  layout_ = std::move(where);
  place_values(progress);
}

void SlotData::bind(const std::byte* send, std::byte* recv, const Progress& progress) {
  layout_.move_to(send, recv);
  has_input_ = has_output_ = true;
  place_values(progress);
}

/// What came before the buffers were known.
void SlotData::place_values(const Progress& progress) {
  find_overlap();
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].at == nullptr) slots_[s].at = input(s);
    const int writer = uses_[s].last_writer;
    const bool is_final = writer >= 0 && progress.phase(writer) == Progress::Phase::ended;
    if (is_final && slots_[s].owner != nullptr && output(s) != nullptr) {
      std::copy_n(slots_[s].at, layout_.bytes[s], output(s));
      slots_[s] = {output(s), nullptr};
    }
  }
}

void SlotData::deliver() {
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (output(s) != nullptr && output(s) != slots_[s].at && layout_.bytes[s] > 0) {
      std::memmove(output(s), slots_[s].at, layout_.bytes[s]);
    }
  }
  long_spare_ = {};
}

void SlotData::restart(const std::byte* send, std::byte* recv, const Reducer* reducer) {
  const bool moves =
      send != (has_input_ ? layout_.send : nullptr) || recv != (has_output_ ? layout_.recv : nullptr);
  layout_.move_to(send != nullptr ? send : layout_.send, recv != nullptr ? recv : layout_.recv);
  has_input_ = send != nullptr;
  has_output_ = recv != nullptr;
  reducer_ = reducer;
  if (moves) find_overlap();
  staged_ = 0;
  for (Message& message : messages_) message = {.bytes = message.bytes};
  for (std::size_t s = 0; s < slots_.size(); ++s) slots_[s] = {input(s), nullptr};
}

}  // namespace papfft::comm
