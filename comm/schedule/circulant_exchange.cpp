// SPDX-License-Identifier: MIT
#include "comm/schedule/circulant_exchange.hpp"

#include "comm/schedule/cyclic_runs.hpp"

namespace papfft::comm {

void add_allgather_round(ProgramBuilder& builder, const Circulant& graph, int v, int k,
                         const ExchangeFrame& frame) {
  const int p = graph.ranks();
  const int count = graph.skip(k + 1) - graph.skip(k);
  const int round = frame.first_round + k;
  for_cyclic_runs(p, v, count, [&](BlockRange run) {
    builder.send(frame.rank_of(graph.from(v, k)), frame.slots_of(run), round);
  });
  for_cyclic_runs(p, v + graph.skip(k), count, [&](BlockRange run) {
    builder.recv(frame.rank_of(graph.to(v, k)), frame.slots_of(run), round);
  });
}

void add_reduce_scatter_round(ProgramBuilder& builder, const Circulant& graph, int v, int k,
                              const ExchangeFrame& frame) {
  const int p = graph.ranks();
  const int count = graph.skip(k + 1) - graph.skip(k);
  const int round = frame.first_round + graph.rounds() - 1 - k;
  for_cyclic_runs(p, v + graph.skip(k), count, [&](BlockRange run) {
    builder.send(frame.rank_of(graph.to(v, k)), frame.slots_of(run), round);
  });
  for_cyclic_runs(p, v, count, [&](BlockRange run) {
    builder.recv_combine(frame.rank_of(graph.from(v, k)), frame.slots_of(run), round);
  });
}

void add_allreduce(ProgramBuilder& builder, const Circulant& graph, int v, int pieces,
                   const ExchangeFrame& frame) {
  const int q = graph.rounds();
  ExchangeFrame piece_frame = frame;
  // Round by round, so that the pieces' messages of a round are under way together.
  const auto for_pieces = [&](auto step) {
    for (int piece = 0; piece < pieces; ++piece) {
      piece_frame.first_slot = frame.first_slot + piece * graph.ranks() * frame.slots_per_block;
      step();
    }
  };
  for (int k = q - 1; k >= 0; --k) {
    for_pieces([&] { add_reduce_scatter_round(builder, graph, v, k, piece_frame); });
  }
  piece_frame.first_round += q;
  for (int k = 0; k < q; ++k) {
    for_pieces([&] { add_allgather_round(builder, graph, v, k, piece_frame); });
  }
}

}  // namespace papfft::comm
