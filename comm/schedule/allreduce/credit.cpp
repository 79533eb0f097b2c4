// SPDX-License-Identifier: MIT
// Allreduce in the order in which the ranks really come, which nobody has to predict: the receiver-driven reduce-scatter
// (reduce_scatter/credit.cpp) on as many equal pieces of the vector as there are ranks. Each rank hands the sum of its piece on to all
// others, segment by segment. So a late rank's first segments are with everybody while its last ones are still on their way. All ranks
// end with the same bits. The order of a sum is that of the arrivals, so floating-point results may differ from run to run. Commutative
// only.
#include "comm/schedule/family/credit_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  RankBuilder builder(credit_shape(request, p * request.segments), rank);
  add_credit_sums(builder, rank);
  for (int s = 0; s < request.segments; ++s) {
    for (int step = 1; step < p; ++step) {
      const Rank to = (rank + step) % p;
      const Rank from = (rank - step + p) % p;
      const int sum = piece_of(builder.shape(), from).first + s;
      const int own = piece_of(builder.shape(), rank).first + s;
      builder.recv(from, {sum, sum + 1}, s);
      builder.send(to, {own, own + 1}, s);
    }
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_credit{
    .operation = Operation::allreduce,
    .name = "credit",
    .summary = "each rank sums up a piece, in the order in which the others come, and sends it to all",
    .rounds = "3(P-1)S",
    .bytes = "2m(P-1)/P",
    .source = "this project",
    .piece_count = [](int ranks) { return ranks; },
    .local = generate};

}  // namespace papfft::comm
