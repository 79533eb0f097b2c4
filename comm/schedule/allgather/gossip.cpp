// SPDX-License-Identifier: MIT
// Allgather planned in rounds, for ranks that do not come together. A rank's block is there from the rank's expected arrival on. In each
// round the ranks that lack most get the segments that the fewest have (family/gossip.hpp). So a block that comes late doubles
// its holders round by round, and all other ports go on with what came before. A rank passes on what others have before it comes itself,
// which needs the background (`bgossip`). Without it the plan counts on ranks that are not there yet.
//
// In rounds the last rank is done about log2 P behind the bound (bounds/arrival_bounds.hpp), whenever the ranks come.
//
//     P = 4, rank 3 comes two rounds late
//     round 0   1 -> 0: 1   2 -> 1: 2   0 -> 3: 0
//     round 1   2 -> 0: 2   3 -> 1: 0   0 -> 2: 0   1 -> 3: 1
//     round 2   3 -> 2: 3   0 -> 3: 2
//     round 3   2 -> 0: 3   3 -> 1: 3   0 -> 2: 1
#include "comm/schedule/family/gossip.hpp"

#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

void plan(const Request& request, const TransferSink& sink) {
  const int p = request.ranks;
  const int n = request.segments;
  Gossip gossip(p, p * n);
  Arrivals arrivals(request);
  std::vector<Transfer> transfers;
  for (std::int64_t round = 0; p > 1 && !gossip.done();) {
    for (const Rank r : arrivals.until(round)) {
      for (int s = 0; s < n; ++s) gossip.give(r, r * n + s);
    }
    transfers.clear();
    for (const Gossip::Pass& pass : gossip.next(Gossip::Ports(p)))
      transfers.push_back({round, pass.from, pass.to, pass.item, false});
    if (!transfers.empty()) sink(transfers);
    round = transfers.empty() && !gossip.done() ? arrivals.next_round() : round + 1;
  }
}

}  // namespace

const Algorithm allgather_gossip{
    .operation = Operation::allgather,
    .name = "gossip",
    .summary =
        "in rounds: who lacks most gets what the fewest have, each block from its rank's expected arrival on",
    .rounds = "about (P-1)S+q",
    .bytes = "(P-1)m",
    .source = "this project",
    .uses_arrival = true,
    .transfers = plan,
    .round_count = [](int ranks, int segments) {
      return ring_rounds(ranks, segments) + least_rounds(ranks, 1);
    }};

}  // namespace papfft::comm
