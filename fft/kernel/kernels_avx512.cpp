// SPDX-License-Identifier: MIT
#include "fft/kernel/instruction_set.hpp"
#include "fft/kernel/passes.inc"
#include "fft/kernel/tiles.inc"

namespace papfft::fft::kernel {

const Kernels<float>& avx512_kernels(float /*precision*/) {
  static constexpr Kernels<float> kKernels = make_kernels<float, 64>();
  return kKernels;
}

const Kernels<double>& avx512_kernels(double /*precision*/) {
  static constexpr Kernels<double> kKernels = make_kernels<double, 64>();
  return kKernels;
}

}  // namespace papfft::fft::kernel
