// SPDX-License-Identifier: MIT
// Binomial gather: the binomial scatter backwards (scatter_bnom.cpp); leaves send first, subtrees are collected
// and sent on in one message.
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/binomial_tree.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int s = request.segments;
  Shape shape{.operation = Operation::gather, .ranks = p, .root = request.root, .segments = s};
  for (int v = 0; v < p && request.root > 0; ++v) shape.holder.push_back((request.root + v) % p);
  const BinomialTree tree{p};
  const int position = (rank - request.root + p) % p;
  const int last_round = tree.rounds() - 1;
  const auto subtree = [&](int v) { return BlockRange{v * s, tree.subtree_end(v) * s}; };
  ProgramBuilder builder(shape.slots());
  const std::vector<int> children = tree.children(position);
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    builder.recv(shape.holder_of(*child), subtree(*child), last_round - tree.round_of(*child));
  }
  if (position > 0) {
    builder.send(shape.holder_of(tree.parent(position)), subtree(position),
                 last_round - tree.round_of(position));
  }
  return {std::move(shape), rank, builder.take()};
}

}  // namespace

const Algorithm gather_bnom{.operation = Operation::gather,
                            .name = "bnom",
                            .summary = "binomial tree: each inner rank collects its subtree and sends it on",
                            .rounds = "q",
                            .bytes = "(P-1)m",
                            .source = "SG Fig. 11 without sorting; Open MPI binomial",
                            .local = generate};

}  // namespace papfft::comm
