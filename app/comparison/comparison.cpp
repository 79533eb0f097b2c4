// SPDX-License-Identifier: MIT
#include "app/comparison/comparison.hpp"

#include <array>

namespace papfft::comm {

void register_comparison_algorithms() {
  static constexpr std::array<const Algorithm*, 2> kAlgorithms = {&reduce_clv_linear, &reduce_clv_heap};
  register_algorithms(kAlgorithms);
}

}  // namespace papfft::comm
