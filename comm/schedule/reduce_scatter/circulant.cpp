// SPDX-License-Identifier: MIT
// The two circulant allgathers backwards, for commutative operations.
#include "comm/schedule/family/circulant.hpp"

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

/// q rounds: a rank's range of sums halves, down to its own block.
RankSchedule generate(const Request& request, Rank rank) {
  return backwards(allgather_circulant, request, rank, Circulant(request.ranks).rounds());
}

/// P circulant reductions at once.
RankSchedule generate_n(const Request& request, Rank rank) {
  const auto rounds = static_cast<int>(least_rounds(request.ranks, request.segments));
  return backwards(allgatherv_circulant, request, rank, rounds);
}

}  // namespace

const Algorithm reduce_scatter_circulant{.operation = Operation::reduce_scatter,
                                         .name = "circulant",
                                         .summary = "each rank's range of sums halves, down to its own block",
                                         .rounds = "q",
                                         .bytes = "(P-1)m",
                                         .source = "CIR Alg. 7, reversed",
                                         .segmentation = Segmentation::whole,
                                         .local = generate};

const Algorithm reduce_scatter_circulant_n{
    .operation = Operation::reduce_scatter,
    .name = "circulant-n",
    .summary = "P circulant reductions at once: even load for any sizes, zeros included",
    .rounds = "(P-1)(S-1+q) segments",
    .bytes = "(P-1)m(S-1+q)/S",
    .source = "CIR Alg. 9, reversed",
    .local = generate_n,
    .round_count = [](int ranks, int segments) { return (ranks - 1) * least_rounds(ranks, segments); }};

}  // namespace papfft::comm
