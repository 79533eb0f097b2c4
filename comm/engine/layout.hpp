// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Where a rank's slots live. All three have Shape::slots() entries.
struct Layout {
  std::vector<std::size_t> bytes;       ///< size of each slot; the same on all ranks
  std::vector<const std::byte*> input;  ///< the caller's data, or nullptr; never written to
  std::vector<std::byte*> output;       ///< where the result is wanted, or nullptr
  const std::byte* send = nullptr;      ///< the buffers that these point into, if there is one each
  std::byte* recv = nullptr;

  /// The same places in other buffers of the same sizes.
  void move_to(const std::byte* new_send, std::byte* new_recv);
};

/// The first segment of a block, where that is not one of equal ones.
struct Head {
  std::size_t bytes = 0;       ///< its size; 0: all segments are equal
  bool of_short_only = false;  ///< only blocks of up to so many bytes have one
};

/// The head of the blocks that an algorithm's calls cut. @param head_bytes  Options::head_bytes
[[nodiscard]] Head head_for(Segmentation segmentation, std::size_t head_bytes);

/// How an even vector of `bytes` is cut into `segments`: segment s is [cuts[s], cuts[s+1]), in whole elements.
/// @param head  of several segments the first is this, and the others share the rest
/// @return segments + 1 offsets, from 0 to bytes. @throws std::invalid_argument unless element_bytes divides bytes.
[[nodiscard]] std::vector<std::size_t> cut(std::size_t bytes, int segments, std::size_t element_bytes,
                                           Head head = {});

/// The layout for an operation on contiguous buffers.
///
/// Per-rank operations: the whole vector is P blocks, block r at whole_offsets[r] .. whole_offsets[r+1]; each is cut
/// into segments by itself. Operations per pair of ranks: 2P blocks, first those that the rank has for others, in `send`, then those
/// that it gets, in `recv`; the offsets of these go on where the others end. Vector operations: the one block is
/// whole_offsets = {0, bytes}.
///
/// @param send, recv  this rank's buffers as in MPI: the whole vector where the operation's side has it, else one
///                    block (or nothing, where MPI ignores the argument, or where only the sizes are wanted). They may
///                    be the same memory (in place).
/// @param head        see cut().
[[nodiscard]] Layout make_layout(const Shape& shape, Rank rank, std::span<const std::size_t> whole_offsets,
                                 std::size_t element_bytes, Head head, std::span<const std::byte> send,
                                 std::span<std::byte> recv);

}  // namespace papfft::comm
