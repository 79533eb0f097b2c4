// SPDX-License-Identifier: MIT
// Who passes what to whom until everybody has everything: rounds in which each player sends one item at most and receives one.
#pragma once
#include <cstdint>
#include <vector>

#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

/// Items that players pass on until all have all. In each round those that lack most are served first, each with an item that the
/// fewest have and that somebody is free to send. So a new item is soon with many, and no port idles while it could be used.
///
/// Three players, each with one item of its own, in three rounds:
///
///     1 -> 0: 1, 0 -> 1: 0 | 0 -> 2: 0, 2 -> 0: 2 | 0 -> 1: 2, 1 -> 2: 1
///
/// Cost of a round: O(P I) steps for P players and I items that some but not all have; P I / 8 bytes in all.
class Gossip {
 public:
  struct Pass {
    int from = 0;
    int to = 0;
    int item = 0;
  };
  /// Whose ports are free in a round.
  struct Ports {
    std::vector<bool> send;
    std::vector<bool> receive;
    explicit Ports(int players) : send(static_cast<std::size_t>(players), true), receive(send) {}
  };

  Gossip(int players, int items);

  /// From now on the player has the item.
  void give(int player, int item);
  [[nodiscard]] bool has(int player, int item) const;
  /// All have all.
  [[nodiscard]] bool done() const { return missing_ == 0; }
  /// The passes of one round. Afterwards the receivers have what they were passed.
  std::vector<Pass> next(const Ports& free);

 private:
  using Word = std::uint64_t;
  using Players = std::vector<Word>;  // a bit for each

  [[nodiscard]] std::vector<int> passable_items() const;
  [[nodiscard]] std::vector<int> receivers(const Ports& free) const;
  [[nodiscard]] int first_holder(int item, const Players& among) const;

  int players_;
  std::size_t words_;              // of a set of players
  std::vector<Word> holders_;      // per item, a set of players
  std::vector<int> holder_count_;  // per item
  std::vector<int> lacking_;       // per player
  std::int64_t missing_;           // in all
};

/// The ranks of a request in the order of their rounds.
class Arrivals {
 public:
  explicit Arrivals(const Request& request);
  /// The first round in which the rank can take part with what is its own, from 0.
  [[nodiscard]] std::int64_t first_round(Rank rank) const { return rounds_[static_cast<std::size_t>(rank)]; }
  /// Those that come in this round and were not told before.
  std::vector<Rank> until(std::int64_t round);
  /// When the next ones come; -1 if all have.
  [[nodiscard]] std::int64_t next_round() const;

 private:
  std::vector<std::int64_t> rounds_;
  std::vector<Rank> order_;
  std::size_t told_ = 0;
};

}  // namespace papfft::comm
