// SPDX-License-Identifier: MIT
// How many rounds of one segment each follow each other, for Algorithm::round_count.
#pragma once
#include <bit>
#include <cstdint>

namespace papfft::comm {

/// The least with which every rank can get, or give, S segments through one port: ceil(log2 P) + S - 1.
inline std::int64_t least_rounds(int ranks, int segments) {
  return ranks == 1 ? 0 : std::int64_t{std::bit_width(static_cast<unsigned>(ranks - 1))} + segments - 1;
}

/// Through a chain of all ranks.
inline std::int64_t chain_rounds(int ranks, int segments) {
  return ranks == 1 ? 0 : std::int64_t{ranks} - 2 + segments;
}

/// Once around a ring of all ranks.
inline std::int64_t ring_rounds(int ranks, int segments) { return (std::int64_t{ranks} - 1) * segments; }

}  // namespace papfft::comm
