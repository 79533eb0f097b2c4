// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

namespace papfft::comm {

/// An associative operation on elements of one size, as the executor calls it.
class Reducer {
 public:
  Reducer() = default;
  Reducer(const Reducer&) = default;
  Reducer& operator=(const Reducer&) = default;
  virtual ~Reducer() = default;
  /// out[i] = left[i] (+) right[i] for `bytes` / element_bytes() elements; out may be left or right itself.
  virtual void combine(const std::byte* left, const std::byte* right, std::byte* out,
                       std::size_t bytes) const = 0;
  [[nodiscard]] virtual std::size_t element_bytes() const = 0;
  [[nodiscard]] virtual bool commutative() const = 0;
};

}  // namespace papfft::comm
