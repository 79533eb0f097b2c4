// SPDX-License-Identifier: MIT
// Receiver-driven reduce-scatter: each rank sums up its own block, and asks the others for what they have to add in the order in which
// they come (family/credit_exchange.hpp). What the early ranks have is summed up when the last one comes. The order of a sum is that of
// the arrivals, so floating-point results may differ from run to run. Commutative only.
//
//   P = 3, rank 2 late    0 -> 1: 1 | 1 -> 0: 0, then 2 -> 0: 0, 2 -> 1: 1 | 0 -> 2: 2, 1 -> 2: 2
#include "comm/schedule/family/credit_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(credit_shape(request, request.segments), rank);
  add_credit_sums(builder, rank);
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_scatter_credit{
    .operation = Operation::reduce_scatter,
    .name = "credit",
    .summary = "each rank sums up its own block, in the order in which the others come",
    .rounds = "2(P-1)S",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::chunks,
    .local = generate};

}  // namespace papfft::comm
