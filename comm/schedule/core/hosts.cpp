// SPDX-License-Identifier: MIT
#include "comm/schedule/core/hosts.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace papfft::comm {

Hosts::Hosts(int ranks, std::span<const int> host_of_rank) {
  if (!host_of_rank.empty() && host_of_rank.size() != static_cast<std::size_t>(ranks)) {
    throw std::invalid_argument("hosts: needs one host per rank, or none");
  }
  std::map<int, int> number;
  for (Rank r = 0; r < ranks; ++r) {
    const int name = host_of_rank.empty() ? r : host_of_rank[static_cast<std::size_t>(r)];
    const int host = number.try_emplace(name, count()).first->second;
    if (host == count()) members_.emplace_back();
    members_[static_cast<std::size_t>(host)].push_back(r);
    host_.push_back(host);
  }
}

std::vector<int> Hosts::ranks_per_host() const {
  std::vector<int> counts;
  counts.reserve(members_.size());
  for (const std::vector<Rank>& members : members_) counts.push_back(static_cast<int>(members.size()));
  return counts;
}

int Hosts::fewest_ranks() const { return std::ranges::min(ranks_per_host()); }

bool Hosts::is_even() const {
  return std::ranges::all_of(members_, [&](const auto& m) { return m.size() == members_.front().size(); });
}

}  // namespace papfft::comm
