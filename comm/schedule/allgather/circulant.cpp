// SPDX-License-Identifier: MIT
// Allgather in q rounds for any P: each rank holds a growing cyclic range of blocks that begins with its own.
//
//   P = 5, skips 1 2 3 5, rank 2 holds 2 | gets 3 from 3 | gets 4 from 4 | gets 0 1 from 0
//
// Each block passes each port once. Blocks of unequal size are carried too, but the rounds are then as long as the
// largest message in them.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const Circulant graph(request.ranks);
  RankBuilder builder(request, rank);
  std::vector<int> received;
  for (int k = 0; k < graph.rounds(); ++k) {
    received = add_exchange_round(builder, graph, Exchange::allgather, rank, k,
                                  {.slots_per_block = request.segments}, received);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allgather_circulant{
    .operation = Operation::allgather,
    .name = "circulant",
    .summary = "each rank's range of blocks doubles, or nearly so where P is no power of two",
    .rounds = "q",
    .bytes = "(P-1)m",
    .source = "CIR Alg. 7",
    .segmentation = Segmentation::whole,
    .local = generate};

const Algorithm allgatherv_circulant_q{
    .operation = Operation::allgatherv,
    .name = "circulant-q",
    .summary = "as allgather circulant, for blocks of unequal size: fewest messages",
    .rounds = "q",
    .bytes = "(P-1)m",
    .source = "CIR Alg. 7",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
