// SPDX-License-Identifier: MIT
// Pipelined chain: each rank combines what the next one sends and hands the sum on, one segment behind another, so that
// every link carries the vector once. With many segments the vector's own transfer time is all that counts; with few, the
// P-1 hops do.
//
//     P = 4, root 1    0 -> 3 -> 2 -> 1        in rank order: 0 -> 1 <- 2 <- 3
//
// If the order matters, two chains meet at the root, which takes twice the bytes then.
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

/// Segment by segment: receive from each of `sources` in turn, then send to `target` (-1: keep). @param round  of the first
/// segment's sending
Program relay(const Shape& shape, std::span<const Op> sources, Rank target, int round) {
  ProgramBuilder builder(shape.slots());
  for (int j = 0; j < shape.segments; ++j) {
    for (Op op : sources) {
      op.blocks = {j, j + 1};
      op.round += j;
      builder.add(op);
    }
    if (target >= 0) builder.send(target, {j, j + 1}, round + j);
  }
  return builder.take();
}

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const Rank root = request.root;
  const Shape shape{.operation = Operation::reduce,
                    .ranks = p,
                    .root = root,
                    .segments = request.segments,
                    .ordered = request.ordered};
  std::vector<Op> sources;
  const auto receive_from = [&](Rank peer, int round, bool before) {
    sources.push_back({.kind = OpKind::recv_combine, .incoming_first = before, .peer = peer, .round = round});
  };
  if (!request.ordered) {
    const int hops = (rank - root + p) % p;  // to the root
    const int round = p - 1 - hops;
    if (hops < p - 1) receive_from((rank + 1) % p, round - 1, false);
    return {shape, rank, relay(shape, sources, hops == 0 ? -1 : (rank - 1 + p) % p, round)};
  }
  if (rank >= root && rank < p - 1) receive_from(rank + 1, p - 2 - rank, false);
  if (rank <= root && rank > 0) receive_from(rank - 1, rank - 1, true);
  const int round = rank < root ? rank : p - 1 - rank;
  return {shape, rank, relay(shape, sources, rank == root ? -1 : rank < root ? rank + 1 : rank - 1, round)};
}

std::int64_t rounds(int ranks, int segments) { return ranks == 1 ? 0 : std::int64_t{ranks} - 2 + segments; }

}  // namespace

const Algorithm reduce_chain{.operation = Operation::reduce,
                             .name = "chain",
                             .summary = "a pipeline through all ranks, segment after segment",
                             .rounds = "P+S-2",
                             .bytes = "m (2m if ordered)",
                             .source = "GRD Sect. IV; Open MPI pipeline",
                             .can_be_ordered = true,
                             .local = generate,
                             .round_count = rounds};

}  // namespace papfft::comm
