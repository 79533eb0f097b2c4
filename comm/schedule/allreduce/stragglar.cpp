// SPDX-License-Identifier: MIT
// Allreduce with one late rank, the straggler. While it is late, the others reduce-scatter: of m = P-1 chunks, early rank c has
// the sum E_c. When the straggler comes, it meets early rank 0 in the first round, 1 in the second, and so on. They exchange what
// they have of chunk t, so that both have all of it after round t. The ranks that do not meet the straggler pass complete chunks on
// in the meantime, at most one in and one out per rank and round. Commutative only.
//
// Who passes what to whom is planned round by round (family/gossip.hpp): the ranks that lack most are served first, each with a chunk
// that the fewest have. The authors give a table for each number of ranks instead.
//
//     P = 4, straggler 3, behind the reduce-scatter of 0 1 2
//     round 0   3 <-> 0: chunk 0
//     round 1   3 <-> 1: chunk 1    0 -> 2: chunk 0
//     round 2   3 <-> 2: chunk 2    0 -> 1: chunk 0    1 -> 0: chunk 1
//     round 3   0 -> 2: chunk 1    2 -> 0: chunk 2    3 -> 1: chunk 2
#include <algorithm>
#include <numeric>

#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/family/gossip.hpp"
#include "comm/schedule/family/ring.hpp"

namespace papfft::comm {

namespace {

/// The latest last, the others as they are.
std::vector<Rank> players_of(const Request& request) {
  std::vector<Rank> players(static_cast<std::size_t>(request.ranks));
  std::iota(players.begin(), players.end(), 0);
  if (!request.arrival_ns.empty()) {
    const auto latest = players.begin() + latest_rank(request.arrival_ns);
    std::rotate(latest, latest + 1, players.end());
  }
  return players;
}

Schedule generate(const Request& request) {
  const int early = std::max(1, request.ranks - 1);
  const int n = request.segments;  // of a chunk
  const std::vector<Rank> players = players_of(request);
  const auto at = [&](int player) { return players[static_cast<std::size_t>(player)]; };
  const auto slots = [&](int chunk) { return BlockRange{chunk * n, (chunk + 1) * n}; };
  Shape shape = shape_of(request, early * n);
  for (int slot = 0; slot < early * n; ++slot)
    shape.scratch.push_back(slot);  // the straggler's, for the others' sums
  std::vector<ProgramBuilder> builders(static_cast<std::size_t>(request.ranks),
                                       ProgramBuilder(shape.slots()));
  const auto of = [&](int player) -> ProgramBuilder& {
    return builders[static_cast<std::size_t>(at(player))];
  };
  for (int v = 0; v < request.ranks - 1; ++v) {
    add_ring(of(v), RingKind::reduce_scatter, early, v, n, 0, at);
  }
  Gossip complete(request.ranks, early);
  for (int t = 0; request.ranks > 1 && !complete.done(); ++t) {
    const int round = (early - 1) * n + t;
    Gossip::Ports free(request.ranks);
    free.send[idx(early)] = t >= early;
    free.receive[idx(early)] = false;  // it completes each chunk itself
    if (t < early) {
      free.send[idx(t)] = free.receive[idx(t)] = false;
      of(t).send(at(early), slots(t), round);
      of(t).recv_combine(at(early), slots(t), round);
      of(early).send(at(t), slots(t), round);
      of(early).recv(at(t), slots(early + t), round);
      of(early).combine(slots(early + t).first, slots(t), round);
    }
    for (const Gossip::Pass& pass : complete.next(free)) {
      of(pass.from).send(at(pass.to), slots(pass.item), round);
      of(pass.to).recv(at(pass.from), slots(pass.item), round);
    }
    if (t < early) {
      complete.give(t, t);
      complete.give(early, t);
    }
  }
  Schedule schedule{.shape = std::move(shape)};
  for (ProgramBuilder& builder : builders) schedule.programs.push_back(builder.take());
  return schedule;
}

}  // namespace

const Algorithm allreduce_stragglar{
    .operation = Operation::allreduce,
    .name = "stragglar",
    .summary = "all but the latest rank reduce-scatter; it meets one after another, the others pass on",
    .rounds = "about P+q after the latest arrival",
    .bytes = "about m(1+q/P) after the latest arrival",
    .source = "Devraj et al., arXiv 2505.23523, 2025 (StragglAR)",
    .uses_arrival = true,
    .piece_count = [](int ranks) { return std::max(1, ranks - 1); },
    .whole = generate};

}  // namespace papfft::comm
