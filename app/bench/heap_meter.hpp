// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

namespace papfft::app {

/// How much memory this thread takes from `new` while the meter lives: the most at a time, beyond what it had before, as
/// malloc rounds it up. Whatever links heap_meter.cpp has its operator new and delete replaced by ones that count, unless a
/// sanitizer brings its own. One meter at a time and thread.
class HeapMeter {
 public:
  HeapMeter();
  ~HeapMeter();
  HeapMeter(const HeapMeter&) = delete;
  HeapMeter& operator=(const HeapMeter&) = delete;

  [[nodiscard]] std::size_t peak_bytes() const;
  /// How often something was taken.
  [[nodiscard]] std::size_t allocations() const;

  /// False under a sanitizer: all peaks are 0.
  [[nodiscard]] static bool works();
};

}  // namespace papfft::app
