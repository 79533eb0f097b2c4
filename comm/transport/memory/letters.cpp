// SPDX-License-Identifier: MIT
#include "comm/transport/memory/letters.hpp"

#include <cstring>

namespace papfft::comm {

bool Letters::put(const LetterHead& head, std::span<const std::byte> enclosed) {
  const std::uint64_t n = counters_.written.load(std::memory_order_relaxed);
  if (n - seen_read_ == kCells) seen_read_ = counters_.read.load(std::memory_order_acquire);
  if (n - seen_read_ == kCells) return false;
  Cell& place = cell(n);
  place.head = head;
  if (!enclosed.empty()) std::memcpy(place.bytes.data(), enclosed.data(), enclosed.size());
  counters_.written.store(n + 1, std::memory_order_release);
  return true;
}

const Letters::Cell* Letters::first() const {
  const std::uint64_t n = counters_.read.load(std::memory_order_relaxed);
  return counters_.written.load(std::memory_order_acquire) == n ? nullptr : &cell(n);
}

void Letters::remove_first() {
  counters_.read.store(counters_.read.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace papfft::comm
