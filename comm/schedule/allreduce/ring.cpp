// SPDX-License-Identifier: MIT
// Ring allreduce: the vector is P blocks of S segments; their sums go once around, then the results do. All ranks end
// with the same bits. Commutative only.
#include "comm/schedule/family/ring.hpp"

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int n = request.segments;
  RankBuilder builder(shape_of(request, p * n), rank);
  add_ring(builder, RingKind::reduce_scatter, p, rank, n);
  add_ring(builder, RingKind::allgather, p, rank, n, (p - 1) * n);
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_ring{
    .operation = Operation::allreduce,
    .name = "ring",
    .summary = "ring reduce-scatter, then ring allgather",
    .rounds = "2(P-1)S",
    .bytes = "2m(P-1)/P",
    .source = "Patarasuk and Yuan, JPDC 69(2), 2009",
    .piece_count = [](int ranks) { return ranks; },
    .local = generate,
    .round_count = [](int ranks, int segments) { return 2 * ring_rounds(ranks, segments); }};

}  // namespace papfft::comm
