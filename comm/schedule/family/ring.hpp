// SPDX-License-Identifier: MIT
#pragma once
#include "comm/schedule/core/builder.hpp"

namespace papfft::comm {

/// Blocks go around the ring r -> r+1, each in `segments` slots (block b at b * segments): in step t rank r sends block r-t
/// and gets block r-t-1. After p-1 steps everybody has all. @param first_round  for printing
inline void add_ring_allgather(ProgramBuilder& builder, int p, Rank rank, int segments, int first_round = 0) {
  for (int step = 0; step < p - 1; ++step) {
    const int outgoing = (rank - step + p) % p * segments;
    const int incoming = (rank - step - 1 + p) % p * segments;
    for (int s = 0; s < segments; ++s) {
      const int round = first_round + step * segments + s;
      builder.send((rank + 1) % p, {outgoing + s, outgoing + s + 1}, round);
      builder.recv((rank - 1 + p) % p, {incoming + s, incoming + s + 1}, round);
    }
  }
}

/// Sums go around the ring r -> r+1: in step t rank r sends its sum of block r-t-1 and adds what it gets to block r-t-2.
/// After p-1 steps rank r has block r's.
inline void add_ring_reduce_scatter(ProgramBuilder& builder, int p, Rank rank, int segments) {
  for (int step = 0; step < p - 1; ++step) {
    const int outgoing = (rank - step - 1 + p) % p * segments;
    const int incoming = (rank - step - 2 + 2 * p) % p * segments;
    for (int s = 0; s < segments; ++s) {
      const int round = step * segments + s;
      builder.send((rank + 1) % p, {outgoing + s, outgoing + s + 1}, round);
      builder.recv_combine((rank - 1 + p) % p, {incoming + s, incoming + s + 1}, round);
    }
  }
}

}  // namespace papfft::comm
