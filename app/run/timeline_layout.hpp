// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "papfft/timeline.hpp"

namespace papfft::app {

struct Interval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Two events that are the ends of one message.
struct MessageEnds {
  std::size_t sender = 0;
  std::size_t send = 0;  ///< among the sender's events
  std::size_t receiver = 0;
  std::size_t receive = 0;
  friend bool operator==(const MessageEnds&, const MessageEnds&) = default;
};

/// The k-th message with a tag that was handed over to go from one rank to another is the k-th such that the other expected. What
/// has no other end is left out, and what seems to end before it begins (clocks are off by microseconds).
/// @param events  per rank
[[nodiscard]] std::vector<MessageEnds> match_messages(
    const std::vector<std::vector<comm::TimelineEvent>>& events);

/// Puts intervals into lanes such that none overlap within one: each into the first lane that is free.
/// @param intervals  sorted by begin. @return the lane of each, from 0
[[nodiscard]] std::vector<int> assign_lanes(const std::vector<Interval>& intervals);

}  // namespace papfft::app
