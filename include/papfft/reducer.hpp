// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstring>
#include <utility>

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

/// op(left, right) on values of T; a simple op is vectorised by the compiler.
template <typename T, typename Op>
class ElementReducer final : public Reducer {
 public:
  ElementReducer(Op op, bool commutative) : op_(std::move(op)), commutative_(commutative) {}

  void combine(const std::byte* left, const std::byte* right, std::byte* out,
               std::size_t bytes) const override {
    // By memcpy, as staged bytes hold no T by the language's rules and need not be aligned for one.
    for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
      T a;
      T b;
      std::memcpy(&a, left + at, sizeof(T));
      std::memcpy(&b, right + at, sizeof(T));
      const T c = op_(a, b);
      std::memcpy(out + at, &c, sizeof(T));
    }
  }
  [[nodiscard]] std::size_t element_bytes() const override { return sizeof(T); }
  [[nodiscard]] bool commutative() const override { return commutative_; }

 private:
  Op op_;
  bool commutative_;
};

}  // namespace papfft::comm
