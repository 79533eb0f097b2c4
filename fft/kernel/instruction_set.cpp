// SPDX-License-Identifier: MIT
#include "fft/kernel/instruction_set.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace papfft::fft {

std::string_view to_string(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::portable:
      break;
  }
  return "portable";
}

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> found = {InstructionSet::portable};
#ifdef PAPFFT_X86_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      found.push_back(InstructionSet::avx2);
      if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        found.push_back(InstructionSet::avx512);
      }
    }
#endif
    return found;
  }();
  return sets;
}

namespace kernel {

template <typename T>
const Kernels<T>& kernels_for(InstructionSet set) {
  const auto& sets = instruction_sets();
  if (std::find(sets.begin(), sets.end(), set) == sets.end()) {
    throw std::invalid_argument("this program or processor has no " + std::string(to_string(set)));
  }
#ifdef PAPFFT_X86_KERNELS
  if (set == InstructionSet::avx512) return avx512_kernels(T{});
  if (set == InstructionSet::avx2) return avx2_kernels(T{});
#endif
  return portable_kernels(T{});
}

template const Kernels<float>& kernels_for<float>(InstructionSet);
template const Kernels<double>& kernels_for<double>(InstructionSet);

}  // namespace kernel
}  // namespace papfft::fft
