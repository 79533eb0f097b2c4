// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// The sizes of a schedule's slots, summed up, so that the size of any range of slots costs two look-ups.
class SlotSizes {
 public:
  /// @param bytes  one size >= 0 per slot. @throws std::overflow_error if their sum does not fit into 64 bits.
  template <std::ranges::input_range Bytes>
  explicit SlotSizes(const Bytes& bytes) {
    before_.reserve(std::ranges::size(bytes) + 1);
    before_.push_back(0);
    for (const auto size : bytes) {
      std::int64_t sum = 0;
      if (__builtin_add_overflow(before_.back(), size, &sum)) {
        throw std::overflow_error("the sizes of the slots exceed 64 bits");
      }
      before_.push_back(sum);
    }
  }

  [[nodiscard]] std::int64_t of(BlockRange slots) const {
    return before_[static_cast<std::size_t>(slots.last)] - before_[static_cast<std::size_t>(slots.first)];
  }

 private:
  std::vector<std::int64_t> before_;
};

}  // namespace papfft::comm
