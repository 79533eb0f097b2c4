// SPDX-License-Identifier: MIT
// What a schedule on two levels is made of: between hosts and inside them.
#pragma once
#include <cstdint>
#include <vector>

#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Who leads each host, and in which order its members are served.
class Led {
 public:
  /// @param lanes  so many ranks of each host lead it; no more than the smallest host has
  Led(const Request& request, const Hosts& hosts, int lanes);

  [[nodiscard]] int lanes() const { return lanes_; }
  /// The leaders first, by lane. On the root's host the root is the first of all.
  [[nodiscard]] const std::vector<Rank>& order(int host) const {
    return order_[static_cast<std::size_t>(host)];
  }
  [[nodiscard]] Rank leader(int host, int lane) const { return order(host)[static_cast<std::size_t>(lane)]; }
  /// Those whose blocks go by this lane, where the data are blocks per rank. Ascending.
  [[nodiscard]] std::vector<Rank> followers(int host, int lane) const;
  /// When each host can begin, or empty.
  [[nodiscard]] const std::vector<std::int64_t>& host_arrival_ns() const { return host_arrival_ns_; }

 private:
  int lanes_;
  std::vector<std::vector<Rank>> order_;  // per host
  std::vector<std::int64_t> host_arrival_ns_;
};

/// Where the outer schedule's slots are in the whole one. A vector is a share per lane, one after another. Of blocks per rank, those
/// of a lane stand together, in them those of a host, and a unit is an S-th of these.
class Units {
 public:
  /// @throws std::invalid_argument  for an algorithm on blocks per rank that has slots of its own
  Units(const Shape& outer, const Led& led);

  /// Of one lane.
  [[nodiscard]] int count() const { return blocks_; }
  [[nodiscard]] const std::vector<Rank>& holder() const { return holder_; }
  /// As Shape::scratch, of all lanes.
  [[nodiscard]] const std::vector<int>& scratch() const { return scratch_; }
  [[nodiscard]] BlockRange slots(int lane, BlockRange units) const;
  /// Of blocks per rank.
  [[nodiscard]] int host_of(int unit) const { return host_at_[static_cast<std::size_t>(unit / segments_)]; }
  [[nodiscard]] BlockRange slots_of(Rank rank) const;

 private:
  [[nodiscard]] int begin(int lane, int unit) const;

  bool per_rank_;
  int lanes_;
  int segments_;
  int blocks_;
  int outer_scratch_;              // slots of this kind in one lane
  std::vector<int> scratch_ = {};  // of all lanes
  std::vector<int> first_ =
      {};  // (lane, position of the outer schedule) -> its first position in the whole one
  std::vector<int> host_at_ = {};  // position of the outer schedule -> host
  std::vector<Rank> holder_ = {};
};

/// When a leader's program touches each unit, as indices of its ops; the number of ops stands for never.
struct Touches {
  std::vector<int> first;
  std::vector<int> settled;  ///< holds its last value from then on, or nobody changes it: the first touch

  Touches(const Program& program, int units);

  /// The units by time.
  [[nodiscard]] static std::vector<int> order(const std::vector<int>& times);
};

/// Along which the ranks of a host hand on what is the same for all of them. Position 0 is the leader.
///
///   chain      0 -> 1 -> 2 -> ...                 of ranks that arrive apart: who came before is combined before
///   binomial   0 -> 4 2 1   4 -> 5   2 -> 3       of a few units: the fewest steps
///   stem       0 -> 1 -> 2 3   2 -> 4 5           of many units, which follow each other as fast as the busiest rank serves one
///
/// The leader has a link to serve beside its children, and so has one child in a stem; any other rank has two.
class InsideTree {
 public:
  InsideTree(int size, int units, bool arrive_apart)
      : size_(size),
        form_(arrive_apart         ? Form::chain
              : units < kManyUnits ? Form::binomial
                                   : Form::stem) {}

  [[nodiscard]] int parent(int v) const;
  /// In the order in which they are served.
  [[nodiscard]] std::vector<int> children(int v) const;

 private:
  enum class Form : std::uint8_t { chain, binomial, stem };
  // A stem is deeper than a binomial tree. From here on even four ranks gain: their leader serves one child, not two.
  static constexpr int kManyUnits = 4;

  int size_;
  Form form_;
};

}  // namespace papfft::comm
