// SPDX-License-Identifier: MIT
// Butterfly on whole vectors: in step k ranks that differ in bit k exchange their sums. For short vectors, and for
// operations that are not commutative: sums are in rank order, and the same bits on all ranks.
//
// Where P is no power of two, each of the first ranks 0 1 | 2 3 | ... pairs up: the even one hands its vector to the odd
// one before, and gets the result from it afterwards. What arrives lands in scratch, as the rank's own sum is still
// on its way out.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/paired_hypercube.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int n = request.segments;
  Shape shape = shape_of(request);
  for (int slot = 0; slot < n; ++slot) shape.scratch.push_back(slot);
  const PairedHypercube cube(request.ranks);
  const int last_round = cube.steps() + 1;
  RankBuilder builder(std::move(shape), rank);
  for (int s = 0; s < n; ++s) {
    const BlockRange own{s, s + 1};
    const BlockRange aside{n + s, n + s + 1};
    if (cube.stands_aside(rank)) {
      builder.send(rank + 1, own, 0);
      builder.recv(rank + 1, own, last_round);
      continue;
    }
    const int position = cube.position_of(rank);
    if (cube.is_pair(position)) {
      builder.add({.kind = OpKind::recv_combine, .incoming_first = true, .peer = rank - 1, .blocks = own});
    }
    for (int step = 0; step < cube.steps(); ++step) {
      const int other = position ^ (1 << step);
      builder.send(cube.rank_of(other), own, step + 1);
      builder.recv(cube.rank_of(other), aside, step + 1);
      builder.add({.kind = OpKind::combine,
                   .incoming_first = other < position,
                   .blocks = own,
                   .from = aside.first,
                   .round = step + 1});
    }
    if (cube.is_pair(position)) builder.send(rank - 1, own, last_round);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_recursive_doubling{.operation = Operation::allreduce,
                                             .name = "recursive-doubling",
                                             .summary = "butterfly on whole vectors, in rank order",
                                             .rounds = "floor(log2 P), and 2 unless P = 2^k",
                                             .bytes = "qm",
                                             .source = "Thakur et al., IJHPCA 19(1), 2005",
                                             .segmentation = Segmentation::whole,
                                             .can_be_ordered = true,
                                             .local = generate};

}  // namespace papfft::comm
