// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

namespace papfft::comm {

/// Ranks, ops and slots are counted by int, containers by std::size_t.
[[nodiscard]] constexpr std::size_t idx(int i) { return static_cast<std::size_t>(i); }

}  // namespace papfft::comm
