// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace papfft::test {

/// {first, first+1, ..., P-1, 0, ...}
inline std::vector<int> rotation(int p, int first) {
  std::vector<int> order(static_cast<std::size_t>(p));
  for (int v = 0; v < p; ++v) order[static_cast<std::size_t>(v)] = (first + v) % p;
  return order;
}

/// A pseudo-random permutation; the seed belongs into the test's trace, so that a failure replays.
inline std::vector<int> shuffled(int p, std::uint32_t seed) {
  auto order = rotation(p, 0);
  std::mt19937 rng(seed);
  std::shuffle(order.begin(), order.end(), rng);
  return order;
}

}  // namespace papfft::test
