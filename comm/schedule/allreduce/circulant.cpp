// SPDX-License-Identifier: MIT
// Reduce-scatter, then allgather, both on the circulant graph: 2q rounds for any P, and 2m(P-1)/P bytes through each port,
// the least possible. The vector is S pieces of P blocks; the pieces' messages overlap, so that combining one hides behind
// the transfer of the next. All ranks end with the same bits, as each block is combined on one rank. Commutative only.
//
// Among many ranks most rounds move few blocks, and S messages in place of each would cost alphas. There the vector is one piece, and no
// message holds more than an S-th of its blocks.
#include <algorithm>

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant_exchange.hpp"

namespace papfft::comm {

namespace {

/// Groups up to this size have been measured with pieces.
constexpr int kManyRanks = 256;

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const bool are_many = p > kManyRanks;
  const int pieces = are_many ? 1 : request.segments;
  RankBuilder builder(shape_of(request, p * pieces), rank);
  const int most_blocks = are_many ? std::max(1, p / request.segments) : p;
  add_allreduce(builder, Circulant(p), rank, pieces, {.most_blocks = most_blocks, .one_by_one = are_many});
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_circulant{.operation = Operation::allreduce,
                                    .name = "circulant",
                                    .summary = "reduce-scatter, then allgather, both on the circulant graph",
                                    .rounds = "2q",
                                    .bytes = "2m(P-1)/P",
                                    .source = "CIR Alg. 7, reversed and forward",
                                    .local = generate};

}  // namespace papfft::comm
