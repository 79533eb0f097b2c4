// SPDX-License-Identifier: MIT
// Allreduce with one late rank, the straggler: rank 0 of a circulant graph. Before it comes, the others finish an allreduce
// among themselves, E. When it comes it broadcasts its own vector in n blocks. The first to get block b adds it to E_b and
// hands the sum on; all others replace theirs. In round t < n the rank that would send to the straggler, and in a
// broadcast has nothing for it, gives it E_t. So n-1+q rounds after its arrival, as many as a broadcast of its vector
// alone would take, everybody is done. All ranks end with the same bits. Commutative only.
#include <algorithm>

#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant_exchange.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const Rank straggler = latest_rank(request.arrival_ns);
  const int early = p - 1;
  const int n =
      std::max(1, early) * request.segments;  // the early ranks' allreduce wants a multiple of their number
  Shape shape = shape_of(request, n);
  for (int slot = 0; slot < n; ++slot) shape.scratch.push_back(slot);  // the straggler's, for E
  const auto player = [&](int v) { return (v + straggler) % p; };
  const int v = (rank - straggler + p) % p;
  RankBuilder builder(std::move(shape), rank);

  int first_round = 0;
  if (early > 1) {
    const Circulant group(early);
    first_round = 2 * group.rounds();
    if (v > 0) {
      add_allreduce(builder, group, v - 1, request.segments,
                    {.player = [&](int u) { return player(u + 1); }});
    }
  }

  const Circulant graph(p);
  const CirculantRounds rounds(graph, n);
  const Circulant::Blocks receive = graph.receive(v);
  const Circulant::Blocks send = graph.send(v);
  for (int i = 0; i < rounds.count(); ++i) {
    const int k = rounds.edge(i);
    const int from = graph.from(v, k);
    const int to = graph.to(v, k);
    const int round = first_round + i;
    const int outgoing = rounds.block(i, send[static_cast<std::size_t>(k)]);
    const int incoming = rounds.block(i, receive[static_cast<std::size_t>(k)]);
    if (to != 0 && outgoing >= 0) builder.send(player(to), {outgoing, outgoing + 1}, round);
    if (to == 0 && i < n) builder.send(straggler, {i, i + 1}, round);
    if (v == 0 && i < n) {
      builder.recv(player(from), {n + i, n + i + 1}, round);
      builder.combine(n + i, {i, i + 1}, round);
    }
    if (v == 0 || incoming < 0) continue;
    // The straggler sends block i in round i, as it came; later on its last block again, by then with E.
    if (from == 0 && incoming == i) {
      builder.recv_combine(straggler, {incoming, incoming + 1}, round);
    } else {
      builder.recv(player(from), {incoming, incoming + 1}, round);
    }
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_late{
    .operation = Operation::allreduce,
    .name = "late",
    .summary = "all but the latest rank finish among themselves; its vector is broadcast",
    .rounds = "S(P-1)-1+q after the latest arrival",
    .bytes = "m(1+(q-1)/(S(P-1))) after the latest arrival",
    .source = "this project, on CIR Alg. 6",
    .uses_arrival = true,
    .piece_count = [](int ranks) { return std::max(1, ranks - 1); },
    .local = generate};

}  // namespace papfft::comm
