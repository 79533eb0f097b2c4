// SPDX-License-Identifier: MIT
// Clairvoyant reduction, the plain form: in each round every rank that is there takes, in turn, the first segment that it can
// get from somebody who has not sent yet. Whoever comes late finds the early ranks' work done. The reference for `clv` and
// `clv-heap`, which search faster for the same.
//
//   P = 4, N = 4 segments, root 0, arrivals 0 0 0 11, rounds of 10 (CLV Sect. 4.2); "1>0:0" = rank 1 sends segment 0 to 0
//
//     round 0   1>0:0  0>1:1                      rank 2 finds nobody who may still send
//     round 1   2>0:0  3>1:1  0>2:2  1>3:2        rank 3 has come
//     round 2   3>0:0  2>1:1  0>2:3  1>3:3
//     round 3   1>0:1  3>2:2  2>3:3               2 does not send segment 2 in the round in which it gets it: P'
//     round 4   2>0:2
//     round 5   3>0:3
//
// Letters as in the paper: P ranks, N segments, r the root, G the ranks of a round, a their times of availability, d the
// length of a round, S the ranks that have sent, M the state of each segment at each rank.
//
// The rules, where the paper's listings leave them open or differ (CLV Listings 2, 6, 8):
//   G       who is available strictly less than d after the first one; ordered by (a, rank)
//   turns   the root if it is there, then G; whoever has the first turn is the head
//   choice  the smallest segment, then the earliest sender in G; all but the head only take what they hold a part of
//   P'      what a rank gets in a round it does not send in the same round
//
// Time  O(rounds G^2 N) at worst.   Memory  P N bytes.
#include <algorithm>
#include <numeric>

#include "app/comparison/comparison.hpp"
#include "comm/schedule/family/clairvoyant.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

enum class Cell : char {
  handed_over,  ///< E
  held,         ///< A or P: own or partly combined
  received      ///< P': like `held`, but not to be sent before the next round
};

void plan(const Request& request, const TransferSink& sink) {
  const int p_count = request.ranks;
  const int n_count = request.segments;
  const Rank root = request.root;
  RoundTimes times = round_times(request);
  std::vector<std::int64_t>& a = times.arrival_ns;
  const std::int64_t d = times.round_ns;
  const auto idx = [](int i) { return static_cast<std::size_t>(i); };

  std::vector<Cell> cells(idx(p_count) * idx(n_count), Cell::held);
  const auto m = [&](Rank i, int j) -> Cell& { return cells[idx(i) * idx(n_count) + idx(j)]; };
  std::vector<int> left(idx(p_count), n_count);  // segments that a rank holds
  std::vector<char> s(idx(p_count));             // has sent in this round
  const auto earlier = [&](Rank i, Rank k) { return a[idx(i)] != a[idx(k)] ? a[idx(i)] < a[idx(k)] : i < k; };
  std::vector<Rank> waiting(idx(p_count));  // the latest first
  std::iota(waiting.begin(), waiting.end(), 0);
  std::ranges::sort(waiting, [&](Rank i, Rank k) { return earlier(k, i); });
  std::vector<Rank> g;
  std::vector<Rank> turns;
  std::vector<Transfer> transfers;
  std::int64_t round = 0;

  const auto is_done = [&](Rank i) { return i != root && left[idx(i)] == 0; };
  const auto find_sender = [&](Rank receiver, int j) -> Rank {
    for (const Rank z : g) {
      if (s[idx(z)] == 0 && z != receiver && m(z, j) == Cell::held) return z;
    }
    return -1;
  };

  int unfinished = p_count - 1;
  while (unfinished > 0) {
    std::erase_if(g, is_done);
    while (!waiting.empty()) {
      const Rank next = waiting.back();
      if (!g.empty() && a[idx(next)] >= a[idx(g.front())] + d) break;
      waiting.pop_back();
      g.insert(std::ranges::upper_bound(g, next, earlier), next);
    }
    if (g.size() == 1) {  // alone: on to the round in which the next one comes
      std::int64_t& alone = a[idx(g.front())];
      const std::int64_t rounds = (a[idx(waiting.back())] - alone) / d;
      alone += rounds * d;
      round += rounds;
      continue;
    }

    turns = g;
    const auto place_of_root = std::ranges::find(turns, root);
    if (place_of_root != turns.end()) std::rotate(turns.begin(), place_of_root, place_of_root + 1);
    for (const Rank receiver : turns) {
      const bool is_head = receiver == turns.front();
      for (int j = 0; j < n_count; ++j) {
        const bool holds = m(receiver, j) == Cell::held;
        if (!holds && !is_head) continue;
        const Rank sender = find_sender(receiver, j);
        if (sender < 0) continue;
        transfers.push_back({.round = round, .from = sender, .to = receiver, .segment = j, .combine = holds});
        s[idx(sender)] = 1;
        m(sender, j) = Cell::handed_over;
        --left[idx(sender)];
        m(receiver, j) = Cell::received;
        left[idx(receiver)] += holds ? 0 : 1;
        break;
      }
    }
    sink(transfers);
    for (const Transfer& transfer : transfers) {
      s[idx(transfer.from)] = 0;
      m(transfer.to, transfer.segment) = Cell::held;
      unfinished -= is_done(transfer.from) ? 1 : 0;
    }
    transfers.clear();
    for (const Rank i : g) a[idx(i)] += d;
    ++round;
  }
}

}  // namespace

const Algorithm reduce_clv_linear{.operation = Operation::reduce,
                                  .name = "clv-linear",
                                  .summary = "the schedule of clv, planned by plain search: the reference",
                                  .rounds = "S-1+q (at times one more) after all have come",
                                  .bytes = "m(S-1+q)/S, or (P-1)m if each comes alone",
                                  .source = "CLV Listing 2, corrected (Marendic et al.)",
                                  .uses_arrival = true,
                                  .transfers = plan,
                                  .round_count = least_rounds};

}  // namespace papfft::comm
