// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>

#include "comm/schedule/core/builder.hpp"

namespace papfft::comm {

enum class RingKind : std::uint8_t { allgather, reduce_scatter };

/// The ring r -> r+1 of p ranks, each block in `segments` slots (block b at b * segments), p-1 steps.
///
/// Allgather: blocks go around. In step t rank r sends block r-t and gets block r-t-1; in the end everybody has all.
/// Reduce-scatter: sums go around. In step t rank r sends its sum of block r-t-1 and adds what it gets to block r-t-2; in the
/// end rank r has block r's.
/// @param first_round  for printing
/// @param player       who plays rank r of the ring
template <typename Player = std::identity>
void add_ring(ProgramBuilder& builder, RingKind kind, int p, int rank, int segments, int first_round = 0,
              Player player = {}) {
  const bool reduces = kind == RingKind::reduce_scatter;
  for (int step = 0; step < p - 1; ++step) {
    const int block = rank - step - (reduces ? 1 : 0) + 2 * p;
    for (int s = 0; s < segments; ++s) {
      const int round = first_round + step * segments + s;
      const int outgoing = block % p * segments + s;
      const int incoming = (block - 1) % p * segments + s;
      builder.send(player((rank + 1) % p), {outgoing, outgoing + 1}, round);
      builder.add({.kind = reduces ? OpKind::recv_combine : OpKind::recv,
                   .peer = player((rank - 1 + p) % p),
                   .blocks = {incoming, incoming + 1},
                   .round = round});
    }
  }
}

}  // namespace papfft::comm
