// SPDX-License-Identifier: MIT
// Ring reduce-scatter: each block's sum goes once around and ends with its owner.
#include "comm/schedule/family/ring.hpp"

#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const Shape shape{
      .operation = Operation::reduce_scatter, .ranks = request.ranks, .segments = request.segments};
  ProgramBuilder builder(shape.slots());
  add_ring_reduce_scatter(builder, request.ranks, rank, request.segments);
  return {shape, rank, builder.take()};
}

}  // namespace

const Algorithm reduce_scatter_ring{.operation = Operation::reduce_scatter,
                                    .name = "ring",
                                    .summary = "each block's sum goes once around and ends with its owner",
                                    .rounds = "(P-1)S",
                                    .bytes = "(P-1)m",
                                    .source = "Thakur et al., IJHPCA 19(1), 2005",
                                    .local = generate,
                                    .round_count = [](int ranks, int segments) -> std::int64_t {
                                      return (std::int64_t{ranks} - 1) * segments;
                                    }};

}  // namespace papfft::comm
