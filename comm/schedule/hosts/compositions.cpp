// SPDX-License-Identifier: MIT
#include <array>

#include "comm/schedule/core/composition.hpp"

namespace papfft::comm {

std::span<const Composition* const> compositions() {
  static constexpr std::array all = {&kAmongLeaders, &kInLanes, &kByHost};
  return all;
}

}  // namespace papfft::comm
