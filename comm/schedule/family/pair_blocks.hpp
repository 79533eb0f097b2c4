// SPDX-License-Identifier: MIT
// Where a rank has its blocks if there is one for each pair of ranks (Shape::holder).
#pragma once
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// What this rank has for `target`.
[[nodiscard]] inline BlockRange block_for(const Shape& shape, Rank target) {
  return {target * shape.segments, (target + 1) * shape.segments};
}

/// What this rank gets from `source`.
[[nodiscard]] inline BlockRange block_from(const Shape& shape, Rank source) {
  return block_for(shape, shape.ranks + source);
}

}  // namespace papfft::comm
