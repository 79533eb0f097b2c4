// SPDX-License-Identifier: MIT
// Reduce-scatter, then allgather, both on the circulant graph: 2q rounds for any P, and 2m(P-1)/P bytes through each port,
// the least possible. The vector is S pieces of P blocks; the pieces' messages overlap, so that combining one hides behind
// the transfer of the next. All ranks end with the same bits, as each block is combined on one rank. Commutative only.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(shape_of(request, request.ranks * request.segments), rank);
  add_allreduce(builder, Circulant(request.ranks), rank, request.segments, {});
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_circulant{.operation = Operation::allreduce,
                                    .name = "circulant",
                                    .summary = "reduce-scatter, then allgather, both on the circulant graph",
                                    .rounds = "2q",
                                    .bytes = "2m(P-1)/P",
                                    .source = "CIR Alg. 7, reversed and forward",
                                    .local = generate};

}  // namespace papfft::comm
