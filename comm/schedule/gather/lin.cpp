// SPDX-License-Identifier: MIT
// Linear gather: the root takes the blocks of ranks 0, 1, ..., P-1 one after another.

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int s = request.segments;
  RankBuilder builder(request, rank);
  if (rank != request.root) {
    builder.send(request.root, {rank * s, (rank + 1) * s}, rank - (rank > request.root ? 1 : 0));
    return builder.take_part();
  }
  int previous = -1;
  int round = 0;
  for (Rank r = 0; r < request.ranks; ++r) {
    if (r != rank) previous = builder.recv(r, {r * s, (r + 1) * s}, round++, {previous});
  }
  return builder.take_part();
}

}  // namespace

const Algorithm gather_lin{.operation = Operation::gather,
                           .name = "lin",
                           .summary = "the root receives each rank's block, in rank order, one after another",
                           .rounds = "P-1",
                           .bytes = "(P-1)m",
                           .source = "SG Sect. 3; Open MPI basic_linear",
                           .local = generate};

const Algorithm gatherv_lin{
    .operation = Operation::gatherv,
    .name = "lin",
    .summary = "the root receives each rank's block, in rank order, one after another",
    .rounds = "P-1",
    .bytes = "(P-1)m",
    .source = "SG Sect. 3; Open MPI basic_linear",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
