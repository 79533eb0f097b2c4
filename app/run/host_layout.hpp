// SPDX-License-Identifier: MIT
// How a job's ranks are spread over hosts, in words.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "comm/schedule/core/hosts.hpp"

namespace papfft::app {

class HostLayout {
 public:
  /// @param host_of_rank  any numbers, one per rank, the same for ranks of one host; empty: every rank has a host of its own
  /// @throws std::invalid_argument  unless there is one number per rank
  HostLayout(int ranks, std::span<const int> host_of_rank) : hosts_(ranks, host_of_rank) {}

  [[nodiscard]] const comm::Hosts& hosts() const { return hosts_; }
  /// Of each host, in the order of the hosts' lowest ranks.
  [[nodiscard]] std::vector<int> ranks_per_host() const { return hosts_.ranks_per_host(); }
  /// All hosts have equally many ranks.
  [[nodiscard]] bool is_even() const { return hosts_.is_even(); }
  /// "4"; "1,2,3,4,2" where hosts differ.
  [[nodiscard]] std::string per_host_text() const;
  /// "by host": the ranks of each host follow each other. "round robin": each host gets one rank in turn, as long as it has
  /// room. "other". Where nothing distinguishes them (one host, or one rank per host): "by host".
  [[nodiscard]] std::string order() const;
  /// "one host"; "8 hosts, one rank each"; "8 hosts, 4 ranks each, by host"; "5 hosts, 1,2,3,4,2 ranks, round robin".
  [[nodiscard]] std::string text() const;

 private:
  comm::Hosts hosts_;
};

}  // namespace papfft::app
