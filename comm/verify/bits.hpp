// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace papfft::comm {

/// A set of small integers.
class Bits {
 public:
  Bits() = default;
  explicit Bits(int size) : words_((static_cast<std::size_t>(size) + 63) / 64) {}
  void set(int i) { words_[word(i)] |= std::uint64_t{1} << bit(i); }
  [[nodiscard]] bool test(int i) const { return (words_[word(i)] >> bit(i) & 1U) != 0; }
  void merge(const Bits& other) {
    for (std::size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
  }
  [[nodiscard]] bool disjoint(const Bits& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if ((words_[w] & other.words_[w]) != 0) return false;
    }
    return true;
  }
  friend bool operator==(const Bits&, const Bits&) = default;
  [[nodiscard]] int count() const {
    int n = 0;
    for (const std::uint64_t w : words_) n += std::popcount(w);
    return n;
  }

 private:
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static int bit(int i) { return i % 64; }
  std::vector<std::uint64_t> words_;
};

}  // namespace papfft::comm
