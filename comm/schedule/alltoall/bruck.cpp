// SPDX-License-Identifier: MIT
// Bruck's all-to-all: in round k a rank hands all blocks whose distance has bit k on to the rank 2^k behind it. After ceil(log2 P)
// rounds, one message each, every block is where it belongs; on average it has been sent (log2 P) / 2 times. For short blocks.
//
//   P = 5, distances     round 0: 1 3 -> r+1     round 1: 2 3 -> r+2     round 2: 4 -> r+4
#include <bit>

#include "comm/schedule/family/relayed_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  std::vector<RelayRound> rounds;
  for (int skip = 1; skip < request.ranks; skip *= 2) {
    rounds.push_back({.skip = skip});
    for (int d = skip; d < request.ranks; ++d) {
      if ((d & skip) != 0) rounds.back().distances.push_back(d);
    }
  }
  return relayed_exchange(request, rank, rounds);
}

}  // namespace

const Algorithm alltoall_bruck{
    .operation = Operation::alltoall,
    .name = "bruck",
    .summary = "few messages: blocks go through other ranks, by the bits of their distance",
    .rounds = "q",
    .bytes = "qPm/2",
    .source = "Bruck et al., IEEE TPDS 8(11), 1997",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
