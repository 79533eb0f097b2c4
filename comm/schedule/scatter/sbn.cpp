// SPDX-License-Identifier: MIT
// Sorted binomial scatter: the ranks join the tree in order of expected arrival. Early ranks receive large subtrees
// and hand them on; the last are leaves that are served last.
//
// By position in the order of arrival (slots are in the order 0 4 2 1 5 3, so that every subtree is contiguous):
//
//   P = 6   round 0: 0->1 {1,5,3}   round 1: 0->2 {2}  1->3 {3}   round 2: 0->4 {4}  1->5 {5}
//
// A position x > 0 stages at most P / 2^(floor(log2 x) + 1) blocks, rounded up.
#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  Shape shape = shape_of(request);
  shape.single_port = true;
  JoiningPart part =
      joining_part(arrival_order(request.ranks, request.root, request.arrival_ns), request.segments, rank);
  shape.holder = std::move(part.holder);
  RankBuilder builder(std::move(shape), rank);
  if (part.parent >= 0) builder.recv(part.parent, part.slots, part.round);
  for (const auto& child : part.children) builder.send(child.rank, child.slots, child.round);
  return builder.take_part();
}

}  // namespace

const Algorithm scatter_sbn{.operation = Operation::scatter,
                            .name = "sbn",
                            .summary = "binomial tree that ranks join in order of expected arrival",
                            .rounds = "q",
                            .bytes = "(P-1)m",
                            .source = "SG Fig. 7, corrected (Fig. 8 BSBN: the same in the background)",
                            .uses_arrival = true,
                            .local = generate};

}  // namespace papfft::comm
