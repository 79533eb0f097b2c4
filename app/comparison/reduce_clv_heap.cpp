// SPDX-License-Identifier: MIT
// Clairvoyant reduction as its authors planned it: for each segment a pairing heap of the ranks that may still send it in this
// round, the earliest at the top. Rules and worked example: reduce_clv_linear.cpp, whose schedule this is.
//
// A rank that has sent is taken out of the heaps of all segments that it holds, and put back after the round; so is a rank
// whose segment is new (P') out of the heap of that one. These moves are what it spends its time with (CLV 4.1): the
// peer that `clv` is measured against (CLV Table 1).
//
// Time  O(P N^2) moves.   Memory  a node of 48 bytes and a handle of 8 per rank and segment.
#include <boost/heap/pairing_heap.hpp>
#include <vector>

#include "app/comparison/comparison.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/family/clairvoyant.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

class Planner {
 public:
  Planner(const Request& request, const TransferSink& sink)
      : sink_(sink),
        segments_(request.segments),
        root_(request.root),
        active_(round_times(request)),
        heaps_(idx(segments_), Heap(Later{&active_})),
        holders_(idx(request.ranks), std::vector<Holder>(idx(segments_))),
        left_(idx(request.ranks), segments_),
        has_sent_(idx(request.ranks)),
        unfinished_(request.ranks - 1) {}

  void run() {
    while (unfinished_ > 0) {
      for (const Rank newcomer : active_.begin_round()) {
        for (int j = 0; j < segments_; ++j) push(newcomer, j);
        root_is_there_ = root_is_there_ || newcomer == root_;
      }
      const Rank head = root_is_there_ ? root_ : active_.members().front();
      receive(head, true);
      for (const Rank rank : active_.members()) {
        if (rank != head) receive(rank, false);
      }
      end_round();
    }
  }

 private:
  /// For Boost, whose heaps have the greatest at the top.
  struct Later {
    const ActiveRanks* active;
    bool operator()(Rank i, Rank j) const { return active->precedes(j, i); }
  };
  using Heap = boost::heap::pairing_heap<Rank, boost::heap::compare<Later>>;
  struct Holder {
    Heap::handle_type handle{};
    bool holds = true;  // A or P, but not P'
    bool is_queued = false;
  };

  Holder& holder(Rank rank, int segment) { return holders_[idx(rank)][idx(segment)]; }

  void push(Rank rank, int segment) {
    Holder& it = holder(rank, segment);
    it.handle = heaps_[idx(segment)].push(rank);
    it.is_queued = true;
  }

  void erase(Rank rank, int segment) {
    Holder& it = holder(rank, segment);
    if (!it.is_queued) return;
    heaps_[idx(segment)].erase(it.handle);
    it.is_queued = false;
  }

  /// The earliest rank but `receiver` that may send the segment; or -1.
  Rank find_sender(Rank receiver, int segment) {
    const Heap& heap = heaps_[idx(segment)];
    if (heap.empty()) return -1;
    if (heap.top() != receiver) return heap.top();
    if (heap.size() == 1) return -1;
    erase(receiver, segment);
    const Rank second = heap.top();
    push(receiver, segment);
    return second;
  }

  void receive(Rank receiver, bool is_head) {
    for (int j = 0; j < segments_; ++j) {
      const bool holds = holder(receiver, j).holds;
      if (!holds && !is_head) continue;
      const Rank sender = find_sender(receiver, j);
      if (sender < 0) continue;
      transfers_.push_back(
          {.round = active_.round(), .from = sender, .to = receiver, .segment = j, .combine = holds});
      has_sent_[idx(sender)] = 1;
      for (int k = 0; k < segments_; ++k) erase(sender, k);
      holder(sender, j).holds = false;
      --left_[idx(sender)];
      erase(receiver, j);
      holder(receiver, j).holds = false;
      left_[idx(receiver)] += holds ? 0 : 1;
      return;
    }
  }

  void end_round() {
    for (const Transfer& transfer : transfers_) {
      holder(transfer.to, transfer.segment).holds = true;
      if (has_sent_[idx(transfer.to)] == 0) push(transfer.to, transfer.segment);
    }
    for (const Transfer& transfer : transfers_) {
      const Rank sender = transfer.from;
      has_sent_[idx(sender)] = 0;
      for (int j = 0; j < segments_; ++j) {
        if (holder(sender, j).holds) push(sender, j);
      }
      if (left_[idx(sender)] == 0 && sender != root_) --unfinished_;
    }
    sink_(transfers_);
    transfers_.clear();
    active_.end_round([this](Rank rank) { return left_[idx(rank)] == 0 && rank != root_; });
  }

  const TransferSink& sink_;
  int segments_;
  Rank root_;
  ActiveRanks active_;
  std::vector<Heap> heaps_;                   ///< by segment
  std::vector<std::vector<Holder>> holders_;  ///< by rank and segment
  std::vector<int> left_;                     ///< segments that a rank holds
  std::vector<char> has_sent_;                ///< in this round
  int unfinished_;                            ///< ranks other than the root that hold any
  bool root_is_there_ = false;
  std::vector<Transfer> transfers_;  ///< of this round
};

void plan(const Request& request, const TransferSink& sink) { Planner(request, sink).run(); }

}  // namespace

const Algorithm reduce_clv_heap{.operation = Operation::reduce,
                                .name = "clv-heap",
                                .summary = "the schedule of clv, planned with pairing heaps",
                                .rounds = "S-1+q (at times one more) after all have come",
                                .bytes = "m(S-1+q)/S, or (P-1)m if each comes alone",
                                .source = "CLV 4.1 (Marendic et al.)",
                                .uses_arrival = true,
                                .transfers = plan,
                                .round_count = least_rounds};

}  // namespace papfft::comm
