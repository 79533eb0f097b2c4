// SPDX-License-Identifier: MIT
#include "comm/schedule/family/circulant_exchange.hpp"

#include "comm/schedule/core/cyclic_runs.hpp"

namespace papfft::comm {

namespace {

/// Runs of at most so many blocks.
template <typename Step>
void for_short_runs(int p, int first, int count, int most, Step step) {
  for_cyclic_runs(p, first, count, [&](BlockRange run) {
    for (; run.count() > most; run.first += most) step(BlockRange{run.first, run.first + most});
    step(run);
  });
}

}  // namespace

std::vector<int> add_exchange_round(ProgramBuilder& builder, const Circulant& graph, Exchange exchange, int v,
                                    int k, const ExchangeFrame& frame, const std::vector<int>& after) {
  const bool reduces = exchange == Exchange::reduce_scatter;
  const int p = graph.ranks();
  const int count = graph.skip(k + 1) - graph.skip(k);
  const int round = frame.first_round + (reduces ? graph.rounds() - 1 - k : k);
  const int ahead = v + graph.skip(k);
  const Rank behind_us = frame.rank_of(graph.from(v, k));
  const Rank ahead_of_us = frame.rank_of(graph.to(v, k));
  std::vector<int> left;
  std::vector<int> before = after;
  for_short_runs(p, reduces ? ahead : v, count, frame.most_blocks, [&](BlockRange run) {
    const int sent = builder.send(reduces ? ahead_of_us : behind_us, frame.slots_of(run), round, before);
    if (frame.one_by_one) before = {sent};
  });
  if (frame.one_by_one) left = before;
  for_short_runs(p, reduces ? v : ahead, count, frame.most_blocks, [&](BlockRange run) {
    left.push_back(builder.add({.kind = reduces ? OpKind::recv_combine : OpKind::recv,
                                .peer = reduces ? behind_us : ahead_of_us,
                                .blocks = frame.slots_of(run),
                                .round = round}));
  });
  return left;
}

void add_allreduce(ProgramBuilder& builder, const Circulant& graph, int v, int pieces, ExchangeFrame frame) {
  const int q = graph.rounds();
  const int first_slot = frame.first_slot;
  std::vector<std::vector<int>> received(static_cast<std::size_t>(pieces));  // in the round before
  const auto add_round = [&](Exchange exchange, int k) {
    // Round by round, so that the pieces' messages of a round are under way together.
    for (int piece = 0; piece < pieces; ++piece) {
      frame.first_slot = first_slot + piece * graph.ranks() * frame.slots_per_block;
      std::vector<int>& before = received[static_cast<std::size_t>(piece)];
      before = add_exchange_round(builder, graph, exchange, v, k, frame, before);
    }
  };
  for (int k = q - 1; k >= 0; --k) add_round(Exchange::reduce_scatter, k);
  frame.first_round += q;
  for (int k = 0; k < q; ++k) add_round(Exchange::allgather, k);
}

}  // namespace papfft::comm
