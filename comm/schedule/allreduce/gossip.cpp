// SPDX-License-Identifier: MIT
// Allreduce planned in rounds, for ranks that do not come together. Segment s has a home, rank s mod P. From its expected arrival on,
// each rank sends its part of segment after segment straight to the home, which adds it up. All go through the segments in the same
// order as far as the homes' ports allow. So if the ranks come one after another, the first segments are complete soon after the last
// rank has come. Ports that are free meanwhile pass on complete segments (family/gossip.hpp). Before it comes itself, a home adds
// up what others send, and a rank passes on what is complete, which needs the background (`bgossip`).
//
// All ranks end with the same bits. The order of a sum is that of the plan, so floating-point results may differ from call to call, as
// the expected arrivals do. Commutative only.
#include "comm/schedule/family/gossip.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "comm/schedule/core/index.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

class Planner {
 public:
  explicit Planner(const Request& request)
      : p_(request.ranks),
        arrivals_(request),
        sums_(p_, request.segments),
        unsent_(idx(p_)),
        awaited_(idx(request.segments), p_) {
    for (Rank r = 0; r < p_; ++r) {
      for (int s = 0; s < request.segments; ++s) {
        if (home(s) != r) unsent_[idx(r)].push_back(s);
      }
    }
  }

  void plan(const TransferSink& sink) {
    while (!sums_.done()) {
      for (const Rank r : arrivals_.until(round_)) come(r);
      transfers_.clear();
      Gossip::Ports free(p_);
      const std::vector<int> complete = send_parts(free);
      for (const Gossip::Pass& pass : sums_.next(free))
        transfers_.push_back({round_, pass.from, pass.to, pass.item, false});
      for (const int s : complete) sums_.give(home(s), s);  // in the next round it can pass it on
      if (!transfers_.empty()) sink(transfers_);
      round_ = transfers_.empty() && !sums_.done() ? arrivals_.next_round() : round_ + 1;
    }
  }

 private:
  [[nodiscard]] Rank home(int s) const { return s % p_; }

  void come(Rank rank) {
    here_.push_back(rank);
    for (int s = rank; s < std::ssize(awaited_); s += p_) {
      if (--awaited_[idx(s)] == 0) sums_.give(rank, s);
    }
  }

  /// The parts that go home in this round: who has most to send first, of these who came last. @return the segments they complete
  std::vector<int> send_parts(Gossip::Ports& free) {
    std::erase_if(here_, [&](Rank r) { return unsent_[idx(r)].empty(); });
    std::ranges::stable_sort(here_, std::ranges::greater{}, [&](Rank r) {
      return std::pair(unsent_[idx(r)].size(), arrivals_.first_round(r));
    });
    std::vector<int> complete;
    for (const Rank r : here_) {
      std::vector<int>& mine = unsent_[idx(r)];
      const auto next = std::ranges::find_if(mine, [&](int s) { return free.receive[idx(home(s))]; });
      if (next == mine.end()) continue;
      const int s = *next;
      mine.erase(next);
      free.send[idx(r)] = false;
      free.receive[idx(home(s))] = false;
      transfers_.push_back({round_, r, home(s), s, true});
      if (--awaited_[idx(s)] == 0) complete.push_back(s);
    }
    return complete;
  }

  int p_;
  std::int64_t round_ = 0;
  Arrivals arrivals_;
  Gossip sums_;
  std::vector<Rank> here_;                // those that have parts to send
  std::vector<std::vector<int>> unsent_;  // per rank
  std::vector<int> awaited_;              // per segment: parts that its home lacks, its own included
  std::vector<Transfer> transfers_;
};

void plan(const Request& request, const TransferSink& sink) {
  if (request.ranks > 1) Planner(request).plan(sink);
}

Schedule generate(const Request& request) {
  Request in_pieces = request;
  in_pieces.segments *= request.ranks;
  return to_schedule(in_pieces, plan);
}

}  // namespace

const Algorithm allreduce_gossip{
    .operation = Operation::allreduce,
    .name = "gossip",
    .summary =
        "in rounds: each sum in one place, from expected arrivals on; who lacks most gets the sum that the "
        "fewest have",
    .rounds = "about 2(P-1)S+q",
    .bytes = "2m(P-1)/P",
    .source = "this project",
    .uses_arrival = true,
    .piece_count = [](int ranks) { return ranks; },
    .whole = generate,
    .round_count = [](int ranks,
                      int segments) { return 2 * ring_rounds(ranks, segments) + least_rounds(ranks, 1); }};

}  // namespace papfft::comm
