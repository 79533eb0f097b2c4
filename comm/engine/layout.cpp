// SPDX-License-Identifier: MIT
#include "comm/engine/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "comm/schedule/core/contract.hpp"

namespace papfft::comm {

Head head_for(Segmentation segmentation, std::size_t head_bytes) {
  switch (segmentation) {
    case Segmentation::head_and_rest:
      return {.bytes = head_bytes};
    case Segmentation::short_or_long:
      return {.bytes = head_bytes, .of_short_only = true};
    case Segmentation::whole:
    case Segmentation::even:
    case Segmentation::chunks:
      break;
  }
  return {};
}

std::vector<std::size_t> cut(std::size_t bytes, int segments, std::size_t element_bytes, Head head_wanted) {
  if (element_bytes == 0 || bytes % element_bytes != 0) {
    throw std::invalid_argument("cut: " + std::to_string(bytes) +
                                " bytes are no whole number of elements of " + std::to_string(element_bytes));
  }
  const std::size_t elements = bytes / element_bytes;
  const auto parts = static_cast<std::size_t>(segments);
  std::vector<std::size_t> cuts(parts + 1, 0);
  std::size_t head = 0;
  std::size_t first = 0;
  if (head_wanted.bytes > 0 && parts > 1) {
    head = std::min(elements, std::max<std::size_t>(1, head_wanted.bytes / element_bytes));
    if (head_wanted.of_short_only && bytes > head_wanted.bytes) head = 0;
    first = 1;
  }
  for (std::size_t s = first; s <= parts; ++s) {
    // Without overflow: elements * s could exceed 64 bits only beyond 2^64 / segments.
    const std::size_t k = s - first;
    const std::size_t rest = elements - head;
    const std::size_t share = parts - first;
    cuts[s] = (head + rest / share * k + rest % share * k / share) * element_bytes;
  }
  return cuts;
}

namespace {

/// nullptr where the caller has given no buffer (yet).
template <typename Byte>
Byte* place(std::span<Byte> buffer, std::size_t offset, std::size_t bytes) {
  if (buffer.data() == nullptr) return nullptr;
  if (offset + bytes > buffer.size()) throw std::invalid_argument("make_layout: a buffer is too small");
  return buffer.data() + offset;
}

}  // namespace

Layout make_layout(const Shape& shape, Rank rank, std::span<const std::size_t> whole_offsets,
                   std::size_t element_bytes, Head head, std::span<const std::byte> send,
                   std::span<std::byte> recv) {
  const auto slots = static_cast<std::size_t>(shape.slots());
  Layout layout{std::vector<std::size_t>(slots), std::vector<const std::byte*>(slots),
                std::vector<std::byte*>(slots), send.data(), recv.data()};
  const int parts = shape.parts();
  if (whole_offsets.size() != static_cast<std::size_t>(parts) + 1) {
    throw std::invalid_argument("make_layout: one offset per block and the end are needed");
  }
  // A side has the whole vector if it holds blocks of more than itself there.
  const auto has_whole = [&](auto held) {
    if (!shape.per_rank() || shape.per_pair()) return true;
    const Rank other = rank == 0 ? shape.ranks - 1 : 0;
    return other != rank && held(shape, rank, other * shape.segments) != Held::nothing;
  };
  const bool whole_in = has_whole(held_before);
  const bool whole_out = has_whole(held_after);
  for (int position = 0; position < parts; ++position) {
    const bool comes = position >= shape.ranks;  // a block of a pair that this rank gets
    const Rank other = shape.per_rank() ? shape.holder_of(position % shape.ranks) : 0;
    const int wanted = other + (comes ? shape.ranks : 0);
    const auto part = static_cast<std::size_t>(wanted);
    const std::size_t begin =
        whole_offsets[part] - (comes ? whole_offsets[static_cast<std::size_t>(shape.ranks)] : 0);
    const std::size_t bytes = whole_offsets[part + 1] - whole_offsets[part];
    const std::vector<std::size_t> cuts = cut(bytes, shape.segments, element_bytes, head);
    for (int s = 0; s < shape.segments; ++s) {
      const int index = position * shape.segments + s;
      const auto slot = static_cast<std::size_t>(index);
      const int block = shape.block_of(rank, index);
      const std::size_t offset = cuts[static_cast<std::size_t>(s)];
      layout.bytes[slot] = cuts[static_cast<std::size_t>(s) + 1] - offset;
      if (!comes && held_before(shape, rank, block) != Held::nothing) {
        layout.input[slot] = place(send, (whole_in ? begin : 0) + offset, layout.bytes[slot]);
      }
      if (comes == shape.per_pair() && held_after(shape, rank, block) != Held::nothing) {
        layout.output[slot] = place(recv, (whole_out ? begin : 0) + offset, layout.bytes[slot]);
      }
    }
  }
  for (int position = 0; shape.per_pair() && position < shape.ranks; ++position) {
    if (shape.holder_of(position) != rank) continue;  // what a rank has for itself, it has got
    const std::ptrdiff_t segments = shape.segments;
    const auto has = layout.input.begin() + position * segments;
    std::copy_n(has, segments, has + shape.ranks * segments);
  }
  for (std::size_t i = 0; i < shape.scratch.size(); ++i) {
    layout.bytes[static_cast<std::size_t>(shape.blocks()) + i] =
        layout.bytes[static_cast<std::size_t>(shape.scratch[i])];
  }
  return layout;
}

void Layout::move_to(const std::byte* new_send, std::byte* new_recv) {
  if (new_send != send) {
    for (const std::byte*& at : input) at = at == nullptr ? nullptr : new_send + (at - send);
  }
  if (new_recv != recv) {
    for (std::byte*& at : output) at = at == nullptr ? nullptr : new_recv + (at - recv);
  }
  send = new_send;
  recv = new_recv;
}

}  // namespace papfft::comm
