// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Which ranks share a host, so that messages among them do not cross a link. Hosts are numbered by their first rank.
class Hosts {
 public:
  /// @param host_of_rank  any numbers, one per rank, the same for ranks of one host; empty: every rank has a host of its own
  /// @throws std::invalid_argument  unless there is one number per rank
  Hosts(int ranks, std::span<const int> host_of_rank);

  [[nodiscard]] int count() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] int of(Rank rank) const { return host_[static_cast<std::size_t>(rank)]; }
  /// Ascending.
  [[nodiscard]] const std::vector<Rank>& members(int host) const {
    return members_[static_cast<std::size_t>(host)];
  }
  [[nodiscard]] int rank_count() const { return static_cast<int>(host_.size()); }
  [[nodiscard]] std::vector<int> ranks_per_host() const;
  /// How many ranks the smallest host has.
  [[nodiscard]] int fewest_ranks() const;
  /// All hosts have equally many ranks.
  [[nodiscard]] bool is_even() const;
  /// Every rank is alone on its host.
  [[nodiscard]] bool are_single() const { return members_.size() == host_.size(); }

 private:
  std::vector<int> host_;  // per rank
  std::vector<std::vector<Rank>> members_;
};

}  // namespace papfft::comm
