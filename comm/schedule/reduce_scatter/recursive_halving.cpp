// SPDX-License-Identifier: MIT
// Recursive halving: in step k ranks that differ in bit k exchange their sums of those blocks that the other side still
// needs, half as many in each step. Since the lowest bit comes first, sums are always over neighbouring ranks and so in rank
// order; the blocks of a step are not neighbours, and go as one message each.
//
//   P = 4   step 0: 0 -> 1 blocks 1 3, 1 -> 0 blocks 0 2, ...   step 1: 0 -> 2 block 2, 2 -> 0 block 0, ...
//
// Where P is no power of two, each of the first ranks 0 1 | 2 3 | ... pairs up: the even one hands its vector to the odd
// one and gets its block's result. It keeps its own part of that block, unless the order forbids.
#include "comm/schedule/core/cyclic_runs.hpp"
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/paired_hypercube.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int n = request.segments;
  const PairedHypercube cube(p);
  const int last_round = cube.steps() + 1;
  RankBuilder builder(request, rank);
  const auto slots = [&](BlockRange blocks) { return BlockRange{blocks.first * n, blocks.last * n}; };
  const auto handed_over = [&](Rank even, auto step) {
    const BlockRange own{even, even + 1};
    for_cyclic_runs(p, 0, p, request.ordered ? BlockRange{} : own, [&](BlockRange run) { step(slots(run)); });
  };
  if (cube.stands_aside(rank)) {
    handed_over(rank, [&](BlockRange blocks) { builder.send(rank + 1, blocks, 0); });
    builder.add({.kind = request.ordered ? OpKind::recv : OpKind::recv_combine,
                 .peer = rank + 1,
                 .blocks = slots({rank, rank + 1}),
                 .round = last_round});
    return builder.take_part();
  }
  const int position = cube.position_of(rank);
  if (cube.is_pair(position)) {
    handed_over(rank - 1, [&](BlockRange blocks) {
      builder.add({.kind = OpKind::recv_combine, .incoming_first = true, .peer = rank - 1, .blocks = blocks});
    });
  }
  for (int step = 0; step < cube.steps(); ++step) {
    const int other = position ^ (1 << step);
    const int stride = 2 << step;
    for (int y = other % stride; y < cube.size(); y += stride) {
      builder.send(cube.rank_of(other), slots(cube.ranks_of(y)), step + 1);
    }
    for (int y = position % stride; y < cube.size(); y += stride) {
      builder.add({.kind = OpKind::recv_combine,
                   .incoming_first = other < position,
                   .peer = cube.rank_of(other),
                   .blocks = slots(cube.ranks_of(y)),
                   .round = step + 1});
    }
  }
  if (cube.is_pair(position)) builder.send(rank - 1, slots({rank - 1, rank}), last_round);
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_scatter_recursive_halving{
    .operation = Operation::reduce_scatter,
    .name = "recursive-halving",
    .summary = "ranks that differ in one bit exchange half of what they have, in rank order",
    .rounds = "floor(log2 P), and 2 unless P = 2^k",
    .bytes = "(P-1)m, twice that for some unless P = 2^k",
    .source = "Thakur et al., IJHPCA 19(1), 2005",
    .segmentation = Segmentation::whole,
    .can_be_ordered = true,
    .local = generate};

}  // namespace papfft::comm
