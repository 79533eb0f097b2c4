// SPDX-License-Identifier: MIT
// The circulant broadcast backwards: who received a block now sends its sum of it, who sent it combines. S-1+q rounds, as
// few as the broadcast's; each rank sends each segment once. For commutative operations: sums grow in the graph's order.
#include "comm/schedule/family/circulant.hpp"

#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  Request forward = request;
  forward.operation = Operation::bcast;
  const int rounds = CirculantRounds(Circulant(request.ranks), request.segments).count();
  return reverse(bcast_circulant.local(forward, rank), rounds - 1);
}

}  // namespace

const Algorithm reduce_circulant{.operation = Operation::reduce,
                                 .name = "circulant",
                                 .summary = "the circulant broadcast backwards",
                                 .rounds = "S-1+q",
                                 .bytes = "m(S-1+q)/S",
                                 .source = "CIR Alg. 6, reversed",
                                 .local = generate,
                                 .round_count = [](int ranks, int segments) -> std::int64_t {
                                   return CirculantRounds(Circulant(ranks), segments).count();
                                 }};

}  // namespace papfft::comm
