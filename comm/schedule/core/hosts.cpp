// SPDX-License-Identifier: MIT
#include "comm/schedule/core/hosts.hpp"

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

}  // namespace papfft::comm
