// SPDX-License-Identifier: MIT
#pragma once

namespace papfft::fft {

/// Sign of the exponent: forward is exp(-2 pi i nk/N), inverse is exp(+2 pi i nk/N).
enum class Direction { forward, inverse };

}  // namespace papfft::fft
