// SPDX-License-Identifier: MIT
// Scatter of P blocks along a binomial tree, then allgather on the circulant graph. Who got its subtree's blocks in the
// scatter is not sent them again; the root gets nothing.
#include "comm/schedule/core/cyclic_runs.hpp"
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/binomial_tree.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int n = request.segments;
  const BinomialTree tree{p};
  const Circulant graph(p);
  const int v = (rank - request.root + p) % p;
  const auto player = [&](int position) { return (request.root + position) % p; };
  const auto subtree = [&](int position) { return BlockRange{position, tree.subtree_end(position)}; };
  const auto slots = [&](BlockRange blocks) { return BlockRange{blocks.first * n, blocks.last * n}; };
  RankBuilder builder(shape_of(request, p * n), rank);
  if (v > 0) builder.recv(player(tree.parent(v)), slots(subtree(v)), tree.round_of(v));
  for (const int child : tree.children(v)) {
    builder.send(player(child), slots(subtree(child)), tree.round_of(child));
  }
  for (int k = 0; k < graph.rounds(); ++k) {
    const int count = graph.skip(k + 1) - graph.skip(k);
    const int round = tree.rounds() + k;
    const int to = graph.from(v, k);  // the allgather uses the edges backwards
    const int from = graph.to(v, k);
    for_cyclic_runs(p, v, count, subtree(to),
                    [&](BlockRange run) { builder.send(player(to), slots(run), round); });
    for_cyclic_runs(p, from, count, subtree(v),
                    [&](BlockRange run) { builder.recv(player(from), slots(run), round); });
  }
  return builder.take_part();
}

}  // namespace

const Algorithm bcast_scatter_allgather{
    .operation = Operation::bcast,
    .name = "scatter-allgather",
    .summary = "binomial scatter of P blocks, then allgather",
    .rounds = "2q",
    .bytes = "2m(P-1)/P",
    .source = "van de Geijn; Thakur et al., IJHPCA 19(1), 2005; CIR Alg. 7",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
