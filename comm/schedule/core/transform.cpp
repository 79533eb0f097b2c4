// SPDX-License-Identifier: MIT
#include "comm/schedule/core/transform.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/contract.hpp"

namespace papfft::comm {

namespace {

Shape reverse(Shape shape) {
  if (shape.credits > 0)
    throw std::invalid_argument(
        "reverse: what takes credits finds its order as it runs, and backwards could not");
  shape.operation = reversed(shape.operation);
  shape.ordered = false;
  return shape;
}

Program reverse(const Program& program, const Shape& shape, int last_round) {
  const int n = program.size();
  std::vector<std::vector<int>> after(static_cast<std::size_t>(n));  // of the new op n-1-i
  for (int i = 0; i < n; ++i) {
    for (const int before : program.after(i))
      after[static_cast<std::size_t>(n - 1 - before)].push_back(n - 1 - i);
  }
  ProgramBuilder builder(shape.slots());
  for (int k = 0; k < n; ++k) {
    Op op = program[n - 1 - k];
    if (is_local(op.kind)) throw std::invalid_argument("reverse: a schedule with local ops has no reverse");
    if (op.kind == OpKind::recv && !is_reduction(shape.operation) &&
        is_reduction(reversed(shape.operation)) && op.blocks.first < shape.blocks()) {
      throw std::invalid_argument(
          "reverse: a rank gets back what it handed over, so backwards it would get what it holds");
    }
    if (is_receive(op.kind)) {
      op.kind = OpKind::send;
    } else {
      op.kind = is_reduction(shape.operation) ? OpKind::recv_combine : OpKind::recv;
    }
    op.incoming_first = false;
    op.announces = false;
    op.round = last_round - op.round;
    builder.add(op, after[static_cast<std::size_t>(k)]);
  }
  return builder.take();
}

Shape relabel(Shape shape, std::span<const Rank> order) {
  const auto name = [&](Rank r) { return order[static_cast<std::size_t>(r)]; };
  shape.ordered = false;
  if (is_rooted(shape.operation)) shape.root = name(shape.root);
  if (shape.per_rank()) {
    std::vector<Rank> holder;
    holder.reserve(static_cast<std::size_t>(shape.ranks));
    for (int v = 0; v < shape.ranks; ++v) holder.push_back(name(shape.holder_of(v)));
    shape.holder = std::move(holder);
  }
  return shape;
}

Program relabel(const Program& program, std::span<const Rank> order) {
  Program renamed;
  for (int i = 0; i < program.size(); ++i) {
    Op op = program[i];
    if (!is_local(op.kind)) op.peer = order[static_cast<std::size_t>(op.peer)];
    renamed.append(op, program.after(i));
  }
  return renamed;
}

/// See combine_own_last.
class OwnLast {
 public:
  /// @param shape  with its new scratch slots at the end: block s is set apart in slot `apart` + s
  OwnLast(const Shape& shape, Rank rank, int apart)
      : apart_(apart), slots_(static_cast<std::size_t>(shape.slots()), Slot::plain), builder_(shape.slots()) {
    for (int s = 0; s < shape.blocks(); ++s) {
      if (held_before(shape, rank, shape.block_of(rank, s)) != Held::nothing) at(s) = Slot::own;
    }
    blocks_ = {0, shape.blocks()};
  }

  Program run(const Program& program) {
    std::vector<int> place;  // op -> where it is now
    int last_round = 0;
    for (int i = 0; i < program.size(); ++i) {
      Op op = program[i];
      last_round = op.round;
      rewrite(op);
      std::vector<int> after;
      for (const int before : program.after(i)) after.push_back(place[static_cast<std::size_t>(before)]);
      place.push_back(builder_.add(op, after));
    }
    join(blocks_, last_round);
    return builder_.take();
  }

 private:
  enum class Slot : std::uint8_t {
    own,    // holds the caller's input, and nothing has come
    apart,  // the same, and what has come is apart
    plain
  };

  Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }
  bool all(BlockRange range, Slot kind) {
    for (int s = range.first; s < range.last; ++s) {
      if (at(s) != kind) return false;
    }
    return range.count() > 0;
  }
  void set(BlockRange range, Slot kind) {
    for (int s = range.first; s < range.last; ++s) at(s) = kind;
  }

  void rewrite(Op& op) {
    switch (op.kind) {
      case OpKind::send:
        join(op.blocks, op.round);
        return;
      case OpKind::recv_combine:
        if (all(op.blocks, Slot::own)) {
          set(op.blocks, Slot::apart);
          // Of messages that join as they come, whichever is the first finds the place empty.
          if (!joins_as_it_comes(op)) op.kind = OpKind::recv;
          op.incoming_first = false;
          shift(op.blocks);
        } else if (all(op.blocks, Slot::apart)) {
          shift(op.blocks);
        } else {
          join(op.blocks, op.round);
          set(op.blocks, Slot::plain);
        }
        return;
      case OpKind::combine:
        join(op.blocks, op.round);
        [[fallthrough]];
      case OpKind::copy:
        join({op.from, op.from + op.blocks.count()}, op.round);
        [[fallthrough]];
      case OpKind::recv:  // overwrites what the slot holds, and with it what is apart
        set(op.blocks, Slot::plain);
    }
  }

  void shift(BlockRange& range) const { range = {apart_ + range.first, apart_ + range.last}; }

  void join(BlockRange range, int round) {
    for (int first = range.first; first < range.last; ++first) {
      if (at(first) != Slot::apart) continue;
      int last = first;
      while (last < range.last && at(last) == Slot::apart) at(last++) = Slot::plain;
      builder_.combine(apart_ + first, {first, last}, round);
      first = last - 1;
    }
  }

  int apart_;
  BlockRange blocks_;
  std::vector<Slot> slots_;
  ProgramBuilder builder_;
};

/// @return the first of the new slots
int add_slots_apart(Shape& shape) {
  if (!is_reduction(shape.operation) || shape.ordered) {
    throw std::invalid_argument("combine_own_last: needs a reduction by a commutative operation");
  }
  const int first = shape.slots();
  for (int s = 0; s < shape.blocks(); ++s) shape.scratch.push_back(s);
  return first;
}

}  // namespace

Schedule combine_own_last(const Schedule& schedule) {
  Schedule result{schedule.shape, {}};
  const int apart = add_slots_apart(result.shape);
  result.programs.reserve(schedule.programs.size());
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    result.programs.push_back(OwnLast(result.shape, static_cast<Rank>(r), apart).run(schedule.programs[r]));
  }
  return result;
}

RankSchedule combine_own_last(const RankSchedule& part) {
  RankSchedule result{part.shape, part.rank, {}};
  const int apart = add_slots_apart(result.shape);
  result.program = OwnLast(result.shape, part.rank, apart).run(part.program);
  return result;
}

RankSchedule reverse(const RankSchedule& part, int last_round) {
  const Shape shape = reverse(part.shape);
  return {shape, part.rank, reverse(part.program, shape, last_round)};
}

Schedule reverse(const Schedule& schedule) {
  Schedule result{reverse(schedule.shape), {}};
  int last_round = 0;
  for (const Program& program : schedule.programs) {
    for (const Op& op : program.ops()) last_round = std::max(last_round, op.round);
  }
  result.programs.reserve(schedule.programs.size());
  for (const Program& program : schedule.programs) {
    result.programs.push_back(reverse(program, result.shape, last_round));
  }
  return result;
}

Schedule relabel(const Schedule& schedule, std::span<const Rank> order) {
  require_permutation(order, schedule.shape.ranks, "relabel: order");
  Schedule result{relabel(schedule.shape, order), std::vector<Program>(schedule.programs.size())};
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    result.programs[static_cast<std::size_t>(order[r])] = relabel(schedule.programs[r], order);
  }
  return result;
}

RankSchedule relabel(const RankSchedule& part, std::span<const Rank> order) {
  require_permutation(order, part.shape.ranks, "relabel: order");
  return {relabel(part.shape, order), order[static_cast<std::size_t>(part.rank)],
          relabel(part.program, order)};
}

void require_permutation(std::span<const Rank> order, int ranks, std::string_view what) {
  std::vector<bool> seen(static_cast<std::size_t>(ranks));
  bool ok = order.size() == seen.size();
  for (std::size_t i = 0; ok && i < order.size(); ++i) {
    ok = order[i] >= 0 && order[i] < ranks && !seen[static_cast<std::size_t>(order[i])];
    if (ok) seen[static_cast<std::size_t>(order[i])] = true;
  }
  if (!ok) {
    throw std::invalid_argument(std::string(what) + ": not a permutation of the ranks 0.." +
                                std::to_string(ranks - 1));
  }
}

}  // namespace papfft::comm
