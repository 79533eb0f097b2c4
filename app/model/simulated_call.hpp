// SPDX-License-Identifier: MIT
// The messages of one simulated call.
#pragma once
#include <cstdint>
#include <span>

#include "app/io/json.hpp"
#include "comm/model/simulator.hpp"

namespace papfft::app {

[[nodiscard]] double ns_of(comm::Ticks ticks);

/// A call's messages, a list for each of their properties, and when the ranks came and left; in ns from the first arrival.
/// @throws UsageError  they are too many to be looked at
[[nodiscard]] io::Json messages_json(const comm::Schedule& schedule, const comm::Simulation& result,
                                     std::span<const std::int64_t> slot_bytes,
                                     std::span<const comm::Ticks> arrivals);

}  // namespace papfft::app
