// SPDX-License-Identifier: MIT
#include "fft/kernel/types.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>

namespace papfft::fft {

void ask_for_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  const std::size_t to_boundary =
      (kHugePage - reinterpret_cast<std::uintptr_t>(data) % kHugePage) % kHugePage;
  if (bytes < to_boundary + kHugePage) return;
  (void)::madvise(static_cast<char*>(data) + to_boundary, (bytes - to_boundary) / kHugePage * kHugePage,
                  MADV_HUGEPAGE);
#endif
}

}  // namespace papfft::fft
