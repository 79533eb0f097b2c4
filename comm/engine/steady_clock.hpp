// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>

namespace papfft::comm {

/// In ns, as observers are told it.
[[nodiscard]] inline std::int64_t steady_ns(std::chrono::steady_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}
[[nodiscard]] inline std::int64_t steady_now_ns() { return steady_ns(std::chrono::steady_clock::now()); }

}  // namespace papfft::comm
