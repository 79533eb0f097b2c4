// SPDX-License-Identifier: MIT
// Binomial broadcast: in each round the ranks that hold the vector double. With S > 1 segments the rounds of
// successive segments overlap.
#include <utility>

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/binomial_tree.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const BinomialTree tree{p};
  const int position = (rank - request.root + p) % p;
  const auto player = [&](int v) { return (request.root + v) % p; };
  Shape shape = shape_of(request);
  // Else all children of a rank would share its link, and the first has the most ranks behind it.
  shape.single_port = true;
  RankBuilder builder(std::move(shape), rank);
  for (int segment = 0; segment < request.segments; ++segment) {
    const BlockRange blocks{segment, segment + 1};
    const int base = segment * tree.rounds();
    if (position > 0) builder.recv(player(tree.parent(position)), blocks, base + tree.round_of(position));
    for (const int child : tree.children(position)) {
      builder.send(player(child), blocks, base + tree.round_of(child));
    }
  }
  return builder.take_part();
}

}  // namespace

const Algorithm bcast_bnom{.operation = Operation::bcast,
                           .name = "bnom",
                           .summary = "binomial tree: the ranks that hold the vector double in each round",
                           .rounds = "qS",
                           .bytes = "qm",
                           .source = "CIR Sect. 3 (peer); Open MPI binomial",
                           .local = generate};

}  // namespace papfft::comm
