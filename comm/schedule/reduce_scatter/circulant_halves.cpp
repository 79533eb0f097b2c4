// SPDX-License-Identifier: MIT
// The circulant reduce-scatter with its combining hidden. What a rank gets in a round has two parts: what it gives away in the next
// round, and what it keeps. The first part comes first, in a message of its own. So it is combined while the second part comes, and the
// second while the next round's messages do. It takes twice the messages, and pays where combining takes longer than these.
//
//   P = 4, skips 1 2 4, S = 1, rank 0   3 then 2 to rank 2, from there 1 then 0  |  1 to rank 1, 0 from rank 3
//
// Each send waits for the one before. Both parts under way at once would share the link and come together, and two rounds that
// share a link would delay the earlier one, for which others wait.
#include <algorithm>

#include "comm/schedule/core/cyclic_runs.hpp"
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::comm {

namespace {

/// The two parts of what rank `first` gets in round k, the one that goes on before the one that stays, as runs of blocks.
template <typename Step>
void for_parts(const Circulant& graph, int first, int k, Step step) {
  const int count = graph.skip(k + 1) - graph.skip(k);
  const int stays = k == 0 ? count : std::min(count, graph.skip(k - 1));
  for_cyclic_runs(graph.ranks(), first + stays, count - stays, step);
  for_cyclic_runs(graph.ranks(), first, stays, step);
}

RankSchedule generate(const Request& request, Rank rank) {
  const Circulant graph(request.ranks);
  RankBuilder builder(request, rank);
  const auto slots = [&](BlockRange blocks) {
    return BlockRange{blocks.first * request.segments, blocks.last * request.segments};
  };
  int last_send = -1;
  for (int k = graph.rounds() - 1; k >= 0; --k) {
    const int round = graph.rounds() - 1 - k;
    const Rank ahead = graph.to(rank, k);
    for_parts(graph, ahead, k,
              [&](BlockRange run) { last_send = builder.send(ahead, slots(run), round, {last_send}); });
    for_parts(graph, rank, k,
              [&](BlockRange run) { builder.recv_combine(graph.from(rank, k), slots(run), round); });
  }
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_scatter_circulant_halves{.operation = Operation::reduce_scatter,
                                                .name = "circulant-halves",
                                                .summary =
                                                    "as circulant, each round in two messages: what goes on "
                                                    "in the next round comes first, so that combining hides",
                                                .rounds = "2q",
                                                .bytes = "(P-1)m",
                                                .source = "this project, from CIR Alg. 7, reversed",
                                                .segmentation = Segmentation::whole,
                                                .local = generate};

}  // namespace papfft::comm
