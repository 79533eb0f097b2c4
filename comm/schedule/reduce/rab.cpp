// SPDX-License-Identifier: MIT
// Rabenseifner's reduction: recursive halving, then the pieces go back to the root by recursive doubling (butterfly.hpp). All
// ranks combine alike much; the vector passes a port twice.
//
// If P = 2^k + r, the first 2r ranks form pairs: each combines one half of the vector for both, then one of them (never the
// root) hands its half over and is done, and 2^k players remain. The vector is cut into 2^k pieces whatever the segments.
#include <bit>

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/butterfly.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const auto pieces = static_cast<int>(std::bit_floor(static_cast<unsigned>(p)));
  const int pairs = p - pieces;
  const auto player_of = [&](Rank r) { return r < 2 * pairs ? r / 2 : r - pairs; };
  const auto rank_of = [&](int player) {  // who plays on
    if (player >= pairs) return player + pairs;
    return request.root == 2 * player + 1 ? request.root : 2 * player;
  };
  RankBuilder builder(shape_of(request, pieces), rank);
  int round = 0;
  if (rank < 2 * pairs) {
    const bool second = rank % 2 == 1;
    const Rank partner = second ? rank - 1 : rank + 1;
    const BlockRange lower{0, pieces / 2};
    const BlockRange upper{pieces / 2, pieces};
    builder.send(partner, second ? lower : upper, 0);
    builder.add({.kind = OpKind::recv_combine,
                 .incoming_first = second,
                 .peer = partner,
                 .blocks = second ? upper : lower});
    if (rank_of(player_of(rank)) != rank) {
      builder.send(partner, second ? upper : lower, 1);
      return builder.take_part();
    }
    builder.recv(partner, second ? lower : upper, 1);
  }
  if (pairs > 0) round = 2;
  const std::vector<int> halvings(static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(pieces))),
                                  2);
  Butterfly{halvings}.write(builder, player_of(rank), player_of(request.root), request.ordered, round,
                            rank_of);
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_rab{
    .operation = Operation::reduce,
    .name = "rab",
    .summary = "recursive halving, then the pieces to the root: all combine alike much",
    .rounds = "2q",
    .bytes = "2m(P-1)/P (if P is no power of 2: 3m)",
    .source = "Rabenseifner, ICCS 2004; CLV's RAB, GRD's butterfly",
    .segmentation = Segmentation::whole,
    .can_be_ordered = true,
    .local = generate};

}  // namespace papfft::comm
