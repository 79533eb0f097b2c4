// SPDX-License-Identifier: MIT
// Ring reduce-scatter: each block's sum goes once around and ends with its owner.
#include "comm/schedule/family/ring.hpp"

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(request, rank);
  add_ring(builder, RingKind::reduce_scatter, request.ranks, rank, request.segments);
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_scatter_ring{.operation = Operation::reduce_scatter,
                                    .name = "ring",
                                    .summary = "each block's sum goes once around and ends with its owner",
                                    .rounds = "(P-1)S",
                                    .bytes = "(P-1)m",
                                    .source = "Thakur et al., IJHPCA 19(1), 2005",
                                    .local = generate,
                                    .round_count = ring_rounds};

}  // namespace papfft::comm
