// SPDX-License-Identifier: MIT
#include "app/bench/heap_meter.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace papfft::app {

namespace {

struct Count {
  bool runs = false;
  std::ptrdiff_t now = 0;  // may be negative: older memory may be given back
  std::ptrdiff_t peak = 0;
  std::size_t allocations = 0;
};

thread_local Count count;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (count.runs) {
    ++count.allocations;
    count.now += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
    count.peak = std::max(count.peak, count.now);
  }
  return memory;
}

void give_back(void* memory) noexcept {
  if (count.runs) count.now -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

HeapMeter::HeapMeter() { count = {.runs = true}; }
HeapMeter::~HeapMeter() { count.runs = false; }
std::size_t HeapMeter::peak_bytes() const { return static_cast<std::size_t>(count.peak); }
std::size_t HeapMeter::allocations() const { return count.allocations; }

bool HeapMeter::works() {
  const HeapMeter meter;
  ::operator delete(::operator new(1));
  return meter.peak_bytes() > 0;
}

}  // namespace papfft::app

// The other forms of both operators call these. Weak, so that a sanitizer's own take their place.
[[gnu::weak]] void* operator new(std::size_t bytes) {
  return papfft::app::counted(std::malloc(std::max<std::size_t>(bytes, 1)));
}
[[gnu::weak]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto multiple = static_cast<std::size_t>(alignment);
  return papfft::app::counted(std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple));
}
[[gnu::weak]] void operator delete(void* memory) noexcept { papfft::app::give_back(memory); }
[[gnu::weak]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  papfft::app::give_back(memory);
}
[[gnu::weak]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  papfft::app::give_back(memory);
}
[[gnu::weak]] void operator delete(void* memory, std::size_t /*bytes*/,
                                   std::align_val_t /*alignment*/) noexcept {
  papfft::app::give_back(memory);
}
