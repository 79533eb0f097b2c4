// SPDX-License-Identifier: MIT
#include "comm/predict/pure/timeline.hpp"

#include <algorithm>

namespace papfft::comm {

std::vector<int> assign_lanes(const std::vector<Interval>& intervals) {
  std::vector<std::int64_t> free_from_ns;  // per lane
  std::vector<int> lanes;
  lanes.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    auto lane = std::ranges::find_if(free_from_ns, [&](std::int64_t ns) { return ns <= interval.begin_ns; });
    if (lane == free_from_ns.end()) lane = free_from_ns.insert(lane, 0);
    *lane = interval.end_ns;
    lanes.push_back(static_cast<int>(lane - free_from_ns.begin()));
  }
  return lanes;
}

}  // namespace papfft::comm
