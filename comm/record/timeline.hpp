// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/record/arrival_trace.hpp"

namespace papfft::comm {

/// Something that one rank did beside its collective calls, or within them. Times in ns.
struct TimelineEvent {
  enum class Kind : std::uint8_t { span, instant, send, receive };
  Kind kind = Kind::span;
  std::string name;  ///< of spans and instants
  int peer = -1;     ///< of messages
  int tag = 0;       ///< of messages: as MessageRecord
  std::uint64_t bytes = 0;
  bool early = false;  ///< of messages: before the rank came to the call
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// All that was recorded of a job, on one clock; its zero is that of the clock.
struct Timeline {
  ArrivalRecording calls;
  std::vector<std::vector<TimelineEvent>> events;  ///< per rank, in the order of their ends
  std::uint64_t dropped_events = 0;
};

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
[[nodiscard]] std::vector<MessageEnds> match_messages(const std::vector<std::vector<TimelineEvent>>& events);

/// Puts intervals into lanes such that none overlap within one: each into the first lane that is free.
/// @param intervals  sorted by begin. @return the lane of each, from 0
[[nodiscard]] std::vector<int> assign_lanes(const std::vector<Interval>& intervals);

}  // namespace papfft::comm
