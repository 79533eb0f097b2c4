// SPDX-License-Identifier: MIT
// Binomial reduction: each rank combines what its children send, smallest subtree first, and sends the result to
// its parent. With S > 1 segments the rounds of successive segments overlap.
//
// A position combines its own contribution with those of the positions right behind it, so the tree over ranks
// 0 .. P-1 keeps their order. If the order matters and the root is another rank, rank 0 hands the result to it.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/binomial_tree.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const BinomialTree tree{p};
  const Rank top = request.ordered ? 0 : request.root;
  const int position = (rank - top + p) % p;
  const auto player = [&](int v) { return (top + v) % p; };
  const std::vector<int> children = tree.children(position);
  RankBuilder builder(request, rank);
  for (int segment = 0; segment < request.segments; ++segment) {
    const BlockRange blocks{segment, segment + 1};
    const int last = (segment + 1) * (tree.rounds() + 1) - 1;  // the round of the hand-over
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      builder.recv_combine(player(*child), blocks, last - 1 - tree.round_of(*child));
    }
    if (position > 0) builder.send(player(tree.parent(position)), blocks, last - 1 - tree.round_of(position));
    if (top != request.root && rank == top) builder.send(request.root, blocks, last);
    if (top != request.root && rank == request.root) builder.recv(top, blocks, last);
  }
  return builder.take_part();
}

std::int64_t rounds(int ranks, int segments) { return std::int64_t{BinomialTree{ranks}.rounds()} * segments; }

}  // namespace

const Algorithm reduce_bnom{.operation = Operation::reduce,
                            .name = "bnom",
                            .summary = "binomial tree: each inner rank combines its children's vectors",
                            .rounds = "qS (one more per segment if ordered and root > 0)",
                            .bytes = "qm",
                            .source = "GRD Sect. II; Open MPI binomial",
                            .can_be_ordered = true,
                            .local = generate,
                            .round_count = rounds};

}  // namespace papfft::comm
