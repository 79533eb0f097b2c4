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
// Blocks of a gatherv are of any size, which only their owner and the root know. Long ones go as above, as one chunk. A short one, which
// would take longer to announce and to grant than to send, goes straight. Segment 0 has the short blocks, segment 1 the long ones; what is
// empty is neither announced, granted nor sent.
//
// The root needs no arrival of its own, so its background thread can run all of it.

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

constexpr int kCredits = 12;  // for the simulator; the executor finds out (CreditWindow)

/// @param straight  so many segments of each block go without a grant
RankSchedule generate(const Request& request, Rank rank, int straight) {
  const int s = request.segments;
  Shape shape = shape_of(request);
  shape.credits = kCredits;
  shape.names_what_it_grants = traits(request.operation).sizes_are_own;
  const auto about = [names = shape.names_what_it_grants](BlockRange slots) {
    return names ? slots : BlockRange{};
  };
  RankBuilder builder(std::move(shape), rank);
  if (rank != request.root) {
    const BlockRange own{rank * s, (rank + 1) * s};
    const BlockRange granted{own.first + straight, own.last};
    int previous =
        builder.add({.kind = OpKind::send, .announces = true, .peer = request.root, .about = about(granted)});
    if (straight > 0) builder.send(request.root, {own.first, granted.first}, 0);
    for (int chunk = granted.first; chunk < granted.last; ++chunk) {
      const BlockRange blocks{chunk, chunk + 1};
      const int round = chunk - granted.first;
      previous = builder.add(
          {.kind = OpKind::recv, .peer = request.root, .about = about(blocks), .round = round}, {previous});
      previous = builder.send(request.root, blocks, round, {previous});
    }
    return builder.take_part();
  }
  for (Rank r = 0; r < request.ranks; ++r) {
    if (r == rank) continue;
    const BlockRange granted{r * s + straight, (r + 1) * s};
    int previous = builder.add({.kind = OpKind::recv, .peer = r, .about = about(granted)});
    if (straight > 0) builder.recv(r, {r * s, granted.first}, 0);
    for (int chunk = granted.first; chunk < granted.last; ++chunk) {
      const BlockRange blocks{chunk, chunk + 1};
      const int round = chunk - granted.first;
      // Posted before its grant goes out, so that the chunk lands where it belongs.
      builder.add({.kind = OpKind::recv, .credit = Credit::give, .peer = r, .blocks = blocks, .round = round},
                  {previous});
      previous = builder.add(
          {.kind = OpKind::send, .credit = Credit::take, .peer = r, .about = about(blocks), .round = round},
          {previous});
    }
  }
  return builder.take_part();
}

RankSchedule by_chunks(const Request& request, Rank rank) { return generate(request, rank, 0); }

RankSchedule short_ones_straight(const Request& request, Rank rank) {
  return generate(request, rank, request.segments > 1 ? 1 : 0);
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
    .local = by_chunks};

const Algorithm gatherv_credit{
    .operation = Operation::gatherv,
    .name = "credit",
    .summary =
        "the root grants block after block, to leaves in the order of their coming; short blocks go straight",
    .rounds = "2(P-1)",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::short_or_long,
    .local = short_ones_straight};

}  // namespace papfft::comm
