// SPDX-License-Identifier: MIT
#include "comm/schedule/core/bit_width.hpp"

namespace papfft::comm {

bool supports(BitWidth width) {
  if (width != BitWidth::avx2) return true;
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("popcnt") != 0;
#else
  return false;
#endif
}

}  // namespace papfft::comm
