// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "papfft/recording.hpp"

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

}  // namespace papfft::comm
