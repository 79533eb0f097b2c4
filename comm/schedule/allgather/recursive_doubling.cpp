// SPDX-License-Identifier: MIT
// Recursive doubling: in step k ranks that differ in bit k exchange all they have. Where P is no power of two, the ranks
// beyond the largest one give their block to a partner first and get all others from it in the end.
#include <bit>

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int n = request.segments;
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(p)));
  const int steps = std::countr_zero(static_cast<unsigned>(core));
  const int beyond = p - core;
  RankBuilder builder(request, rank);
  const auto slots = [&](int first, int last) { return BlockRange{first * n, last * n}; };
  const auto own = slots(rank, rank + 1);
  if (rank >= core) {
    const Rank partner = rank - core;
    builder.send(partner, own, 0);
    builder.recv(partner, slots(0, rank), steps + 1);
    if (rank + 1 < p) builder.recv(partner, slots(rank + 1, p), steps + 1);
    return builder.take_part();
  }
  if (rank < beyond) builder.recv(rank + core, slots(rank + core, rank + core + 1), 0);
  for (int step = 0; step < steps; ++step) {
    const int width = 1 << step;
    const Rank peer = rank ^ width;
    const auto held = [&](Rank r) { return r & ~(width - 1); };  // the first of those that r's group has
    const auto partners_of = [&](Rank r) {
      return slots(core + std::min(held(r), beyond), core + std::min(held(r) + width, beyond));
    };
    builder.send(peer, slots(held(rank), held(rank) + width), step + 1);
    if (partners_of(rank).count() > 0) builder.send(peer, partners_of(rank), step + 1);
    builder.recv(peer, slots(held(peer), held(peer) + width), step + 1);
    if (partners_of(peer).count() > 0) builder.recv(peer, partners_of(peer), step + 1);
  }
  if (rank < beyond) {
    builder.send(rank + core, slots(0, rank + core), steps + 1);
    if (rank + core + 1 < p) builder.send(rank + core, slots(rank + core + 1, p), steps + 1);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allgather_recursive_doubling{.operation = Operation::allgather,
                                             .name = "recursive-doubling",
                                             .summary = "ranks that differ in one bit exchange all they have",
                                             .rounds = "floor(log2 P), and 2 unless P = 2^k",
                                             .bytes = "(P-1)m, twice that for some unless P = 2^k",
                                             .source = "Thakur et al., IJHPCA 19(1), 2005",
                                             .segmentation = Segmentation::whole,
                                             .local = generate};

}  // namespace papfft::comm
