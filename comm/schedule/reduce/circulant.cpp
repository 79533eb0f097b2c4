// SPDX-License-Identifier: MIT
// The circulant broadcast backwards: who received a block now sends its sum of it, who sent it combines. S-1+q rounds, as
// few as the broadcast's; each rank sends each segment once. For commutative operations: sums grow in the graph's order.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const auto rounds = static_cast<int>(least_rounds(request.ranks, request.segments));
  return backwards(bcast_circulant, request, rank, rounds);
}

}  // namespace

const Algorithm reduce_circulant{.operation = Operation::reduce,
                                 .name = "circulant",
                                 .summary = "the circulant broadcast backwards",
                                 .rounds = "S-1+q",
                                 .bytes = "m(S-1+q)/S",
                                 .source = "CIR Alg. 6, reversed",
                                 .local = generate,
                                 .round_count = least_rounds};

}  // namespace papfft::comm
