// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "papfft/export.h"

namespace papfft::comm {

/// An associative operation on elements of one size, as the executor calls it.
class PAPFFT_API Reducer {
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

  /// A copy for a Session, which combines with it before the next call of this operation. nullptr (the default): there is
  /// no copy, and nothing is combined before the caller arrives.
  [[nodiscard]] virtual std::unique_ptr<Reducer> clone() const { return nullptr; }
  /// If clone() gives a copy: a name that means the same operation on all ranks.
  [[nodiscard]] virtual std::string name() const { return {}; }
  /// Whether the MPI library's own collectives can carry out this operation.
  [[nodiscard]] virtual bool is_stock() const { return false; }
};

/// op(left, right) on values of T. The compiler vectorises a simple op. Can be cloned if Op has no state.
template <typename T, typename Op>
class ElementReducer final : public Reducer {
 public:
  ElementReducer(Op op, bool commutative) : op_(std::move(op)), commutative_(commutative) {}

  void combine(const std::byte* left, const std::byte* right, std::byte* out,
               std::size_t bytes) const override {
    // Three loops, so that in each the compiler knows what overlaps. Otherwise it would not vectorise the ones in place.
    if (out == left) {
      onto_left(out, right, bytes);
    } else if (out == right) {
      onto_right(left, out, bytes);
    } else {
      aside(left, right, out, bytes);
    }
  }
  [[nodiscard]] std::size_t element_bytes() const override { return sizeof(T); }
  [[nodiscard]] bool commutative() const override { return commutative_; }

  [[nodiscard]] std::unique_ptr<Reducer> clone() const override {
    if constexpr (std::is_empty_v<Op>) return std::make_unique<ElementReducer>(*this);
    return nullptr;
  }
  [[nodiscard]] std::string name() const override { return typeid(ElementReducer).name(); }

 private:
  /// By memcpy, as staged bytes hold no T by the language's rules and need not be aligned for one.
  static T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
  static void store(const T& value, std::byte* to) { std::memcpy(to, &value, sizeof(T)); }

  void onto_left(std::byte* __restrict left, const std::byte* __restrict right, std::size_t bytes) const {
    for (std::size_t at = 0; at < bytes; at += sizeof(T))
      store(op_(load(left + at), load(right + at)), left + at);
  }
  void onto_right(const std::byte* __restrict left, std::byte* __restrict right, std::size_t bytes) const {
    for (std::size_t at = 0; at < bytes; at += sizeof(T))
      store(op_(load(left + at), load(right + at)), right + at);
  }
  void aside(const std::byte* __restrict left, const std::byte* __restrict right, std::byte* __restrict out,
             std::size_t bytes) const {
    for (std::size_t at = 0; at < bytes; at += sizeof(T))
      store(op_(load(left + at), load(right + at)), out + at);
  }

  Op op_;
  bool commutative_;
};

}  // namespace papfft::comm
