// SPDX-License-Identifier: MIT
// Linear scatter: the root serves ranks 0, 1, ..., P-1 one after another.
//
//   P = 4, root 1:  1->0   1->2   1->3
//
// One rank that is not ready holds up all behind it; this is what Open MPI's linear algorithm does, and the
// baseline of the arrival-aware ones.
#include "comm/schedule/builder.hpp"
#include "comm/schedule/registry.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int s = request.segments;
  const Shape shape{
      .operation = Operation::scatter, .ranks = request.ranks, .root = request.root, .segments = s};
  ProgramBuilder builder(shape.slots());
  if (rank != request.root) {
    builder.recv(request.root, {rank * s, (rank + 1) * s}, rank - (rank > request.root ? 1 : 0));
    return {shape, rank, builder.take()};
  }
  int previous = -1;
  int round = 0;
  for (Rank r = 0; r < request.ranks; ++r) {
    if (r == rank) continue;
    previous = builder.send(r, {r * s, (r + 1) * s}, round++, {previous});
  }
  return {shape, rank, builder.take()};
}

}  // namespace

const Algorithm scatter_lin{.operation = Operation::scatter,
                            .name = "lin",
                            .summary = "the root sends each rank its block, in rank order, one after another",
                            .rounds = "P-1",
                            .bytes = "(P-1)m",
                            .source = "SG Fig. 5; Open MPI basic_linear",
                            .local = generate};

}  // namespace papfft::comm
