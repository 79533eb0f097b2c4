// SPDX-License-Identifier: MIT
#include "comm/progress/progress.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

namespace papfft::comm {

namespace {

constexpr std::uint32_t kNoTurn = std::numeric_limits<std::uint32_t>::max();
constexpr int kTurnShift = 30;  // of a key in ready_: what is handed out first, then the op

template <typename Key>
void push(std::vector<Key>& heap, Key key) {
  heap.push_back(key);
  std::ranges::push_heap(heap, std::greater<>{});
}

template <typename Key>
Key pop(std::vector<Key>& heap) {
  std::ranges::pop_heap(heap, std::greater<>{});
  const Key key = heap.back();
  heap.pop_back();
  return key;
}

/// Whether op i, a send, waits for an empty message from its receiver.
bool is_invited(const Program& program, int i) {
  return std::ranges::any_of(program.after(i), [&](int before) {
    const Op& op = program[before];
    return is_receive(op.kind) && op.blocks.count() == 0 && op.peer == program[i].peer;
  });
}

bool is_void(const Shape& shape, const Op& op, const SlotSizes& sizes) {
  if (is_local(op.kind) || (shape.credits > 0 && !shape.names_what_it_grants)) return false;
  const BlockRange slots = op.blocks.count() > 0 ? op.blocks : op.about;
  return slots.count() > 0 && sizes.of(slots) == 0;
}

}  // namespace

Progress::Progress(const Shape& shape, const Program& program, const SlotSizes& sizes, const Rules& rules,
                   const std::vector<bool>& needs_arrival)
    : nodes_(static_cast<std::size_t>(program.size())), credits_(shape.credits), unfinished_(program.size()) {
  lanes_[0].window = std::max(1, rules.window.sends);
  lanes_[1].window = std::max(1, rules.window.receives);
  lanes_[2].window = std::max(1, rules.window.inside_sends);
  lanes_[3].window = std::max(1, rules.window.inside_receives);
  connect_dependents(program);
  bool takes = false;
  for (int i = 0; i < program.size(); ++i) {
    const Op& op = program[i];
    Node& n = node(i);
    const bool local = comm::is_local(op.kind) || is_void(shape, op, sizes);
    const Credit credit = local ? Credit::none : op.credit;
    const bool invited = op.kind == OpKind::send && is_invited(program, i);
    const bool counted = !local && credit == Credit::none && op.blocks.count() > 0 && !invited;
    const bool aside = counted && op.kind == OpKind::recv_combine && rules.landing == Landing::aside;
    const bool needs = !needs_arrival.empty() && needs_arrival[static_cast<std::size_t>(i)];
    takes = takes || credit == Credit::take;
    if (local) n.traits |= kLocal;
    if (counted) n.traits |= op.kind == OpKind::send ? kSend : kReceive;
    if (aside) n.traits |= kAside;
    if (op.inside) n.traits |= kInside;
    if (needs) n.traits |= kNeedsArrival;
    if (credit == Credit::take) n.traits |= kTake;
    if (credit == Credit::give) n.traits |= kGive;
    // What lands aside waits for its message instead of for the window.
    n.unmet = static_cast<int>(program.after(i).size()) + (needs ? 1 : 0) + (counted ? 1 : 0);
    if (counted) lane_of(i).ops.push_back(i);
    if (n.unmet == 0 && credit != Credit::take) make_ready(i);
  }
  sends_to_start_ = static_cast<int>(lanes_[0].ops.size() + lanes_[2].ops.size());
  if (takes) number_peers(program);
  for (Lane& lane : lanes_) advance(lane);
}

void Progress::connect_dependents(const Program& program) {
  for (int i = 0; i < program.size(); ++i) {
    for (const int before : program.after(i)) {
      if (before < 0 || before >= i) throw std::invalid_argument("progress: an op waits for no earlier op");
      ++node(before).dependents_end;
    }
  }
  int total = 0;
  for (Node& n : nodes_) {
    const int count = n.dependents_end;
    n.dependents_end =
        total;  // the place of its first dependent, and after the loop below the end of its last
    total += count;
  }
  dependents_.resize(static_cast<std::size_t>(total));
  for (int i = 0; i < program.size(); ++i) {
    for (const int before : program.after(i)) {
      dependents_[static_cast<std::size_t>(node(before).dependents_end++)] = i;
    }
  }
}

/// Also lets the takes ask that wait for nothing.
void Progress::number_peers(const Program& program) {
  std::vector<Rank> peers;
  for (const Op& op : program.ops()) {
    if (op.credit == Credit::take) peers.push_back(op.peer);
  }
  std::ranges::sort(peers);
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  turn_of_.assign(peers.size(), kNoTurn);
  take_peer_.assign(nodes_.size(), -1);
  for (int i = 0; i < program.size(); ++i) {
    if (!has(i, kTake)) continue;
    const auto at = std::ranges::lower_bound(peers, program[i].peer);
    take_peer_[static_cast<std::size_t>(i)] = static_cast<int>(at - peers.begin());
    if (node(i).unmet == 0) ask(i);
  }
}

void Progress::begin() {
  if (begun_) return;
  begun_ = true;
  tell(ProgressEvent::begun);
}

void Progress::set_credits(int credits) {
  if (credits == credits_) return;
  credits_ = credits;
  tell(ProgressEvent::credits, credits);
}

void Progress::arrive() {
  if (arrived_) return;
  begun_ = arrived_ = true;
  tell(ProgressEvent::arrived);
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    if (has(i, kNeedsArrival)) meet_condition(i);
  }
}

std::optional<int> Progress::next() {
  if (begun_ && !ready_.empty()) {
    constexpr std::uint32_t kOpMask = (1U << kTurnShift) - 1;
    return hand_out(static_cast<int>(pop(ready_) & kOpMask));
  }
  if (begun_ && taken_ < credits_ && !asking_.empty()) {
    ++taken_;
    return hand_out(static_cast<int>(static_cast<std::uint32_t>(pop(asking_))));
  }
  tell(ProgressEvent::nothing_to_start);
  return std::nullopt;
}

int Progress::hand_out(int op) {
  Node& n = node(op);
  if (n.phase == Phase::waiting) {
    n.phase = Phase::started;
    if ((n.traits & kSend) != 0) --sends_to_start_;
  }
  tell(ProgressEvent::handed_out, op);
  return op;
}

void Progress::landed(int op) {
  tell(ProgressEvent::landed, op);
  node(op).phase = Phase::landed;
  meet_condition(op);
}

void Progress::ended(int op) {
  tell(ProgressEvent::ended, op);
  Node& n = node(op);
  n.phase = Phase::ended;
  --unfinished_;
  if ((n.traits & kGive) != 0) --taken_;
  const int first = op == 0 ? 0 : node(op - 1).dependents_end;
  for (int k = first; k < n.dependents_end; ++k) meet_condition(dependents_[static_cast<std::size_t>(k)]);
  if ((n.traits & (kSend | kReceive)) != 0) {
    Lane& lane = lane_of(op);
    --lane.open;
    advance(lane);
  }
}

void Progress::observe(ProgressObserver* observer, Rank rank) {
  observer_ = observer;
  rank_ = rank;
}

void Progress::advance(Lane& lane) {
  for (; lane.open < lane.window && lane.entered < lane.ops.size(); ++lane.entered, ++lane.open) {
    const int op = lane.ops[lane.entered];
    if (has(op, kAside)) {
      make_ready(op);
    } else {
      meet_condition(op);
    }
  }
}

void Progress::meet_condition(int op) {
  if (--node(op).unmet > 0) return;
  if (has(op, kTake)) {
    ask(op);
  } else {
    make_ready(op);
  }
}

void Progress::make_ready(int op) {
  const bool waits = node(op).phase == Phase::waiting;
  const std::uint32_t turn = waits && has(op, kReceive) ? 1 : waits && has(op, kSend) ? 2 : 0;
  push(ready_, turn << kTurnShift | static_cast<std::uint32_t>(op));
}

void Progress::ask(int op) {
  std::uint32_t& turn = turn_of_[static_cast<std::size_t>(take_peer_[static_cast<std::size_t>(op)])];
  if (turn == kNoTurn) turn = turns_++;
  push(asking_, std::uint64_t{turn} << 32U | static_cast<std::uint32_t>(op));
}

}  // namespace papfft::comm
