// SPDX-License-Identifier: MIT
// Pipelined chain: each rank combines what the next one sends and hands the sum on, one segment behind another, so that
// every link carries the vector once. With many segments the vector's own transfer time is all that counts; with few, the
// P-1 hops do.
//
//     P = 4, root 1    0 -> 3 -> 2 -> 1        in rank order: 0 -> 1 <- 2 <- 3
//
// If the order matters, two chains meet at the root, which takes twice the bytes then.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const Rank root = request.root;
  std::vector<Op> sources;  // of each segment, in turn
  const auto receive_from = [&](Rank peer, int round, bool before) {
    sources.push_back({.kind = OpKind::recv_combine, .incoming_first = before, .peer = peer, .round = round});
  };
  Rank target = 0;  // of the sum, unless this is the root
  int round = 0;    // in which the first segment is handed on
  if (request.ordered) {
    if (rank >= root && rank < p - 1) receive_from(rank + 1, p - 2 - rank, false);
    if (rank <= root && rank > 0) receive_from(rank - 1, rank - 1, true);
    target = rank < root ? rank + 1 : rank - 1;
    round = rank < root ? rank : p - 1 - rank;
  } else {
    const int hops = (rank - root + p) % p;  // to the root
    target = (rank - 1 + p) % p;
    round = p - 1 - hops;
    if (hops < p - 1) receive_from((rank + 1) % p, round - 1, false);
  }
  RankBuilder builder(request, rank);
  for (int j = 0; j < request.segments; ++j) {
    for (Op op : sources) {
      op.blocks = {j, j + 1};
      op.round += j;
      builder.add(op);
    }
    if (rank != root) builder.send(target, {j, j + 1}, round + j);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_chain{.operation = Operation::reduce,
                             .name = "chain",
                             .summary = "a pipeline through all ranks, segment after segment",
                             .rounds = "P+S-2",
                             .bytes = "m (2m if ordered)",
                             .source = "GRD Sect. IV; Open MPI pipeline",
                             .can_be_ordered = true,
                             .local = generate,
                             .round_count = chain_rounds};

}  // namespace papfft::comm
