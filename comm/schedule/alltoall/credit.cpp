// SPDX-License-Identifier: MIT
// Receiver-driven all-to-all: the credit gather (gather/credit.cpp) with every rank as a root at once. A rank tells all others that it
// has come, and each asks it for its block, chunk after chunk, when it is its turn. So whoever comes early is served early, and no more
// chunks are on their way to a rank than it has asked for, however many ranks come together.
//
// A rank serves all that have asked it at once, and its link is shared among them. So what is spared at the targets' links may be lost
// at the sources': for ranks that come together, linear and pairwise are better.
//
// An alltoallv has one chunk per block, as nobody knows into how many chunks the longest block of all should be cut.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/pair_blocks.hpp"

namespace papfft::comm {

namespace {

constexpr int kCredits = 4;  // for the simulator; the executor finds out (CreditWindow)

void add_source(RankBuilder& builder, Rank target) {
  const int first = block_for(builder.shape(), target).first;
  int previous = builder.add({.kind = OpKind::send, .announces = true, .peer = target});
  for (int chunk = 0; chunk < builder.shape().segments; ++chunk) {
    const int granted = builder.recv(target, {}, chunk, {previous});
    previous = builder.send(target, {first + chunk, first + chunk + 1}, chunk, {granted});
  }
}

void add_target(RankBuilder& builder, Rank source) {
  const int first = block_from(builder.shape(), source).first;
  int previous = builder.recv(source, {});
  for (int chunk = 0; chunk < builder.shape().segments; ++chunk) {
    // Posted before its grant goes out, so that the chunk lands where it belongs.
    builder.add({.kind = OpKind::recv,
                 .credit = Credit::give,
                 .peer = source,
                 .blocks = {first + chunk, first + chunk + 1},
                 .round = chunk},
                {previous});
    previous = builder.add({.kind = OpKind::send, .credit = Credit::take, .peer = source, .round = chunk},
                           {previous});
  }
}

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  Shape shape = shape_of(request);
  shape.credits = kCredits;
  RankBuilder builder(std::move(shape), rank);
  for (int step = 1; step < p; ++step) {
    const Rank to = (rank + step) % p;
    const Rank from = (rank - step + p) % p;
    // Of two ranks that are opposite each other, one gives first and the other takes first, so that their messages meet.
    const bool takes_first = to == from && rank > to;
    if (takes_first) add_target(builder, from);
    add_source(builder, to);
    if (!takes_first) add_target(builder, from);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm alltoall_credit{
    .operation = Operation::alltoall,
    .name = "credit",
    .summary = "each rank asks the others for chunk after chunk, in the order of their coming",
    .rounds = "2(P-1)S",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::chunks,
    .local = generate};

const Algorithm alltoallv_credit{
    .operation = Operation::alltoallv,
    .name = "credit",
    .summary = "each rank asks the others for their blocks, in the order of their coming",
    .rounds = "2(P-1)",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
