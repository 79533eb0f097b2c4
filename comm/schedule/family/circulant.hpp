// SPDX-License-Identifier: MIT
// The circulant graph and its broadcast schedules: Träff, "(Poly)Logarithmic Time Construction of Round-optimal n-Block
// Broadcast Schedules" (CIR). Letters as in the paper: p ranks, q = ceil(log2 p), skips s[0] .. s[q].
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace papfft::comm {

/// The graph on p ranks in which r sends to (r + s[k]) mod p in round k of a phase of q rounds, with s[q] = p and
/// s[k] = ceil(s[k+1] / 2), and per rank the blocks that it receives and sends when rank 0 broadcasts.
///
/// A schedule names blocks relative to the phase: 0 .. q-1 are the phase's own (a rank receives one of them, its base
/// block), -q .. -1 those of the phase before. In the next phase q is added to all.
///
///     p = 9, s = 1 2 3 5 9: rank 3 receives -3 -4 2 -1 and sends -2 -2 -3 2
///
/// Each rank's schedule takes O(log p) time and space, without the others': no allocation, no communication.
/// @note Source  CIR Algorithms 1 and 2 for skips and base blocks. Its receive schedule takes O(log^2 p), the send schedule
///               O(log^3 p), and it leaves open whether O(log p) is possible; the author's later constructions
///               (arXiv 2312.11236, 2407.18004) are what receive() and send() follow. The paper's own are the tests' oracle.
class Circulant {
 public:
  static constexpr int kMostRanks = 1 << 30;
  static constexpr int kMostRounds = 30;
  using Blocks = std::array<int, kMostRounds>;  ///< entries 0 .. rounds()-1 count

  /// @throws std::invalid_argument  unless 1 <= ranks <= kMostRanks
  explicit Circulant(int ranks);

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int rounds() const { return rounds_; }  ///< q
  /// s[k], 0 <= k <= rounds().
  [[nodiscard]] int skip(int k) const { return skips_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] int to(int r, int k) const { return wrap(r + skip(k)); }
  [[nodiscard]] int from(int r, int k) const { return wrap(r - skip(k) + ranks_); }

  /// The first block that rank r gets; q for the root (rank 0), which gets none.
  [[nodiscard]] int baseblock(int r) const;

  /// blocks[k]: what rank r receives in round k of a phase, 0 <= k < blocks.size() <= rounds(). The root's entries are
  /// what others would send to it.
  void receive(int r, std::span<int> blocks) const;
  [[nodiscard]] Blocks receive(int r) const;

  /// What rank r sends in round k of a phase: the receive schedule of to(r, k), entry k.
  [[nodiscard]] Blocks send(int r) const;

 private:
  [[nodiscard]] int wrap(int r) const { return r >= ranks_ ? r - ranks_ : r; }

  int ranks_;
  int rounds_ = 0;
  std::array<int, kMostRounds + 1> skips_{};
};

/// The rounds of a broadcast of n blocks: n-1+q of them, of which the first may lie in the middle of a phase (CIR
/// Algorithm 6's x dummy rounds come before it).
class CirculantRounds {
 public:
  /// @param blocks  n >= 1
  CirculantRounds(const Circulant& graph, int blocks)
      : q_(graph.rounds()), blocks_(blocks), dummies_(q_ == 0 ? 0 : (q_ - (blocks - 1) % q_) % q_) {}

  [[nodiscard]] int count() const { return q_ == 0 ? 0 : blocks_ - 1 + q_; }
  /// The round of its phase: which edge is used in round i, 0 <= i < count().
  [[nodiscard]] int edge(int i) const { return (i + dummies_) % q_; }
  /// The block that an entry of a schedule means in round i: -1 for none; all beyond the last are the last.
  [[nodiscard]] int block(int i, int entry) const {
    const int block = entry + (i + dummies_) / q_ * q_ - dummies_;
    return block < 0 ? -1 : block < blocks_ ? block : blocks_ - 1;
  }

 private:
  int q_;
  int blocks_;
  int dummies_;
};

}  // namespace papfft::comm
