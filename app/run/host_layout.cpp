// SPDX-License-Identifier: MIT
#include "app/run/host_layout.hpp"

#include <utility>

namespace papfft::app {

namespace {

bool is_by_host(const comm::Hosts& hosts) {
  for (int h = 0; h < hosts.count(); ++h) {
    const std::vector<comm::Rank>& members = hosts.members(h);
    if (members.back() - members.front() + 1 != static_cast<int>(members.size())) return false;
  }
  return true;
}

bool is_round_robin(const comm::Hosts& hosts) {
  std::vector<int> dealt(static_cast<std::size_t>(hosts.count()));
  std::pair<int, int> before{-1, -1};  // turn, and host within the turn
  for (comm::Rank r = 0; r < hosts.rank_count(); ++r) {
    const int host = hosts.of(r);
    const std::pair now{dealt[static_cast<std::size_t>(host)]++, host};
    if (now < before) return false;
    before = now;
  }
  return true;
}

}  // namespace

std::string HostLayout::per_host_text() const {
  const std::vector<int> counts = ranks_per_host();
  if (is_even()) return std::to_string(counts.front());
  std::string text;
  for (const int n : counts) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

std::string HostLayout::order() const {
  if (is_by_host(hosts_)) return "by host";
  return is_round_robin(hosts_) ? "round robin" : "other";
}

std::string HostLayout::text() const {
  if (hosts_.count() == 1) return "one host";
  const std::string count = std::to_string(hosts_.count()) + " hosts, ";
  if (hosts_.are_single()) return count + "one rank each";
  return count + per_host_text() + " ranks" + (is_even() ? " each, " : ", ") + order();
}

}  // namespace papfft::app
