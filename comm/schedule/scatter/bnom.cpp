// SPDX-License-Identifier: MIT
// Binomial scatter: each inner rank receives its subtree's blocks in one message and hands them on.
//
// Tree position v is played by rank (root + v) mod P, and slots are in the order of positions, so that every
// message is one contiguous range:
//
//   P = 6   round 0: 0->4 [4,6)   round 1: 0->2 [2,4)   round 2: 0->1 [1,2)  2->3 [3,4)  4->5 [5,6)
//
// A position v > 0 stages 2^ctz(v) blocks at most.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/binomial_tree.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int s = request.segments;
  Shape shape = shape_of(request);
  shape.single_port = true;
  for (int v = 0; v < p && request.root > 0; ++v) shape.holder.push_back((request.root + v) % p);
  const BinomialTree tree{p};
  const int position = (rank - request.root + p) % p;
  const auto subtree = [&](int v) { return BlockRange{v * s, tree.subtree_end(v) * s}; };
  RankBuilder builder(std::move(shape), rank);
  if (position > 0) {
    builder.recv(builder.shape().holder_of(tree.parent(position)), subtree(position),
                 tree.round_of(position));
  }
  for (const int child : tree.children(position)) {
    builder.send(builder.shape().holder_of(child), subtree(child), tree.round_of(child));
  }
  return builder.take_part();
}

}  // namespace

const Algorithm scatter_bnom{
    .operation = Operation::scatter,
    .name = "bnom",
    .summary = "binomial tree: half of the blocks to the far half of the ranks, and so on",
    .rounds = "q",
    .bytes = "(P-1)m",
    .source = "SG Fig. 7 without sorting; Thakur et al., IJHPCA 19(1), 2005",
    .local = generate};

}  // namespace papfft::comm
