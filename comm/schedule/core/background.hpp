// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Which of a rank's ops need the caller to have arrived: those that read the caller's input (slots that the
/// contract fills before the operation and that no earlier op has overwritten) or announce the arrival, directly or
/// through an op they depend on. All others may run in the background before the rank arrives.
/// @return  one flag per op of the program. Time and space grow with the slots that the program names, not with
///          those of the shape.
/// @note Source  the split that the scatter/gather paper does by hand (its Figs 6, 8, 10, 12), derived.
[[nodiscard]] std::vector<bool> needs_arrival(const Shape& shape, Rank rank, const Program& program);
[[nodiscard]] inline std::vector<bool> needs_arrival(const RankSchedule& part) {
  return needs_arrival(part.shape, part.rank, part.program);
}

}  // namespace papfft::comm
