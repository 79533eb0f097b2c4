// SPDX-License-Identifier: MIT
// All-to-all on the circulant graph: its reduce-scatter, in which each rank adds what it gets to what it has for the same target, with
// lists of blocks in the place of sums. Round k = q-1 .. 0: a rank hands on to the rank s[k] behind it all blocks whose targets are
// s[k] .. s[k+1]-1 behind it, its own and those that came; s[q] = P, s[k] = ceil(s[k+1] / 2). ceil(log2 P) rounds, one message each.
//
//   P = 5, s = 1 2 3 5, distances     round 0: 3 4 -> r+3     round 1: 2 -> r+2     round 2: 1 4 -> r+1
//
// A block is sent as often as its distance has skips, taken greedily. Where P is not a power of two that is less often than by the
// distance's bits.
#include "comm/schedule/family/circulant.hpp"

#include "comm/schedule/family/relayed_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const Circulant graph(request.ranks);
  std::vector<RelayRound> rounds;
  std::vector<int> left(static_cast<std::size_t>(request.ranks));  // of each distance, what is still to go
  for (std::size_t d = 0; d < left.size(); ++d) left[d] = static_cast<int>(d);
  for (int k = graph.rounds() - 1; k >= 0; --k) {
    rounds.push_back({.skip = graph.skip(k)});
    for (std::size_t d = 0; d < left.size(); ++d) {
      if (left[d] < graph.skip(k)) continue;
      left[d] -= graph.skip(k);
      rounds.back().distances.push_back(static_cast<int>(d));
    }
  }
  return relayed_exchange(request, rank, rounds);
}

}  // namespace

const Algorithm alltoall_circulant{
    .operation = Operation::alltoall,
    .name = "circulant",
    .summary = "few messages: blocks go through other ranks, as sums do in the circulant reduce-scatter",
    .rounds = "q",
    .bytes = "at most qPm/2",
    .source = "Träff, Optimal, Non-pipelined Reduce-scatter and Allreduce, 2025",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
