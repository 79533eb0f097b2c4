// SPDX-License-Identifier: MIT
// Receiver-driven gather: the root asks for one chunk after another, from whoever has come.
//
// A leaf says with an empty message that it has come, then sends one chunk per empty grant. The root grants the chunks
// of a leaf one after another and turns to the next leaf in the order in which they came; as many grants are open at a
// time as the network carries. So never more than that many chunks are on their way to the root: a switch port with a
// shallow buffer does not overflow however many leaves are ready, no late leaf holds up another, and the link stays
// busy as long as credits * chunk covers the rate times the round trip. One whole block per leaf and one credit is SLS;
// as many credits as chunks is a root that has posted everything.
//
// The root needs no arrival of its own, so its background thread can run all of it.

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

constexpr int kCredits = 12;  // for the simulator; the executor finds out (CreditWindow)

RankSchedule generate(const Request& request, Rank rank) {
  const int s = request.segments;
  Shape shape = shape_of(request);
  shape.credits = kCredits;
  RankBuilder builder(std::move(shape), rank);
  if (rank != request.root) {
    const BlockRange own{rank * s, (rank + 1) * s};
    int previous = builder.add({.kind = OpKind::send, .announces = true, .peer = request.root});
    for (int chunk = own.first; chunk < own.last; ++chunk) {
      const int granted = builder.recv(request.root, {}, chunk - own.first, {previous});
      previous = builder.send(request.root, {chunk, chunk + 1}, chunk - own.first, {granted});
    }
    return builder.take_part();
  }
  for (Rank r = 0; r < request.ranks; ++r) {
    if (r == rank) continue;
    int previous = builder.recv(r, {}, 0);
    for (int chunk = 0; chunk < s; ++chunk) {
      const BlockRange blocks{r * s + chunk, r * s + chunk + 1};
      // Posted before its grant goes out, so that the chunk lands where it belongs.
      builder.add({.kind = OpKind::recv, .credit = Credit::give, .peer = r, .blocks = blocks, .round = chunk},
                  {previous});
      previous =
          builder.add({.kind = OpKind::send, .credit = Credit::take, .peer = r, .round = chunk}, {previous});
    }
  }
  return builder.take_part();
}

}  // namespace

const Algorithm gather_credit{
    .operation = Operation::gather,
    .name = "credit",
    .summary = "the root grants chunk after chunk, to leaves in the order of their coming",
    .rounds = "2(P-1)S",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::chunks,
    .local = generate};

const Algorithm gatherv_credit{
    .operation = Operation::gatherv,
    .name = "credit",
    .summary = "the root grants block after block, to leaves in the order of their coming",
    .rounds = "2(P-1)",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
