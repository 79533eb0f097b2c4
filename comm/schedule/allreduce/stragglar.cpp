// SPDX-License-Identifier: MIT
// Allreduce with one late rank, the straggler. While it is late, the others reduce-scatter: of m = P-1 chunks, early rank c has
// the sum E_c. When the straggler comes, it meets early rank 0 in the first round, 1 in the second, and so on. They exchange what
// they have of chunk t, so that both have all of it after round t. The ranks that do not meet the straggler pass complete chunks on
// in the meantime, at most one in and one out per rank and round. Commutative only.
//
// Who passes what to whom is planned here round by round: the ranks that lack most are served first, each with a chunk that the
// fewest have. The authors give a table for each number of ranks instead.
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
#include "comm/schedule/family/ring.hpp"

namespace papfft::comm {

namespace {

/// Players: early ranks 0 .. m-1, the straggler m.
class Rounds {
 public:
  struct Pass {
    int from = 0;
    int to = 0;
    int chunk = 0;
  };

  explicit Rounds(int early)
      : early_(early),
        has_(static_cast<std::size_t>(early) + 1, std::vector<bool>(static_cast<std::size_t>(early))),
        holders_(static_cast<std::size_t>(early)) {}

  [[nodiscard]] bool done() const {
    return std::ranges::all_of(holders_, [&](int count) { return count == early_ + 1; });
  }

  /// The passes of complete chunks in the next round.
  std::vector<Pass> next() {
    std::vector<std::vector<int>> holders = free_holders();
    std::vector<bool> sends(has_.size());
    std::vector<Pass> passes;
    for (const int to : receivers()) {
      int chosen = -1;
      for (int chunk = 0; chunk < early_; ++chunk) {
        std::vector<int>& free = holders[static_cast<std::size_t>(chunk)];
        while (!free.empty() && sends[static_cast<std::size_t>(free.back())]) free.pop_back();
        if (free.empty() || has(to, chunk)) continue;
        if (chosen < 0 || count(chunk) < count(chosen)) chosen = chunk;
      }
      if (chosen < 0) continue;
      const int from = holders[static_cast<std::size_t>(chosen)].back();
      sends[static_cast<std::size_t>(from)] = true;
      passes.push_back({from, to, chosen});
    }
    for (const Pass& pass : passes) note(pass.to, pass.chunk);
    if (round_ < early_) {
      note(round_, round_);
      note(early_, round_);
    }
    ++round_;
    return passes;
  }

 private:
  [[nodiscard]] bool has(int player, int chunk) const {
    return has_[static_cast<std::size_t>(player)][static_cast<std::size_t>(chunk)];
  }
  [[nodiscard]] int count(int chunk) const { return holders_[static_cast<std::size_t>(chunk)]; }
  void note(int player, int chunk) {
    has_[static_cast<std::size_t>(player)][static_cast<std::size_t>(chunk)] = true;
    ++holders_[static_cast<std::size_t>(chunk)];
  }
  /// Meets the straggler, or is the straggler before it has met all.
  [[nodiscard]] bool meets(int player) const {
    return round_ < early_ && (player == round_ || player == early_);
  }

  /// Those that lack most first. An early rank does not need what it will have of the straggler.
  [[nodiscard]] std::vector<int> receivers() const {
    std::vector<int> lacking(has_.size());
    std::vector<int> players;
    for (int player = 0; player <= early_; ++player) {
      const auto& mine = has_[static_cast<std::size_t>(player)];
      lacking[static_cast<std::size_t>(player)] = static_cast<int>(std::ranges::count(mine, false));
      if (!meets(player) && player != early_ && lacking[static_cast<std::size_t>(player)] > 0)
        players.push_back(player);
    }
    std::ranges::stable_sort(players, std::ranges::greater{},
                             [&](int player) { return lacking[static_cast<std::size_t>(player)]; });
    return players;
  }

  /// Of each chunk, who may send it in this round; the lowest numbers last.
  [[nodiscard]] std::vector<std::vector<int>> free_holders() const {
    std::vector<std::vector<int>> holders(static_cast<std::size_t>(early_));
    for (int player = early_; player >= 0; --player) {
      for (int chunk = 0; chunk < early_ && !meets(player); ++chunk) {
        if (has(player, chunk)) holders[static_cast<std::size_t>(chunk)].push_back(player);
      }
    }
    return holders;
  }

  int early_;
  int round_ = 0;
  std::vector<std::vector<bool>> has_;  // per player and chunk
  std::vector<int> holders_;            // per chunk
};

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
  Rounds rounds(early);
  for (int t = 0; request.ranks > 1 && !rounds.done(); ++t) {
    const int round = (early - 1) * n + t;
    if (t < early) {
      of(t).send(at(early), slots(t), round);
      of(t).recv_combine(at(early), slots(t), round);
      of(early).send(at(t), slots(t), round);
      of(early).recv(at(t), slots(early + t), round);
      of(early).combine(slots(early + t).first, slots(t), round);
    }
    for (const Rounds::Pass& pass : rounds.next()) {
      of(pass.from).send(at(pass.to), slots(pass.chunk), round);
      of(pass.to).recv(at(pass.from), slots(pass.chunk), round);
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
