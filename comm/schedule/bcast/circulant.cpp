// SPDX-License-Identifier: MIT
// Broadcast of n blocks in n-1+q rounds, which is the least possible with one port: all ranks use the edges r -> r + s[k]
// of a circulant graph, one k after another, and what goes where is computed per rank in O(log p).
//
//   P = 3, skips 1 2 3, S = 2 segments, 2-1+2 rounds
//   round 0   0 -> 2: 0
//   round 1   0 -> 1: 1
//   round 2   0 -> 2: 1   2 -> 1: 0
#include "comm/schedule/family/circulant.hpp"

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  Shape shape = shape_of(request);
  shape.single_port = true;
  const Circulant graph(p);
  const CirculantRounds rounds(graph, request.segments);
  const int v = (rank - request.root + p) % p;  // the root is the graph's rank 0
  const auto player = [&](int virtual_rank) { return (virtual_rank + request.root) % p; };
  const Circulant::Blocks receive = graph.receive(v);
  const Circulant::Blocks send = graph.send(v);
  RankBuilder builder(std::move(shape), rank);
  for (int i = 0; i < rounds.count(); ++i) {
    const int k = rounds.edge(i);
    const int incoming = rounds.block(i, receive[static_cast<std::size_t>(k)]);
    const int outgoing = rounds.block(i, send[static_cast<std::size_t>(k)]);
    if (v != 0 && incoming >= 0) builder.recv(player(graph.from(v, k)), {incoming, incoming + 1}, i);
    if (graph.to(v, k) != 0 && outgoing >= 0)
      builder.send(player(graph.to(v, k)), {outgoing, outgoing + 1}, i);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm bcast_circulant{
    .operation = Operation::bcast,
    .name = "circulant",
    .summary = "S blocks over a circulant graph, one block in and one out per rank and round",
    .rounds = "S-1+q",
    .bytes = "m(S-1+q)/S",
    .source = "CIR Alg. 6",
    .local = generate,
    .round_count = least_rounds};

}  // namespace papfft::comm
