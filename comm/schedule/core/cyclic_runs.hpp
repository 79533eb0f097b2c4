// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Calls step(BlockRange) for the contiguous runs of the `count` <= p blocks first, first+1, ... (cyclic among p) that
/// are not in `without`, in that order: at most four. Both ends of a message list them alike.
template <typename Step>
void for_cyclic_runs(int p, int first, int count, BlockRange without, Step step) {
  first %= p;
  const auto outside = [&](BlockRange run) {
    const BlockRange before{run.first, std::min(run.last, without.first)};
    const BlockRange behind{std::max(run.first, without.last), run.last};
    if (without.count() <= 0) {
      if (run.count() > 0) step(run);
      return;
    }
    if (before.count() > 0) step(before);
    if (behind.count() > 0) step(behind);
  };
  outside({first, std::min(p, first + count)});
  outside({0, std::max(0, first + count - p)});
}

template <typename Step>
void for_cyclic_runs(int p, int first, int count, Step step) {
  for_cyclic_runs(p, first, count, {}, step);
}

}  // namespace papfft::comm
