// SPDX-License-Identifier: MIT
// Reduction in the order in which the ranks really come, which nobody has to predict: the receiver-driven reduce-scatter
// (reduce_scatter/credit.cpp) on as many equal pieces of the vector as there are ranks. Each rank hands the sum of its piece on to the
// root, segment by segment. When the last rank comes, all others are summed up, so what remains is to send its vector. The order of a sum
// is that of the arrivals, so floating-point results may differ from run to run. Commutative only.
//
//   P = 3, root 0, rank 1 late    0 -> 2: 2 | 2 -> 0: 0, then 1 -> 2: 2, 1 -> 0: 0 | 0 -> 1: 1, 2 -> 1: 1, then 1 -> 0: 1, 2 -> 0: 2
//
// BKitor's coll/bkpap observes arrivals by network atomics and lets each rank find its partner. Here the partners are fixed, and only
// the order is found, by messages.
#include "comm/schedule/family/credit_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  RankBuilder builder(credit_shape(request, p * request.segments), rank);
  add_credit_sums(builder, rank);
  for (int s = 0; s < request.segments; ++s) {
    for (int step = 1; step < p; ++step) {
      const Rank owner = (request.root + step) % p;
      const int sum = piece_of(builder.shape(), owner).first + s;
      if (rank == request.root) builder.recv(owner, {sum, sum + 1}, s);
      if (rank == owner) builder.send(request.root, {sum, sum + 1}, s);
    }
  }
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_credit{
    .operation = Operation::reduce,
    .name = "credit",
    .summary =
        "each rank sums up a piece, in the order in which the others come; then the pieces to the root",
    .rounds = "(P-1)(2S+1)",
    .bytes = "2m(P-1)/P",
    .source = "this project",
    .piece_count = [](int ranks) { return ranks; },
    .local = generate};

}  // namespace papfft::comm
