// SPDX-License-Identifier: MIT
// The rule of comm/progress, written down as it is said: every question is answered from scratch. Slow and obvious.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "comm/progress/progress.hpp"
#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/messages.hpp"

namespace papfft::comm::test {

/// Hears what a Progress of each rank of a schedule is told and hands out, and says of each step whether it is right.
class NaiveProgress final : public ProgressObserver {
 public:
  /// @param held  per rank and op, which ops wait for the arrival; empty: none
  NaiveProgress(const Schedule& schedule, std::span<const std::int64_t> slot_bytes, Rules rules,
                std::vector<std::vector<bool>> held)
      : schedule_(schedule),
        bytes_(slot_bytes.begin(), slot_bytes.end()),
        rules_(rules),
        held_(std::move(held)) {
    MessageMatcher matcher;
    std::vector<OpRef> ops;
    for (Rank r = 0; r < schedule.shape.ranks; ++r) {
      const Program& program = program_of(r);
      for (int i = 0; i < program.size(); ++i) {
        matcher.add(r, program[i]);
        ops.push_back({r, i});
      }
      ranks_.push_back({.ops = std::vector<OpState>(at(program.size())), .credits = schedule.shape.credits});
    }
    const std::vector<int> partners = matcher.partners();
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (partners[k] >= 0) state(ops[k].rank, ops[k].op).partner = ops[at(partners[k])];
    }
    for (Rank r = 0; r < schedule.shape.ranks; ++r) ask(r);
  }

  void happened(Rank r, ProgressEvent event, int value) override {
    ++steps;
    RankState& rank = ranks_[at(r)];
    switch (event) {
      case ProgressEvent::begun:
        rank.begun = true;
        break;
      case ProgressEvent::arrived:
        rank.begun = rank.arrived = true;
        break;
      case ProgressEvent::credits:
        rank.credits = value;
        break;
      case ProgressEvent::handed_out:
        if (!may_start(r, value) && !may_combine(r, value)) wrong(r, value, "must not start");
        if (may_combine(r, value)) state(r, value).combining = true;
        state(r, value).started = true;
        break;
      case ProgressEvent::landed:
        if (!may_be_over(r, value) || !is_aside(r, value)) wrong(r, value, "cannot have landed");
        state(r, value).landed = true;
        break;
      case ProgressEvent::ended:
        if (is_aside(r, value) ? !state(r, value).combining : !may_be_over(r, value))
          wrong(r, value, "cannot have ended");
        if (state(r, value).ended) wrong(r, value, "ends twice");
        state(r, value).ended = true;
        break;
      case ProgressEvent::nothing_to_start:
        for (int i = 0; i < program_of(r).size(); ++i) {
          if (may_start(r, i) || may_combine(r, i)) wrong(r, i, "may start and does not");
        }
    }
    ask(r);
  }

  /// Per rank and op: ended.
  [[nodiscard]] std::vector<std::vector<bool>> ended() const {
    std::vector<std::vector<bool>> result;
    for (const RankState& rank : ranks_) {
      result.emplace_back();
      for (const OpState& op : rank.ops) result.back().push_back(op.ended);
    }
    return result;
  }

  [[nodiscard]] bool all_ended() const {
    return std::ranges::all_of(ranks_, [](const RankState& rank) {
      return std::ranges::all_of(rank.ops, [](const OpState& op) { return op.ended; });
    });
  }

  int steps = 0;
  std::string error;  ///< the first step that is not right

 private:
  struct OpState {
    bool started = false;
    bool landed = false;
    bool combining = false;
    bool ended = false;
    OpRef partner = {.rank = -1};
  };
  struct RankState {
    std::vector<OpState> ops = {};
    bool begun = false;
    bool arrived = false;
    int credits = 0;
    std::vector<Rank> peers = {};  // in the order in which their first take could start
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] const Program& program_of(Rank r) const { return schedule_.programs[at(r)]; }
  [[nodiscard]] OpState& state(Rank r, int i) { return ranks_[at(r)].ops[at(i)]; }
  [[nodiscard]] const OpState& state(Rank r, int i) const { return ranks_[at(r)].ops[at(i)]; }

  void wrong(Rank r, int i, const std::string& what) {
    if (error.empty()) {
      error = "step " + std::to_string(steps) + ": rank " + std::to_string(r) + " op " + std::to_string(i) +
              " " + what;
    }
  }

  [[nodiscard]] bool is_void(const Op& op) const {
    if (schedule_.shape.credits > 0 && !schedule_.shape.names_what_it_grants) return false;
    const BlockRange slots = op.blocks.count() == 0 ? op.about : op.blocks;
    if (slots.count() == 0) return false;
    return std::all_of(bytes_.begin() + slots.first, bytes_.begin() + slots.last,
                       [](std::int64_t bytes) { return bytes == 0; });
  }
  [[nodiscard]] bool is_here(const Op& op) const { return comm::is_local(op.kind) || is_void(op); }
  [[nodiscard]] bool is_counted(Rank r, int i) const {
    const Op& op = program_of(r)[i];
    if (is_here(op) || op.blocks.count() == 0 || op.credit != Credit::none) return false;
    if (op.kind != OpKind::send) return true;
    return std::ranges::none_of(program_of(r).after(i), [&](int before) {
      const Op& invites = program_of(r)[before];
      return is_receive(invites.kind) && invites.blocks.count() == 0 && invites.peer == op.peer;
    });
  }
  [[nodiscard]] bool is_aside(Rank r, int i) const {
    const Op& op = program_of(r)[i];
    return is_counted(r, i) && op.kind == OpKind::recv_combine && rules_.landing == Landing::aside;
  }

  [[nodiscard]] bool is_ready(Rank r, int i) const {
    const RankState& rank = ranks_[at(r)];
    const bool held = !held_.empty() && !held_[at(r)].empty() && held_[at(r)][at(i)];
    return (held ? rank.arrived : rank.begun) && std::ranges::all_of(program_of(r).after(i), [&](int before) {
             return rank.ops[at(before)].ended;
           });
  }

  [[nodiscard]] bool is_in_window(Rank r, int i) const {
    const Op& op = program_of(r)[i];
    const bool sends = op.kind == OpKind::send;
    int unfinished = 0;
    for (int k = 0; k < i; ++k) {
      const Op& earlier = program_of(r)[k];
      if (is_counted(r, k) && (earlier.kind == OpKind::send) == sends && !state(r, k).ended) ++unfinished;
    }
    return unfinished < (sends ? rules_.window.sends : rules_.window.receives);
  }

  [[nodiscard]] int credits_out(Rank r) const {
    int out = 0;
    for (int k = 0; k < program_of(r).size(); ++k) {
      if (is_here(program_of(r)[k])) continue;
      const Credit credit = program_of(r)[k].credit;
      if (credit == Credit::take && state(r, k).started) ++out;
      if (credit == Credit::give && state(r, k).ended) --out;
    }
    return out;
  }

  [[nodiscard]] bool asks(Rank r, int i) const {
    const Op& op = program_of(r)[i];
    return op.credit == Credit::take && !is_here(op) && !state(r, i).started && is_ready(r, i);
  }

  [[nodiscard]] bool has_turn(Rank r, int i) const {
    for (const Rank peer : ranks_[at(r)].peers) {
      for (int k = 0; k < program_of(r).size(); ++k) {
        if (program_of(r)[k].peer == peer && asks(r, k)) return k == i;
      }
    }
    return false;
  }

  [[nodiscard]] bool may_start(Rank r, int i) const {
    const Op& op = program_of(r)[i];
    if (state(r, i).started) return false;
    if (op.credit == Credit::take && !is_here(op))
      return credits_out(r) < ranks_[at(r)].credits && has_turn(r, i);
    if (is_counted(r, i) && !is_in_window(r, i)) return false;
    return is_aside(r, i) ? ranks_[at(r)].begun : is_ready(r, i);
  }

  [[nodiscard]] bool may_combine(Rank r, int i) const {
    return is_aside(r, i) && state(r, i).landed && !state(r, i).combining && is_ready(r, i);
  }

  /// Both ends of a message have started.
  [[nodiscard]] bool may_be_over(Rank r, int i) const {
    const OpState& op = state(r, i);
    if (!op.started) return false;
    return is_here(program_of(r)[i]) ||
           (op.partner.rank >= 0 && state(op.partner.rank, op.partner.op).started);
  }

  void ask(Rank r) {
    std::vector<Rank>& peers = ranks_[at(r)].peers;
    for (int i = 0; i < program_of(r).size(); ++i) {
      const Rank peer = program_of(r)[i].peer;
      if (asks(r, i) && std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
    }
  }

  const Schedule& schedule_;
  std::vector<std::int64_t> bytes_;
  Rules rules_;
  std::vector<std::vector<bool>> held_;
  std::vector<RankState> ranks_;
};

}  // namespace papfft::comm::test
