// SPDX-License-Identifier: MIT
// CIR's Algorithms 1-5 as they stand in the paper, with its mistakes mended; slow, and independent of comm/schedule/circulant:
// Algorithm 3 by an exact set of base blocks, Algorithm 4 beginning with the rank's own base block.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace papfft::test {

class CirculantReference {
 public:
  explicit CirculantReference(int p) : p_(p) {  // Algorithm 1
    for (int s = p; s > 1; s = (s + 1) / 2) s_.push_back(s);
    s_.push_back(1);
    std::ranges::reverse(s_);
    q_ = static_cast<int>(s_.size()) - 1;
    base_.assign(at(p), -1);
    for (int r = 1; r < p; ++r) base_[at(r)] = find_baseblock(r);
  }

  [[nodiscard]] int rounds() const { return q_; }
  [[nodiscard]] const std::vector<int>& skips() const { return s_; }
  [[nodiscard]] int baseblock(int r) const { return base_[at(r)]; }  // -1: the root has none

  /// Algorithm 4: the first k entries.
  [[nodiscard]] std::vector<int> receive(int r, int k) const {
    std::vector<int> out;
    std::uint32_t had = baseblock(r) < 0 ? 0 : bit(baseblock(r));
    for (int i = 0; i < k; ++i) {
      if (s_[at(i)] <= r && r < s_[at(i + 1)]) {
        out.push_back(baseblock(r));
        continue;
      }
      int b = 0;
      if (i == 0) {
        b = baseblock((r - 1 + p_) % p_);
      } else if (i < q_ - 1) {
        std::uint32_t fresh = range_blocks(r - s_[at(i + 1)] + 1, r - s_[at(i)]) & ~had;
        if (fresh == 0) {
          const int sum = std::accumulate(s_.begin(), s_.begin() + i + 1, 0);
          fresh = range_blocks(r - sum, r - s_[at(i + 1)]) & ~had;
        }
        b = highest(fresh);
      } else {
        b = highest((bit(q_) - 1) & ~had);
      }
      had |= bit(b);
      out.push_back(b - q_);
    }
    return out;
  }

  /// Algorithm 5.
  [[nodiscard]] std::vector<int> send(int r) const {
    std::vector<int> out;
    for (int i = 0; i < q_; ++i) out.push_back(receive((r + s_[at(i)]) % p_, i + 1).back());
    return out;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static std::uint32_t bit(int i) { return std::uint32_t{1} << static_cast<unsigned>(i); }
  static int highest(std::uint32_t set) {
    if (set == 0) throw std::logic_error("CIR Algorithm 4 finds no block");
    int i = 31;
    while ((set & bit(i)) == 0) --i;
    return i;
  }

  [[nodiscard]] int find_baseblock(int r) const {  // Algorithm 2
    int k = q_;
    while (r != s_[at(k)]) {
      --k;
      if (s_[at(k)] < r) r -= s_[at(k)];
    }
    return k;
  }

  /// Algorithm 3: the base blocks of ranks a .. b, cyclic. By looking at each; p is small here.
  [[nodiscard]] std::uint32_t range_blocks(int a, int b) const {
    std::uint32_t set = 0;
    for (int x = a; x <= b; ++x) {
      const int base = baseblock(((x % p_) + p_) % p_);
      if (base >= 0) set |= bit(base);
    }
    return set;
  }

  int p_;
  int q_ = 0;
  std::vector<int> s_;
  std::vector<int> base_;
};

}  // namespace papfft::test
