// SPDX-License-Identifier: MIT
#include "comm/engine/buffer_pool.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>

namespace papfft::comm {

std::byte* BufferPool::lend() {
  if (!free_.empty()) {
    std::byte* const buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  const bool is_long = bytes_ >= kLargePage;
  const std::size_t alignment = is_long ? kLargePage : kLine;
  void* const memory = ::operator new (std::max<std::size_t>(bytes_, 1), std::align_val_t{alignment});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (is_long) (void)::madvise(memory, bytes_ / kLargePage * kLargePage, MADV_HUGEPAGE);  // a hint
#endif
  all_.emplace_back(static_cast<std::byte*>(memory), Free{alignment});
  free_.reserve(all_.size());  // so that giving back does not throw
  return all_.back().get();
}

}  // namespace papfft::comm
