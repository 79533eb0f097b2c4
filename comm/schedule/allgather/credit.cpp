// SPDX-License-Identifier: MIT
// Receiver-driven allgather: each rank asks all others for their blocks, in the order in which they come
// (family/credit_exchange.hpp). Every block goes straight from its owner to all, so only its owner's arrival counts. A rank that comes
// late sends P-1 blocks while it receives P-1, which no algorithm can do sooner.
//
//   P = 3, rank 2 late    0 -> 1: 0 | 1 -> 0: 1, then 2 -> 0, 2 -> 1: 2 | 0 -> 2: 0, 1 -> 2: 1
#include "comm/schedule/family/credit_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(credit_shape(request, request.segments), rank);
  add_credit_exchange(builder, rank,
                      {.asked_of = [&](Rank source) { return piece_of(builder.shape(), source); },
                       .given_to = [&](Rank) { return piece_of(builder.shape(), rank); }});
  return builder.take_part();
}

}  // namespace

const Algorithm allgather_credit{
    .operation = Operation::allgather,
    .name = "credit",
    .summary = "each rank asks the others for chunk after chunk, in the order of their coming",
    .rounds = "2(P-1)S",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::chunks,
    .local = generate};

}  // namespace papfft::comm
