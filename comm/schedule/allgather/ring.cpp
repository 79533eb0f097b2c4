// SPDX-License-Identifier: MIT
// Ring allgather: every block goes once around, P-1 steps, each port always busy. With S > 1 a rank hands a block on
// before it has all of it.
#include "comm/schedule/family/ring.hpp"

#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const Shape shape{.operation = request.operation, .ranks = request.ranks, .segments = request.segments};
  ProgramBuilder builder(shape.slots());
  add_ring_allgather(builder, request.ranks, rank, request.segments);
  return {shape, rank, builder.take()};
}

std::int64_t round_count(int ranks, int segments) { return (std::int64_t{ranks} - 1) * segments; }

}  // namespace

const Algorithm allgather_ring{.operation = Operation::allgather,
                               .name = "ring",
                               .summary = "every block goes once around",
                               .rounds = "(P-1)S",
                               .bytes = "(P-1)m",
                               .source = "Thakur et al., IJHPCA 19(1), 2005",
                               .local = generate,
                               .round_count = round_count};

const Algorithm allgatherv_ring{.operation = Operation::allgatherv,
                                .name = "ring",
                                .summary = "every block goes once around, the largest setting the pace",
                                .rounds = "(P-1)S",
                                .bytes = "(P-1)m",
                                .source = "Thakur et al., IJHPCA 19(1), 2005",
                                .local = generate,
                                .round_count = round_count};

}  // namespace papfft::comm
