// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string_view>

#include "comm/schedule/registry.hpp"

namespace papfft::comm {

/// The algorithm that "auto" stands for. Pure, and of values that all ranks know, so that all choose alike.
/// @param bytes    one block (per-rank operations) or the vector.
/// @param ordered  the reduction is not commutative.
[[nodiscard]] const Algorithm& select_algorithm(Operation operation, int ranks, std::size_t bytes,
                                                bool ordered);

/// Into how many segments the algorithm should cut so many bytes.
[[nodiscard]] int select_segments(const Algorithm& algorithm, std::size_t bytes, std::size_t chunk_bytes);

}  // namespace papfft::comm
