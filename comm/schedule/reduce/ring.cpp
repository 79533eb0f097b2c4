// SPDX-License-Identifier: MIT
// Ring (bucket) reduction: P pieces go round, each combined by one rank after another, until each rank has one complete piece
// and sends it to the root. Position v, counted from the root, sends piece v - t in round t and ends with piece v + 1.
//
//     P = 3    round 0: 0>1 piece 0, 1>2 piece 1, 2>0 piece 2    round 1: 0>1 piece 2, ...    then 1 and 2 to the root
//
// The vector is cut into P pieces whatever the segments.

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  Shape shape = shape_of(request, p);
  shape.single_port = true;
  const int v = (rank - request.root + p) % p;
  const auto piece = [&](int i) {
    const int slot = (i + p) % p;
    return BlockRange{slot, slot + 1};
  };
  RankBuilder builder(std::move(shape), rank);
  for (int t = 0; t + 1 < p; ++t) {
    builder.send((rank + 1) % p, piece(v - t), t);
    builder.recv_combine((rank - 1 + p) % p, piece(v - 1 - t), t);
  }
  if (v > 0) builder.send(request.root, piece(v + 1), p - 2 + v);
  for (int other = 1; v == 0 && other < p; ++other) {
    builder.recv((request.root + other) % p, piece(other + 1), p - 2 + other);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_ring{.operation = Operation::reduce,
                            .name = "ring",
                            .summary = "pieces go round a ring, then each to the root",
                            .rounds = "2(P-1)",
                            .bytes = "2m(P-1)/P",
                            .source = "Barnett et al., 1993 (bucket algorithm); CLV's RING",
                            .segmentation = Segmentation::whole,
                            .local = generate};

}  // namespace papfft::comm
