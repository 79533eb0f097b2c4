// SPDX-License-Identifier: MIT
// The messages of one simulated call.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "app/io/json.hpp"
#include "comm/model/simulator.hpp"

namespace papfft::app {

[[nodiscard]] double ns_of(comm::Ticks ticks);

struct SimulatedMessage {
  comm::Rank from = 0;
  comm::Rank to = 0;
  std::int64_t bytes = 0;
  comm::Ticks begin = 0;
  comm::Ticks end = 0;
  comm::Ticks combined = 0;  ///< the receiver has combined it; `end` where there is nothing to combine
  bool critical = false;     ///< on the critical path
};

/// A call's messages, by sender and in the order of its program.
[[nodiscard]] std::vector<SimulatedMessage> messages_of(const comm::Schedule& schedule,
                                                        const comm::Simulation& result,
                                                        std::span<const std::int64_t> slot_bytes);

/// A list for each property of a call's messages, when the ranks came and left, in ns from the first arrival, and the host of each
/// rank.
/// @param host_of_rank  empty: the list is left out
/// @throws UsageError   there are too many messages to look at
[[nodiscard]] io::Json messages_json(const comm::Schedule& schedule, const comm::Simulation& result,
                                     std::span<const std::int64_t> slot_bytes,
                                     std::span<const comm::Ticks> arrivals,
                                     std::span<const int> host_of_rank);

}  // namespace papfft::app
