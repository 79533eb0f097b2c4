// SPDX-License-Identifier: MIT
// Allgather of blocks of any sizes, zero included: P broadcasts at once, each rank's block cut into S segments. Since all
// broadcasts use the same circulant graph, rank r plays rank r-j of it for j's block, and all that a rank sends in a round
// goes to one other; each round carries about a segment of every block, whoever has the large ones.
//
// The segments of a round are messages of their own: they go from and to their places without packing, and those
// that are empty are not sent.
#include "comm/schedule/family/circulant.hpp"

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const Circulant graph(p);
  const CirculantRounds rounds(graph, request.segments);
  const auto q = static_cast<std::size_t>(graph.rounds());
  std::vector<int> schedules(static_cast<std::size_t>(p) *
                             q);  // what rank v of the graph receives, for all v
  for (int v = 0; v < p; ++v)
    graph.receive(v, std::span(schedules).subspan(static_cast<std::size_t>(v) * q, q));
  RankBuilder builder(request, rank);
  for (int i = 0; i < rounds.count(); ++i) {
    const int k = rounds.edge(i);
    const int to = graph.to(rank, k);
    const int from = graph.from(rank, k);
    const auto slot = [&](int receiver, int owner) {  // of owner's block, what the receiver gets; -1: nothing
      if (receiver == owner) return -1;
      const auto v = static_cast<std::size_t>((receiver - owner + p) % p);
      const int block = rounds.block(i, schedules[v * q + static_cast<std::size_t>(k)]);
      return block < 0 ? -1 : owner * request.segments + block;
    };
    for (int owner = 0; owner < p; ++owner) {
      if (const int s = slot(to, owner); s >= 0) builder.send(to, {s, s + 1}, i);
    }
    for (int owner = 0; owner < p; ++owner) {
      if (const int s = slot(rank, owner); s >= 0) builder.recv(from, {s, s + 1}, i);
    }
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allgatherv_circulant{
    .operation = Operation::allgatherv,
    .name = "circulant",
    .summary = "P circulant broadcasts at once: even load for any sizes, zeros included",
    .rounds = "(P-1)(S-1+q) segments",
    .bytes = "(P-1)m(S-1+q)/S",
    .source = "CIR Alg. 9",
    .local = generate,
    .round_count = [](int ranks, int segments) { return (ranks - 1) * least_rounds(ranks, segments); }};

}  // namespace papfft::comm
