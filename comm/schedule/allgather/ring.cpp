// SPDX-License-Identifier: MIT
// Ring allgather: every block goes once around, P-1 steps, each port always busy. With S > 1 a rank hands a block on
// before it has all of it.
#include "comm/schedule/family/ring.hpp"

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(request, rank);
  add_ring(builder, RingKind::allgather, request.ranks, rank, request.segments);
  return builder.take_part();
}

}  // namespace

const Algorithm allgather_ring{.operation = Operation::allgather,
                               .name = "ring",
                               .summary = "every block goes once around",
                               .rounds = "(P-1)S",
                               .bytes = "(P-1)m",
                               .source = "Thakur et al., IJHPCA 19(1), 2005",
                               .local = generate,
                               .round_count = ring_rounds};

const Algorithm allgatherv_ring{.operation = Operation::allgatherv,
                                .name = "ring",
                                .summary = "every block goes once around, the largest setting the pace",
                                .rounds = "(P-1)S",
                                .bytes = "(P-1)m",
                                .source = "Thakur et al., IJHPCA 19(1), 2005",
                                .local = generate,
                                .round_count = ring_rounds};

}  // namespace papfft::comm
