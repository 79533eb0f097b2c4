// SPDX-License-Identifier: MIT
#include "comm/transport/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <thread>

namespace papfft::comm {

Cores own_cores() {
  Cores cores{};
  const auto add = [&](std::size_t core) { cores.at(core / 64) |= std::uint64_t{1} << core % 64; };
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t core = 0; core < std::min<std::size_t>(CPU_SETSIZE, 64 * cores.size()); ++core) {
      if (CPU_ISSET(core, &set)) add(core);
    }
  }
  if (count(cores) > 0) return cores;
  // The kernel knows more cores than fit: as many as there are, by any numbers.
  const std::size_t all = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 64 * cores.size());
  for (std::size_t core = 0; core < all; ++core) add(core);
  return cores;
}

int count(const Cores& cores) {
  int sum = 0;
  for (const std::uint64_t word : cores) sum += std::popcount(word);
  return sum;
}

}  // namespace papfft::comm
