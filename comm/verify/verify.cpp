// SPDX-License-Identifier: MIT
#include "comm/verify/verify.hpp"

#include <limits>
#include <map>
#include <random>
#include <utility>

#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/contract.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/verify/bits.hpp"
#include "comm/verify/structure.hpp"

namespace papfft::comm {

namespace {

/// What a slot holds: the combination of some ranks' data for one logical block.
struct Value {
  int block = -1;  // -1: no valid data
  Bits contributors;
  Rank first = -1;  // contributors first, first+1, ..., last in this order; -1: combined in another order
  Rank last = -1;
};

/// One symbolic run of all ranks. A message moves when both its ends are posted.
class Run {
 public:
  /// @param progress  of each rank, as at the beginning
  /// @param seed      0: always the same order of events; else a random one
  Run(const Schedule& schedule, const Partners& partners, const SlotSizes& sizes,
      std::vector<Progress> progress, std::uint32_t seed)
      : schedule_(schedule),
        shape_(schedule.shape),
        partners_(partners),
        sizes_(sizes),
        progress_(std::move(progress)),
        slots_(progress_.size()),
        random_(seed),
        is_random_(seed != 0) {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      slots_[idx(r)].resize(idx(shape_.slots()));
      for (int slot = 0; slot < shape_.blocks(); ++slot) slots_[idx(r)][idx(slot)] = initial(r, slot);
      awake_.push_back(r);
    }
  }

  /// All ranks arrive. A credit is given when no other is out anywhere.
  std::optional<std::string> with_one_credit() {
    for (Progress& p : progress_) p.set_credits(0);
    for (Progress& p : progress_) p.arrive();
    do {
      const unsigned some = random_() % 8;
      for (unsigned k = 0; (!is_random_ || k < some) && move_one(); ++k) {
      }
    } while (!error_ && (serve_a_take() || move_one()));
    if (!error_) report_deadlock();
    if (!error_) check_end();
    return error_;
  }

  /// A rank never comes, and there are credits for all: nobody may ask it for anything.
  std::optional<std::string> without(Rank absent) {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      progress_[idx(r)].set_credits(std::numeric_limits<int>::max());
      if (r == absent) {
        progress_[idx(r)].begin();
      } else {
        progress_[idx(r)].arrive();
      }
    }
    while (move_one()) {
    }
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = schedule_.programs[idx(r)];
      for (int i = 0; i < program.size(); ++i) {
        const bool asks = takes(r, i) && program[i].peer == absent;
        if (asks && progress_[idx(r)].phase(i) != Phase::waiting)
          fail(r, i, "asks before the peer has arrived");
      }
    }
    return error_;
  }

 private:
  using Phase = Progress::Phase;

  bool fail(std::string what) {
    if (!error_) error_ = std::move(what);
    return false;
  }
  bool fail(Rank rank, int op, std::string_view what) { return fail(at_op(schedule_, {rank, op}, what)); }

  Value initial(Rank r, int slot) const {
    Value value;
    const int block = shape_.block_of(r, slot);
    const Held held = held_before(shape_, r, block);
    if (held == Held::nothing) return value;
    const Rank contributor = held == Held::root ? shape_.root : r;
    value.block = block;
    value.contributors = Bits(shape_.ranks);
    value.contributors.set(contributor);
    value.first = value.last = contributor;
    return value;
  }

  [[nodiscard]] const Op& op_at(OpRef at) const { return schedule_.programs[idx(at.rank)][at.op]; }
  /// What is void needs no credit.
  [[nodiscard]] bool takes(Rank r, int i) const {
    return op_at({r, i}).credit == Credit::take && !progress_[idx(r)].is_local(i);
  }
  [[nodiscard]] bool gives(Rank r, int i) const {
    return op_at({r, i}).credit == Credit::give && !progress_[idx(r)].is_local(i);
  }
  /// Nothing is ever in it, so it holds all that is promised.
  [[nodiscard]] bool is_void(int slot) const { return sizes_.of({slot, slot + 1}) == 0; }

  /// Does what needs no message, then moves a message. @return false if there is none.
  bool move_one() {
    while (!awake_.empty() && !error_) {
      const Rank r = awake_.back();
      awake_.pop_back();
      for (auto op = progress_[idx(r)].next(); op && !error_; op = progress_[idx(r)].next())
        carry_out(r, *op);
    }
    if (posted_.empty() || error_) return false;
    if (is_random_) std::swap(posted_[random_() % posted_.size()], posted_.back());
    const OpRef send = posted_.back();
    posted_.pop_back();
    transfer(send, partners_[idx(send.rank)][idx(send.op)]);
    return true;
  }

  /// @return false if nobody asks
  bool serve_a_take() {
    const Rank first = is_random_ ? static_cast<Rank>(random_() % progress_.size()) : 0;
    for (int k = 0; k < shape_.ranks; ++k) {
      const Rank r = (first + k) % shape_.ranks;
      progress_[idx(r)].set_credits(1);
      const auto take = progress_[idx(r)].next();
      progress_[idx(r)].set_credits(0);
      if (!take) continue;
      carry_out(r, *take);
      while (progress_[idx(r)].credits_taken() > 0 && move_one()) {
      }
      return progress_[idx(r)].credits_taken() == 0 || fail(r, *take, "its answer waits for another credit");
    }
    return false;
  }

  void carry_out(Rank r, int i) {
    const Op& op = op_at({r, i});
    if (takes(r, i)) ++taken_[{r, op.peer}];
    if (progress_[idx(r)].phase(i) == Phase::landed) {
      write({r, i}, landed_.extract({r, i}).mapped());
    } else if (is_local(op.kind)) {
      write({r, i}, read({r, i}, op.from, "reads"));
    } else if (progress_[idx(r)].is_local(i)) {
      end(r, i);  // a message without data
    } else {
      const OpRef other = partners_[idx(r)][idx(i)];
      if (progress_[idx(other.rank)].phase(other.op) == Phase::waiting) return;
      posted_.push_back(op.kind == OpKind::send ? OpRef{r, i} : other);
    }
  }

  void transfer(OpRef from, OpRef to) {
    auto values = read(from, op_at(from).blocks.first, "sends");
    if (error_) return;
    end(from.rank, from.op);
    if (progress_[idx(to.rank)].lands_aside(to.op)) {
      landed_[{to.rank, to.op}] = std::move(values);
      progress_[idx(to.rank)].landed(to.op);
      awake_.push_back(to.rank);
    } else {
      write(to, values);
    }
  }

  /// What the slots from `first` on hold, for an op.
  std::vector<Value> read(OpRef by, int first, std::string_view how) {
    std::vector<Value> values;
    for (int slot = first; slot < first + op_at(by).blocks.count(); ++slot) {
      values.push_back(slots_[idx(by.rank)][idx(slot)]);
      if (values.back().block >= 0 || is_void(slot)) continue;
      fail(by.rank, by.op, std::string(how) + " slot " + std::to_string(slot) + ", which holds nothing");
    }
    return values;
  }

  /// The end of a receive or a local op.
  void write(OpRef by, const std::vector<Value>& values) {
    const BlockRange blocks = op_at(by).blocks;
    for (int k = 0; k < blocks.count() && !error_; ++k) {
      const int slot = blocks.first + k;
      if (!is_void(slot)) put(by.rank, by.op, op_at(by), slot, values[idx(k)]);
    }
    if (!error_) end(by.rank, by.op);
  }

  bool put(Rank r, int i, const Op& op, int slot, const Value& value) {
    Value& held = slots_[idx(r)][idx(slot)];
    const int block = shape_.block_of(r, slot);
    const bool fits = block == Shape::kAnyBlock ? value.block % shape_.segments == shape_.segment_of(slot)
                                                : value.block == block;
    if (!fits) {
      return fail(r, i,
                  "gets block " + std::to_string(value.block) + " for " +
                      (block == Shape::kAnyBlock ? "another segment" : "block " + std::to_string(block)));
    }
    if (!combines(op.kind)) {
      if (held.block == value.block && held.contributors == value.contributors)
        return fail(r, i, "gets what it holds");
      held = value;
      return true;
    }
    if (held.block < 0 && joins_as_it_comes(op) && is_reduction(shape_.operation)) {
      held = value;
      return true;
    }
    if (held.block < 0) return fail(r, i, "combines into a slot that holds nothing");
    if (!held.contributors.disjoint(value.contributors)) return fail(r, i, "counts a contribution twice");
    const Value& left = op.incoming_first ? value : held;
    const Value& right = op.incoming_first ? held : value;
    const bool in_order = left.last >= 0 && left.last + 1 == right.first;
    const Rank first = in_order ? left.first : -1;
    const Rank last = in_order ? right.last : -1;
    held.contributors.merge(value.contributors);
    held.first = first;
    held.last = last;
    return true;
  }

  void end(Rank r, int i) {
    const Op& op = op_at({r, i});
    if (gives(r, i) && --taken_[{r, op.peer}] < 0) fail(r, i, "gives back what was not taken");
    progress_[idx(r)].ended(i);
    awake_.push_back(r);
  }

  void report_deadlock() {
    std::string waits;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      if (progress_[idx(r)].done()) continue;
      int first = 0;
      while (progress_[idx(r)].phase(first) == Phase::ended) ++first;
      if (!waits.empty()) waits += "; ";
      waits += "rank " + std::to_string(r) + " waits in op " + std::to_string(first) + " (" +
               describe(op_at({r, first})) + ")";
    }
    if (!waits.empty()) fail("deadlock: " + waits);
  }

  bool check_end() {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      for (int slot = 0; slot < shape_.blocks(); ++slot) {
        const int block = shape_.block_of(r, slot);
        const Held promised = held_after(shape_, r, block);
        if (promised == Held::nothing || is_void(slot)) continue;
        const Value& value = slots_[idx(r)][idx(slot)];
        const std::string where = "end: rank " + std::to_string(r) + " block " + std::to_string(block) + ": ";
        if (value.block < 0) return fail(where + "missing");
        if (promised != Held::all) continue;
        const int missing = shape_.ranks - value.contributors.count();
        if (missing != 0) return fail(where + std::to_string(missing) + " contributions missing");
        if (shape_.ordered && (value.first != 0 || value.last != shape_.ranks - 1))
          return fail(where + "not combined in rank order");
      }
    }
    return true;
  }

  const Schedule& schedule_;
  const Shape& shape_;
  const Partners& partners_;
  const SlotSizes& sizes_;
  std::vector<Progress> progress_;
  std::vector<std::vector<Value>> slots_;                      // per rank
  std::map<std::pair<Rank, int>, std::vector<Value>> landed_;  // what waits aside, by rank and op
  std::map<std::pair<Rank, Rank>, int> taken_;                 // credits out, by rank and peer
  std::vector<Rank> awake_;                                    // ranks that may have something to do
  std::vector<OpRef> posted_;                                  // sends of messages that both ends have posted
  std::mt19937 random_;
  bool is_random_;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> find_violation(const Schedule& schedule, const Conditions& conditions) {
  Partners partners;
  if (auto violation = find_structural_violation(schedule, partners)) return violation;
  const Shape& shape = schedule.shape;
  const SlotSizes sizes = conditions.slot_bytes.empty() ? SlotSizes(std::vector<int>(idx(shape.slots()), 1))
                                                        : SlotSizes(conditions.slot_bytes);
  std::vector<Progress> progress;
  for (Rank r = 0; r < shape.ranks; ++r) {
    const Program& program = schedule.programs[idx(r)];
    const bool by_arrival = shape.credits > 0;
    progress.emplace_back(shape, program, sizes, conditions.rules,
                          by_arrival ? needs_arrival(shape, r, program) : std::vector<bool>{});
  }
  auto watched = progress;
  for (Rank r = 0; r < shape.ranks; ++r) watched[idx(r)].observe(conditions.observer, r);
  auto violation = Run(schedule, partners, sizes, std::move(watched), 0).with_one_credit();
  if (shape.credits == 0) return violation;
  const auto run = [&](std::uint32_t seed) { return Run(schedule, partners, sizes, progress, seed); };
  for (Rank r = 0; r < shape.ranks && !violation; ++r) violation = run(0).without(r);
  constexpr std::uint32_t kRandomRuns = 24;
  for (std::uint32_t seed = 1; seed <= kRandomRuns && !violation; ++seed)
    violation = run(seed).with_one_credit();
  return violation;
}

}  // namespace papfft::comm
