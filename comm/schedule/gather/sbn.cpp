// SPDX-License-Identifier: MIT
// Sorted binomial gather: early ranks are leaves that send first; late ones collect what the others have sent on,
// and the last to arrive hands half of all blocks to the root in the last round.
//
// It is the tree of scatter_sbn.cpp backwards, over the order latest first:
//
//   P = 6   round 0: 4->0 {4}  5->1 {5}   round 1: 2->0 {2}  3->1 {3}   round 2: 1->0 {1,5,3}
#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  Shape shape = shape_of(request);
  JoiningPart part =
      joining_part(arrival_order(request.ranks, request.root, request.arrival_ns, ArrivalOrder::latest_first),
                   request.segments, rank);
  shape.holder = std::move(part.holder);
  RankBuilder builder(std::move(shape), rank);
  const int last_round = part.rounds - 1;
  for (auto child = part.children.rbegin(); child != part.children.rend(); ++child) {
    builder.recv(child->rank, child->slots, last_round - child->round);
  }
  if (part.parent >= 0) builder.send(part.parent, part.slots, last_round - part.round);
  return builder.take_part();
}

}  // namespace

const Algorithm gather_sbn{.operation = Operation::gather,
                           .name = "sbn",
                           .summary = "binomial tree that early ranks leave first",
                           .rounds = "q",
                           .bytes = "(P-1)m",
                           .source = "SG Fig. 11, corrected (Fig. 12 BSBN: the same in the background)",
                           .uses_arrival = true,
                           .local = generate};

}  // namespace papfft::comm
