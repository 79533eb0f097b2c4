// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>
#include <vector>

#include "fft/kernel/kernels.hpp"

namespace papfft::fft {

/// For which processors the kernels are compiled: any, with AVX2 and FMA, with AVX-512 (F, BW, DQ, VL).
enum class InstructionSet { portable, avx2, avx512 };

[[nodiscard]] std::string_view to_string(InstructionSet set) noexcept;

/// Those that this program was built with and this processor has, the best last.
[[nodiscard]] const std::vector<InstructionSet>& instruction_sets();

namespace kernel {

/// @throws std::invalid_argument  not in instruction_sets()
template <typename T>
[[nodiscard]] const Kernels<T>& kernels_for(InstructionSet set);

// One source file per instruction set. The argument chooses the precision.
[[nodiscard]] const Kernels<float>& portable_kernels(float precision);
[[nodiscard]] const Kernels<double>& portable_kernels(double precision);
[[nodiscard]] const Kernels<float>& avx2_kernels(float precision);
[[nodiscard]] const Kernels<double>& avx2_kernels(double precision);
[[nodiscard]] const Kernels<float>& avx512_kernels(float precision);
[[nodiscard]] const Kernels<double>& avx512_kernels(double precision);

}  // namespace kernel
}  // namespace papfft::fft
