// SPDX-License-Identifier: MIT
#include "app/run/timeline_layout.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace papfft::app {

using comm::TimelineEvent;

std::vector<MessageEnds> match_messages(const std::vector<std::vector<TimelineEvent>>& events) {
  struct Ends {
    std::vector<std::size_t> sends;
    std::vector<std::size_t> receives;
  };
  std::map<std::tuple<std::size_t, std::size_t, int>, Ends> messages;  // sender, receiver, tag
  for (std::size_t rank = 0; rank < events.size(); ++rank) {
    for (std::size_t i = 0; i < events[rank].size(); ++i) {
      const TimelineEvent& event = events[rank][i];
      const auto peer = static_cast<std::size_t>(event.peer);
      if (event.kind == TimelineEvent::Kind::send) messages[{rank, peer, event.tag}].sends.push_back(i);
      if (event.kind == TimelineEvent::Kind::receive) messages[{peer, rank, event.tag}].receives.push_back(i);
    }
  }
  std::vector<MessageEnds> matched;
  for (auto& [key, ends] : messages) {
    if (ends.sends.empty() || ends.receives.empty()) continue;  // perhaps there is no such rank
    const auto& [sender, receiver, tag] = key;
    const std::vector<TimelineEvent>& at_sender = events[sender];
    const std::vector<TimelineEvent>& at_receiver = events[receiver];
    std::ranges::stable_sort(ends.sends, {}, [&](std::size_t i) { return at_sender[i].begin_ns; });
    std::ranges::stable_sort(ends.receives, {}, [&](std::size_t i) { return at_receiver[i].begin_ns; });
    for (std::size_t k = 0; k < std::min(ends.sends.size(), ends.receives.size()); ++k) {
      const MessageEnds pair{sender, ends.sends[k], receiver, ends.receives[k]};
      if (at_sender[pair.send].begin_ns < at_receiver[pair.receive].end_ns) matched.push_back(pair);
    }
  }
  return matched;
}

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

}  // namespace papfft::app
