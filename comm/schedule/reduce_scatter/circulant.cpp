// SPDX-License-Identifier: MIT
// The two circulant allgathers backwards, for commutative operations.
#include "comm/schedule/family/circulant.hpp"

#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::comm {

namespace {

/// q rounds: a rank's range of sums halves, down to its own block.
RankSchedule generate(const Request& request, Rank rank) {
  Request forward = request;
  forward.operation = Operation::allgather;
  return reverse(allgather_circulant.local(forward, rank), Circulant(request.ranks).rounds() - 1);
}

/// P circulant reductions at once.
RankSchedule generate_n(const Request& request, Rank rank) {
  Request forward = request;
  forward.operation = Operation::allgatherv;
  const int rounds = CirculantRounds(Circulant(request.ranks), request.segments).count();
  return reverse(allgatherv_circulant.local(forward, rank), rounds - 1);
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
    .round_count = [](int ranks, int segments) -> std::int64_t {
      return (std::int64_t{ranks} - 1) * CirculantRounds(Circulant(ranks), segments).count();
    }};

}  // namespace papfft::comm
