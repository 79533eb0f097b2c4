// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace papfft::comm {

/// How planners work on rows of bits: for any processor, or with AVX2 and what comes with it (BMI, POPCNT).
enum class BitWidth : std::uint8_t { widest, portable, avx2 };

/// True if this processor can.
[[nodiscard]] bool supports(BitWidth width);

}  // namespace papfft::comm
