// SPDX-License-Identifier: MIT
#include "comm/schedule/family/circulant_exchange.hpp"

#include "comm/schedule/core/cyclic_runs.hpp"

namespace papfft::comm {

std::vector<int> add_allgather_round(ProgramBuilder& builder, const Circulant& graph, int v, int k,
                                     const ExchangeFrame& frame, const std::vector<int>& after) {
  const int p = graph.ranks();
  const int count = graph.skip(k + 1) - graph.skip(k);
  const int round = frame.first_round + k;
  std::vector<int> receives;
  for_cyclic_runs(p, v, count, [&](BlockRange run) {
    builder.send(frame.rank_of(graph.from(v, k)), frame.slots_of(run), round, after);
  });
  for_cyclic_runs(p, v + graph.skip(k), count, [&](BlockRange run) {
    receives.push_back(builder.recv(frame.rank_of(graph.to(v, k)), frame.slots_of(run), round));
  });
  return receives;
}

std::vector<int> add_reduce_scatter_round(ProgramBuilder& builder, const Circulant& graph, int v, int k,
                                          const ExchangeFrame& frame, const std::vector<int>& after) {
  const int p = graph.ranks();
  const int count = graph.skip(k + 1) - graph.skip(k);
  const int round = frame.first_round + graph.rounds() - 1 - k;
  std::vector<int> receives;
  for_cyclic_runs(p, v + graph.skip(k), count, [&](BlockRange run) {
    builder.send(frame.rank_of(graph.to(v, k)), frame.slots_of(run), round, after);
  });
  for_cyclic_runs(p, v, count, [&](BlockRange run) {
    receives.push_back(builder.recv_combine(frame.rank_of(graph.from(v, k)), frame.slots_of(run), round));
  });
  return receives;
}

void add_allreduce(ProgramBuilder& builder, const Circulant& graph, int v, int pieces,
                   const ExchangeFrame& frame) {
  const int q = graph.rounds();
  ExchangeFrame piece_frame = frame;
  std::vector<std::vector<int>> received(static_cast<std::size_t>(pieces));  // in the round before
  // Round by round, so that the pieces' messages of a round are under way together.
  const auto for_pieces = [&](auto round) {
    for (int piece = 0; piece < pieces; ++piece) {
      piece_frame.first_slot = frame.first_slot + piece * graph.ranks() * frame.slots_per_block;
      std::vector<int>& before = received[static_cast<std::size_t>(piece)];
      before = round(before);
    }
  };
  for (int k = q - 1; k >= 0; --k) {
    for_pieces([&](const std::vector<int>& before) {
      return add_reduce_scatter_round(builder, graph, v, k, piece_frame, before);
    });
  }
  piece_frame.first_round += q;
  for (int k = 0; k < q; ++k) {
    for_pieces([&](const std::vector<int>& before) {
      return add_allgather_round(builder, graph, v, k, piece_frame, before);
    });
  }
}

}  // namespace papfft::comm
