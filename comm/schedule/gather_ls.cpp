// SPDX-License-Identifier: MIT
// Linear-synchronised gather: the root invites one rank after another, so that the blocks of several ranks never
// meet in the switch before the root is ready for them.
//
// For each rank in turn the root posts the receive of the first segment, sends an empty go-ahead, posts the
// receive of the rest, and waits for the first segment before it turns to the next rank: the rest of one block
// and the invitation of the next overlap. One late rank holds up all behind it.
#include "comm/schedule/builder.hpp"
#include "comm/schedule/registry.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int s = request.segments;
  const Shape shape{
      .operation = Operation::gather, .ranks = request.ranks, .root = request.root, .segments = s};
  ProgramBuilder builder(shape.slots());
  int round = 0;
  if (rank != request.root) {
    round = rank - (rank > request.root ? 1 : 0);
    const int invited = builder.recv(request.root, {}, round);
    const int head = builder.send(request.root, {rank * s, rank * s + 1}, round, {invited});
    if (s > 1) builder.send(request.root, {rank * s + 1, (rank + 1) * s}, round, {head});
    return {shape, rank, builder.take()};
  }
  int previous_head = -1;
  for (Rank r = 0; r < request.ranks; ++r) {
    if (r == rank) continue;
    const int head = builder.recv(r, {r * s, r * s + 1}, round, {previous_head});
    const int invited = builder.send(r, {}, round, {previous_head});
    if (s > 1) builder.recv(r, {r * s + 1, (r + 1) * s}, round, {invited});
    previous_head = head;
    ++round;
  }
  return {shape, rank, builder.take()};
}

}  // namespace

const Algorithm gather_ls{
    .operation = Operation::gather,
    .name = "ls",
    .summary = "linear with synchronisation: the root invites each rank with an empty message",
    .rounds = "2(P-1)",
    .bytes = "(P-1)m",
    .source = "SG Fig. 9; Open MPI linear_sync",
    .segmentation = Segmentation::head_and_rest,
    .local = generate};

}  // namespace papfft::comm
