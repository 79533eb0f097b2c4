// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>

#include "papfft/operation.hpp"

namespace papfft::comm {

/// Who uses which tags of a transport, 0 .. max_tag. Nobody else computes a tag, so messages of two users never meet.
///
///     0 .. max_tag/2 - 1                   calls: a range each, in turns (call_tag)
///     max_tag/2 .. max_tag - kServices     messages that follow a header, in turns (follow_tag)
///     max_tag - kServices + 1 .. max_tag   what goes on beside the calls: one tag each (service_tag)
enum class Service : std::int32_t {
  stuck_note,        ///< watchdog: whom a stuck rank waits for
  stuck_verdict,     ///< watchdog: a rank speaks for all
  clock,             ///< clock synchronisation
  arrival_decision,  ///< arrivals as the decider tells them
  arrival_report,    ///< arrivals as a rank predicts its own; must follow arrival_decision
  link,              ///< measurement of a link
  farm_task,
  farm_result,
  farm_word
};
inline constexpr int kServices = static_cast<int>(Service::farm_word) + 1;

[[nodiscard]] constexpr int service_tag(int max_tag, Service service) {
  return max_tag - static_cast<int>(service);
}

/// Of the sender's n-th message that follows a header.
[[nodiscard]] constexpr int follow_tag(int max_tag, std::uint32_t n) {
  const int first = max_tag / 2;
  return first + static_cast<int>(n % static_cast<std::uint32_t>(max_tag - kServices + 1 - first));
}

[[nodiscard]] constexpr bool is_follow_tag(int max_tag, int tag) {
  return tag >= max_tag / 2 && tag <= max_tag - kServices;
}

/// How a call came about. A call of each kind may have the same number, and their messages never meet.
enum class CallKind : std::uint8_t {
  plain,
  expected,    ///< begun early, as what followed the call before the last time
  persistent,  ///< begun early by a handle
  report       ///< of the guard, beside another call
};
inline constexpr std::uint32_t kCallKinds = 4;

/// What distinguishes the messages of one call from those of all others, for call_tag(). The same on all ranks.
[[nodiscard]] constexpr std::uint32_t instance_of(std::uint32_t call, CallKind kind) {
  return (kCallKinds + kOperationCount) * call + static_cast<std::uint32_t>(kind);
}

/// The same for the call with number `call` among the started ones of an operation (Collectives::start).
[[nodiscard]] constexpr std::uint32_t instance_of_pending(std::uint32_t call, Operation operation) {
  return (kCallKinds + kOperationCount) * call + kCallKinds + static_cast<std::uint32_t>(operation);
}

/// How the calls share the lower half. Few tags per call and many calls, so that what was left of an abandoned call never
/// meets the next one of its number.
struct CallTags {
  static constexpr std::uint32_t kMostPerCall = 4096;
  static constexpr std::uint32_t kLeastCallsApart = 256;

  constexpr explicit CallTags(int max_tag)
      : per_call(std::clamp(static_cast<std::uint32_t>(max_tag) / 2 / kLeastCallsApart, 1U, kMostPerCall)),
        calls_apart(std::max(static_cast<std::uint32_t>(max_tag) / 2 / per_call, 1U)) {}

  std::uint32_t per_call;
  std::uint32_t calls_apart;  ///< so many instances have tags of their own
};

/// Both sides count the messages from one to the other alike, so the order of posting does not matter. Messages of one tag
/// arrive in the order they were sent, so tags may come again within a call.
[[nodiscard]] constexpr int call_tag(int max_tag, std::uint32_t instance, int message) {
  const CallTags tags(max_tag);
  return static_cast<int>(instance % tags.calls_apart * tags.per_call +
                          static_cast<std::uint32_t>(message) % tags.per_call);
}

}  // namespace papfft::comm
