// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

namespace papfft::comm {

/// Sizes at which a link treats messages differently. All code that decides by such a size takes it from here. All ranks must
/// use the same values, as they choose alike by them without a message.
struct LinkLimits {
  /// A longer message waits for its receiver's answer: Open MPI's eager limit over TCP, headers included.
  std::size_t eager_bytes = 65536;
  /// What a message may have beside its data.
  std::size_t header_bytes = 1024;

  /// The longest segment that leaves without waiting for its receiver.
  [[nodiscard]] constexpr std::size_t longest_segment_bytes() const { return eager_bytes - header_bytes; }
};

/// As measured with Open MPI over 1 Gb/s Ethernet (docs/measurements.md).
inline constexpr LinkLimits kLinkLimits;

/// Inside a host a handshake costs next to nothing, but each message its time: a segment is what a core's cache holds.
inline constexpr LinkLimits kMemoryLimits{.eager_bytes = 525312};

}  // namespace papfft::comm
