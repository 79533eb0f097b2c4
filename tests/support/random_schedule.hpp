// SPDX-License-Identifier: MIT
// Random schedules of several operations: with messages of several slots, empty messages, local ops, credits and announcements.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "comm/progress/progress.hpp"
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm::test {

struct RandomCase {
  Schedule schedule;
  std::vector<std::int64_t> slot_bytes;
  std::vector<std::int64_t> arrivals;
  Window window;
};

/// Writes a schedule as one rank after another would carry it out, so that it is right with any window; with credits often.
class RandomScheduler {
 public:
  RandomScheduler(std::mt19937& rng, bool with_credits) : rng_(rng), with_credits_(with_credits) {}

  RandomCase make() {
    constexpr std::array kOperations = {Operation::bcast, Operation::gather, Operation::reduce,
                                        Operation::allreduce};
    Shape& shape = case_.schedule.shape;
    shape.operation = kOperations.at(below(4));
    shape.ranks = 2 + static_cast<int>(below(4));
    shape.segments = 1 + static_cast<int>(below(3));
    if (is_rooted(shape.operation)) shape.root = static_cast<Rank>(below(at(shape.ranks)));
    for (int s = 0; s < shape.blocks(); ++s) shape.scratch.push_back(s);
    builders_.assign(at(shape.ranks), ProgramBuilder(shape.slots()));
    writers_.assign(at(shape.ranks), std::vector<int>(at(shape.slots()), -1));
    for (Rank r = 0; r < shape.ranks; ++r) {
      handed_on_.emplace_back(at(shape.blocks()));
      held_.emplace_back();
      for (int s = 0; s < shape.blocks(); ++s) held_.back().push_back(holds_first(r, s) ? 1U << at(r) : 0U);
    }
    shape.names_what_it_grants = with_credits_ && chance(2);
    while (!all_is_done()) add_message();
    if (!uses_credits_) shape.credits = 0;
    for (ProgramBuilder& builder : builders_) case_.schedule.programs.push_back(builder.take());
    add_data();
    return std::move(case_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::size_t below(std::size_t n) { return rng_() % n; }
  bool chance(unsigned one_in) { return rng_() % one_in == 0; }
  [[nodiscard]] const Shape& shape() const { return case_.schedule.shape; }
  [[nodiscard]] std::uint32_t everyone() const { return (1U << at(shape().ranks)) - 1; }

  [[nodiscard]] bool holds_first(Rank r, int slot) const {
    if (is_reduction(shape().operation)) return true;
    return shape().per_rank() ? slot / shape().segments == r : r == shape().root;
  }

  [[nodiscard]] bool is_done(Rank r, int slot) const {
    const bool wanted =
        !is_rooted(shape().operation) || shape().operation == Operation::bcast || r == shape().root;
    if (!wanted) return true;
    const std::uint32_t held = held_[at(r)][at(slot)];
    return is_reduction(shape().operation) ? held == everyone() : held != 0;
  }

  [[nodiscard]] bool all_is_done() const {
    for (Rank r = 0; r < shape().ranks; ++r) {
      for (int s = 0; s < shape().blocks(); ++s) {
        if (!is_done(r, s)) return false;
      }
    }
    return true;
  }

  /// What rank `to` may do with what `from` holds: replace, combine or nothing.
  enum class Use : std::uint8_t { nothing, replace, combine };
  [[nodiscard]] Use use(Rank from, Rank to, int slot) const {
    const std::uint32_t a = held_[at(from)][at(slot)];
    const std::uint32_t b = held_[at(to)][at(slot)];
    if (a == 0 || a == b) return Use::nothing;
    if (!is_reduction(shape().operation)) return b == 0 ? Use::replace : Use::nothing;
    if (a == everyone()) return Use::replace;
    return !handed_on_[at(from)][at(slot)] && !handed_on_[at(to)][at(slot)] && (a & b) == 0 ? Use::combine
                                                                                            : Use::nothing;
  }

  void add_message() {
    const auto from = static_cast<Rank>(below(at(shape().ranks)));
    const auto to = static_cast<Rank>(below(at(shape().ranks)));
    if (from == to) return;
    if (chance(8)) {  // a word without data
      builders_[at(from)].send(to, {}, 0, {last(from)});
      builders_[at(to)].recv(from, {}, 0, {last(to)});
      return;
    }
    const auto first = static_cast<int>(below(at(shape().blocks())));
    const Use how = use(from, to, first);
    if (how == Use::nothing) return;
    int end = first + 1;
    while (end < shape().blocks() && !chance(2) && use(from, to, end) == how) ++end;
    move(from, to, {first, end}, how);
    for (int s = first; s < end; ++s) {
      std::uint32_t& held = held_[at(to)][at(s)];
      if (how == Use::combine) handed_on_[at(from)][at(s)] = true;
      held = how == Use::combine ? held | held_[at(from)][at(s)] : held_[at(from)][at(s)];
    }
  }

  void move(Rank from, Rank to, BlockRange blocks, Use how) {
    const bool aside = chance(3);
    const int shift = aside ? shape().blocks() : 0;
    const BlockRange there{blocks.first + shift, blocks.last + shift};
    const auto about = [&](BlockRange slots) { return shape().names_what_it_grants ? slots : BlockRange{}; };
    int told = -1;
    int granted = -1;
    const bool by_credit = with_credits_ && chance(2);
    if (by_credit) {
      uses_credits_ = true;
      case_.schedule.shape.credits = 1 + static_cast<int>(below(3));
      int written = -1;
      for (int s = blocks.first; s < blocks.last; ++s) written = std::max(written, writers_[at(from)][at(s)]);
      granted = builders_[at(from)].add(
          {.kind = OpKind::send, .announces = true, .peer = to, .about = about(blocks)}, {written});
      told = builders_[at(to)].add({.kind = OpKind::recv, .peer = from, .about = about(there)});
    }
    Op receive{.kind = how == Use::combine && !aside ? OpKind::recv_combine : OpKind::recv,
               .credit = by_credit ? Credit::give : Credit::none,
               .peer = from,
               .blocks = there};
    int received = builders_[at(to)].add(receive, {told});
    if (by_credit) {
      builders_[at(to)].add(
          {.kind = OpKind::send, .credit = Credit::take, .peer = from, .about = about(there)}, {told});
      granted =
          builders_[at(from)].add({.kind = OpKind::recv, .peer = to, .about = about(blocks)}, {granted});
    }
    builders_[at(from)].send(to, blocks, 0, {granted});
    if (aside && how == Use::combine) {
      received = builders_[at(to)].combine(receive.blocks.first, blocks);
    } else if (aside) {
      received = builders_[at(to)].copy(receive.blocks.first, blocks);
    }
    for (int s = blocks.first; s < blocks.last; ++s) writers_[at(to)][at(s)] = received;
    last_[to] = received;
  }

  int last(Rank r) { return last_.contains(r) ? last_[r] : -1; }

  void add_data() {
    for (int s = 0; s < shape().blocks(); ++s) {
      case_.slot_bytes.push_back(chance(3) ? 0 : static_cast<std::int64_t>(1 + below(60)));
    }
    for (int s = 0; s < shape().blocks(); ++s) case_.slot_bytes.push_back(case_.slot_bytes[at(s)]);
    for (Rank r = 0; r < shape().ranks; ++r) case_.arrivals.push_back(static_cast<std::int64_t>(below(500)));
    case_.window = {1 + static_cast<int>(below(3)), 1 + static_cast<int>(below(3))};
  }

  std::mt19937& rng_;
  bool with_credits_;
  bool uses_credits_ = false;
  RandomCase case_;
  std::vector<ProgramBuilder> builders_;
  std::vector<std::vector<int>> writers_;         // per rank and slot: the op that wrote it last
  std::vector<std::vector<std::uint32_t>> held_;  // per rank and slot: whose contributions
  std::vector<std::vector<bool>> handed_on_;      // a contribution that another rank has taken over
  std::map<Rank, int> last_;
};

/// Swaps neighbours that do not depend on each other and are no messages of one pair, and adds dependencies. Data and partners stay
/// right, but ranks may come to wait for each other.
inline void entangle(std::mt19937& rng, Schedule& schedule, int swaps, int dependencies) {
  for (int k = 0; k < swaps + dependencies; ++k) {
    Program& program = schedule.programs[rng() % schedule.programs.size()];
    if (program.size() < 2) continue;
    const auto i = static_cast<int>(rng() % static_cast<std::size_t>(program.size() - 1));
    const auto depends = [&](int op, int before) {
      return std::ranges::count(program.after(op), before) > 0;
    };
    const bool one_pair = program[i].peer == program[i + 1].peer &&
                          is_receive(program[i].kind) == is_receive(program[i + 1].kind);
    const bool swap = k < swaps && !depends(i + 1, i) && !one_pair;
    Program next;
    for (int op = 0; op < program.size(); ++op) {
      const int old = !swap || (op != i && op != i + 1) ? op : 2 * i + 1 - op;
      std::vector<int> after;
      for (const int before : program.after(old)) {
        after.push_back(!swap || (before != i && before != i + 1) ? before : 2 * i + 1 - before);
      }
      if (k >= swaps && op > i && !depends(op, i) && rng() % 4 == 0) after.push_back(i);
      std::ranges::sort(after);
      next.append(program[old], after);
    }
    program = std::move(next);
  }
}

}  // namespace papfft::comm::test
