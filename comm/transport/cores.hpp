// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>

namespace papfft::comm {

/// Cores of a host by number, a bit each.
using Cores = std::array<std::uint64_t, 16>;

/// Those that the calling thread may run on. At least one.
[[nodiscard]] Cores own_cores();
[[nodiscard]] int count(const Cores& cores);
[[nodiscard]] inline int available_cores() { return count(own_cores()); }

}  // namespace papfft::comm
