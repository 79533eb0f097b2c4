// SPDX-License-Identifier: MIT
#include "comm/verify/verify.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "comm/schedule/core/contract.hpp"
#include "comm/schedule/core/print.hpp"

namespace papfft::comm {

namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// A set of small integers.
class Bits {
 public:
  Bits() = default;
  explicit Bits(int size) : words_((idx(size) + 63) / 64) {}
  void set(int i) { words_[idx(i) / 64] |= std::uint64_t{1} << (idx(i) % 64); }
  [[nodiscard]] bool test(int i) const { return (words_[idx(i) / 64] >> (idx(i) % 64) & 1U) != 0; }
  void merge(const Bits& other) {
    for (std::size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
  }
  [[nodiscard]] bool disjoint(const Bits& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if ((words_[w] & other.words_[w]) != 0) return false;
    }
    return true;
  }
  friend bool operator==(const Bits&, const Bits&) = default;
  [[nodiscard]] int count() const {
    int n = 0;
    for (const std::uint64_t w : words_) n += std::popcount(w);
    return n;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// What a slot holds: the combination of some ranks' data for one logical block.
struct Value {
  int block = -1;  // -1: no valid data
  Bits contributors;
  Rank first = -1;  // contributors first, first+1, ..., last in this order; -1: combined in another order
  Rank last = -1;
};

class Verifier {
 public:
  /// @param precedence  of peers, where takes of several are ready: the lowest is served first.
  Verifier(const Schedule& schedule, Window window, std::span<const int> precedence)
      : schedule_(schedule), shape_(schedule.shape), window_(window), precedence_(precedence) {}

  std::optional<std::string> run() {
    if (!shape_is_sound() || !programs_are_sound() || !messages_match() || !ports_are_single() ||
        !credits_come_back()) {
      return error_;
    }
    execute();
    if (error_) return error_;
    check_end();
    return error_;
  }

 private:
  struct Partner {
    Rank rank = -1;
    int op = -1;
  };
  struct State {  // of one rank
    std::vector<Value> slots;
    std::vector<Partner> partner;  // per op; of local ops none
    std::vector<bool> started;
    std::vector<bool> ended;
    std::vector<int> sends;  // op indices in program order, the ended ones dropped from the front
    std::vector<int> receives;
    std::size_t sends_done = 0;
    std::size_t receives_done = 0;
    std::vector<int> locals;
    std::vector<int> uncounted;  // empty messages and gives, not started yet
    std::vector<int> takes;      // not started yet, in the order in which they are served if ready
    int credits = 1;
    int unfinished = 0;
  };

  bool fail(std::string what) {
    if (!error_) error_ = std::move(what);
    return false;
  }
  bool fail(Rank rank, int op, const std::string& what) {
    return fail("rank " + std::to_string(rank) + " op " + std::to_string(op) + " (" +
                describe(schedule_.programs[idx(rank)][op]) + "): " + what);
  }

  bool shape_is_sound() {
    if (shape_.ranks < 1 || shape_.segments < 1) return fail("shape: ranks and segments must be at least 1");
    if (shape_.root < 0 || shape_.root >= shape_.ranks) return fail("shape: no such root");
    if (schedule_.programs.size() != idx(shape_.ranks)) return fail("shape: not one program per rank");
    if (!shape_.holder.empty()) {
      std::vector<Rank> sorted = shape_.holder;
      std::ranges::sort(sorted);
      for (int r = 0; r < static_cast<int>(sorted.size()); ++r) {
        if (sorted[idx(r)] != r) return fail("shape: holder is not a permutation");
      }
      if (!shape_.per_rank() || sorted.size() != idx(shape_.ranks)) return fail("shape: holder does not fit");
    }
    for (const int like : shape_.scratch) {
      if (like < 0 || like >= shape_.blocks()) return fail("shape: scratch slot like no slot");
    }
    return true;
  }

  bool programs_are_sound() {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = schedule_.programs[idx(r)];
      for (int i = 0; i < program.size(); ++i) {
        if (!op_is_sound(r, i, program)) return false;
      }
      if (!has_no_race(r, program)) return false;
    }
    return true;
  }

  bool op_is_sound(Rank r, int i, const Program& program) {
    const Op& op = program[i];
    const int slots = shape_.slots();
    const auto inside = [&](int first, int last) { return first >= 0 && first <= last && last <= slots; };
    if (!inside(op.blocks.first, op.blocks.last)) return fail(r, i, "slots out of range");
    if (is_local(op.kind)) {
      if (op.peer != -1) return fail(r, i, "a local op with a peer");
      const int last = op.from + op.blocks.count();
      if (!inside(op.from, last)) return fail(r, i, "source slots out of range");
      if (op.from < op.blocks.last && op.blocks.first < last) return fail(r, i, "source and target overlap");
    } else if (op.peer < 0 || op.peer >= shape_.ranks || op.peer == r) {
      return fail(r, i, "no such peer");
    }
    int previous = -1;
    for (const int before : program.after(i)) {
      if (before <= previous || before >= i) return fail(r, i, "dependencies not ascending and earlier");
      previous = before;
    }
    return true;
  }

  bool has_no_race(Rank r, const Program& program) {
    struct Use {
      int writer = -1;
      std::vector<int> readers;
    };
    std::vector<Use> uses(idx(shape_.slots()));
    std::vector<Bits> reach(idx(program.size()), Bits(program.size()));  // ops that have ended before op i
    for (int i = 0; i < program.size(); ++i) {
      for (const int before : program.after(i)) {
        reach[idx(i)].set(before);
        reach[idx(i)].merge(reach[idx(before)]);
      }
      const auto ordered = [&](int earlier) {
        return earlier < 0 || earlier == i || reach[idx(i)].test(earlier) ||
               fail(r, i, "races with op " + std::to_string(earlier));
      };
      const auto reads = [&](int slot) {
        uses[idx(slot)].readers.push_back(i);
        return ordered(uses[idx(slot)].writer);
      };
      const auto writes = [&](int slot) {
        Use& use = uses[idx(slot)];
        const bool ok = ordered(use.writer) && std::ranges::all_of(use.readers, ordered);
        use = {i, {}};
        return ok;
      };
      const Op& op = program[i];
      for (int k = 0; k < op.blocks.count(); ++k) {
        if (is_local(op.kind) && !reads(op.from + k)) return false;
        if (op.kind == OpKind::send ? !reads(op.blocks.first + k) : !writes(op.blocks.first + k))
          return false;
      }
    }
    return true;
  }

  bool messages_match() {
    states_.resize(idx(shape_.ranks));
    std::map<std::pair<Rank, Rank>, std::deque<int>> sends;  // (source, target) -> op indices
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = schedule_.programs[idx(r)];
      states_[idx(r)].partner.resize(idx(program.size()));
      for (int i = 0; i < program.size(); ++i) {
        if (program[i].kind == OpKind::send) sends[{r, program[i].peer}].push_back(i);
      }
    }
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = schedule_.programs[idx(r)];
      for (int i = 0; i < program.size(); ++i) {
        if (!is_receive(program[i].kind)) continue;
        auto& queue = sends[{program[i].peer, r}];
        if (queue.empty()) return fail(r, i, "no send meets this receive");
        const Partner sender{program[i].peer, queue.front()};
        queue.pop_front();
        const Op& send = schedule_.programs[idx(sender.rank)][sender.op];
        if (send.blocks.count() != program[i].blocks.count()) {
          return fail(r, i, "meets a send of " + std::to_string(send.blocks.count()) + " blocks");
        }
        if (shape_.single_port && send.round != program[i].round) return fail(r, i, "sent in another round");
        states_[idx(r)].partner[idx(i)] = sender;
        states_[idx(sender.rank)].partner[idx(sender.op)] = {r, i};
      }
    }
    for (const auto& [pair, queue] : sends) {
      if (!queue.empty()) return fail(pair.first, queue.front(), "no receive meets this send");
    }
    return true;
  }

  bool ports_are_single() {
    if (!shape_.single_port) return true;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = schedule_.programs[idx(r)];
      int send_round = -1;
      int receive_round = -1;
      for (int i = 0; i < program.size(); ++i) {
        const Op& op = program[i];
        if (is_local(op.kind)) continue;
        int& last = op.kind == OpKind::send ? send_round : receive_round;
        if (op.round <= last) return fail(r, i, "a second message through this port in its round");
        last = op.round;
      }
    }
    return true;
  }

  bool credits_come_back() {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      std::map<Rank, int> taken;  // by peer
      const Program& program = schedule_.programs[idx(r)];
      for (int i = 0; i < program.size(); ++i) {
        const Op& op = program[i];
        if (op.credit == Credit::none) continue;
        if (is_local(op.kind) || shape_.credits < 1) return fail(r, i, "no credits to take or give");
        taken[op.peer] += op.credit == Credit::take ? 1 : -1;
      }
      for (const auto& [peer, open] : taken) {
        if (open != 0)
          return fail("rank " + std::to_string(r) + ": takes and gives differ with rank " +
                      std::to_string(peer));
      }
    }
    return true;
  }

  void execute() {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      State& state = states_[idx(r)];
      const Program& program = schedule_.programs[idx(r)];
      state.started.resize(idx(program.size()));
      state.ended.resize(idx(program.size()));
      state.unfinished = program.size();
      for (int i = 0; i < program.size(); ++i) {
        lane_of(state, program[i]).push_back(i);
      }
      std::ranges::stable_sort(state.takes, {}, [&](int i) { return precedence_[idx(program[i].peer)]; });
      state.slots.resize(idx(shape_.slots()));
      for (int slot = 0; slot < shape_.blocks(); ++slot) state.slots[idx(slot)] = initial(r, slot);
      wake(r);
    }
    while (!awake_.empty() && !error_) {
      const Rank r = awake_.front();
      awake_.pop_front();
      states_awake_[idx(r)] = false;
      advance(r);
    }
    if (!error_) report_deadlock();
  }

  static std::vector<int>& lane_of(State& state, const Op& op) {
    if (is_local(op.kind)) return state.locals;
    if (op.credit == Credit::take) return state.takes;
    if (op.credit == Credit::give || op.blocks.count() == 0) return state.uncounted;
    return op.kind == OpKind::send ? state.sends : state.receives;
  }

  Value initial(Rank r, int slot) const {
    Value value;
    const int block = shape_.block_of(slot);
    const Held held = held_before(shape_, r, block);
    if (held == Held::nothing) return value;
    const Rank contributor = held == Held::root ? shape_.root : r;
    value.block = block;
    value.contributors = Bits(shape_.ranks);
    value.contributors.set(contributor);
    value.first = value.last = contributor;
    return value;
  }

  void wake(Rank r) {
    states_awake_.resize(idx(shape_.ranks));
    if (states_awake_[idx(r)]) return;
    states_awake_[idx(r)] = true;
    awake_.push_back(r);
  }

  bool ready(Rank r, int i) const {
    const State& state = states_[idx(r)];
    return std::ranges::all_of(schedule_.programs[idx(r)].after(i),
                               [&](int before) { return state.ended[idx(before)]; });
  }

  void advance(Rank r) {
    State& state = states_[idx(r)];
    bool progress = true;
    while (progress && !error_) {
      progress = false;
      for (const int i : state.locals) {
        if (!state.ended[idx(i)] && ready(r, i)) {
          run_local(r, i);
          progress = true;
        }
      }
    }
    std::erase_if(state.uncounted, [&](int i) {
      start(r, i);
      return state.started[idx(i)];
    });
    serve_takes(r);
    start_within(r, state.sends, state.sends_done, window_.sends);
    start_within(r, state.receives, state.receives_done, window_.receives);
  }

  void start_within(Rank r, const std::vector<int>& ops, std::size_t& done, int window) {
    State& state = states_[idx(r)];
    while (done < ops.size() && state.ended[idx(ops[done])]) ++done;
    int unfinished = 0;
    for (std::size_t k = done; k < ops.size() && unfinished < window && !error_; ++k) {
      start(r, ops[k]);
      unfinished += state.ended[idx(ops[k])] ? 0 : 1;
    }
  }

  void start(Rank r, int i) {
    State& state = states_[idx(r)];
    if (error_ || state.started[idx(i)] || !ready(r, i)) return;
    state.started[idx(i)] = true;
    const Partner other = state.partner[idx(i)];
    if (!states_[idx(other.rank)].started[idx(other.op)]) return;
    transfer(r, i, other);
    wake(r);
    wake(other.rank);
  }

  void serve_takes(Rank r) {
    State& state = states_[idx(r)];
    while (state.credits > 0 && !error_) {
      std::erase_if(state.takes, [&](int i) { return state.started[idx(i)]; });
      const auto next = std::ranges::find_if(state.takes, [&](int i) { return ready(r, i); });
      if (next == state.takes.end()) return;
      --state.credits;
      start(r, *next);
    }
  }

  void transfer(Rank r, int i, Partner other) {
    const bool sends = schedule_.programs[idx(r)][i].kind == OpKind::send;
    const Partner from = sends ? Partner{r, i} : other;
    const Partner to = sends ? other : Partner{r, i};
    const Op& send = schedule_.programs[idx(from.rank)][from.op];
    const Op& receive = schedule_.programs[idx(to.rank)][to.op];
    for (int k = 0; k < send.blocks.count(); ++k) {
      const Value& value = states_[idx(from.rank)].slots[idx(send.blocks.first + k)];
      if (value.block < 0) {
        fail(from.rank, from.op,
             "sends slot " + std::to_string(send.blocks.first + k) + ", which holds nothing");
        return;
      }
      if (!put(to.rank, to.op, receive, receive.blocks.first + k, value)) return;
    }
    end(from.rank, from.op);
    end(to.rank, to.op);
  }

  void run_local(Rank r, int i) {
    const Op& op = schedule_.programs[idx(r)][i];
    for (int k = 0; k < op.blocks.count(); ++k) {
      const Value value = states_[idx(r)].slots[idx(op.from + k)];
      if (value.block < 0) {
        fail(r, i, "reads slot " + std::to_string(op.from + k) + ", which holds nothing");
        return;
      }
      if (!put(r, i, op, op.blocks.first + k, value)) return;
    }
    end(r, i);
  }

  bool put(Rank r, int i, const Op& op, int slot, const Value& value) {
    Value& held = states_[idx(r)].slots[idx(slot)];
    if (shape_.block_of(slot) != value.block) {
      return fail(r, i,
                  "gets block " + std::to_string(value.block) + " for block " +
                      std::to_string(shape_.block_of(slot)));
    }
    if (!combines(op.kind)) {
      if (held.block >= 0 && held.contributors == value.contributors) return fail(r, i, "gets what it holds");
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
    State& state = states_[idx(r)];
    state.ended[idx(i)] = true;
    --state.unfinished;
    if (schedule_.programs[idx(r)][i].credit == Credit::give) ++state.credits;
  }

  void report_deadlock() {
    std::string waits;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const State& state = states_[idx(r)];
      if (state.unfinished == 0) continue;
      const auto first = std::ranges::find(state.ended, false) - state.ended.begin();
      if (!waits.empty()) waits += "; ";
      waits += "rank " + std::to_string(r) + " waits in op " + std::to_string(first) + " (" +
               describe(schedule_.programs[idx(r)][static_cast<int>(first)]) + ")";
    }
    if (!waits.empty()) fail("deadlock: " + waits);
  }

  void check_end() {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      for (int slot = 0; slot < shape_.blocks(); ++slot) {
        const int block = shape_.block_of(slot);
        const Held promised = held_after(shape_, r, block);
        if (promised == Held::nothing) continue;
        const Value& value = states_[idx(r)].slots[idx(slot)];
        const std::string where = "end: rank " + std::to_string(r) + " block " + std::to_string(block) + ": ";
        if (value.block < 0) {
          fail(where + "missing");
          return;
        }
        if (promised == Held::all) {
          const int missing = shape_.ranks - value.contributors.count();
          if (missing != 0) {
            fail(where + std::to_string(missing) + " contributions missing");
            return;
          }
          if (shape_.ordered && (value.first != 0 || value.last != shape_.ranks - 1)) {
            fail(where + "not combined in rank order");
            return;
          }
        }
      }
    }
  }

  const Schedule& schedule_;
  const Shape& shape_;
  Window window_;
  std::span<const int> precedence_;
  std::optional<std::string> error_;
  std::vector<State> states_;
  std::deque<Rank> awake_;
  std::vector<bool> states_awake_;
};

}  // namespace

std::optional<std::string> find_violation(const Schedule& schedule, Window window) {
  std::vector<int> precedence(schedule.programs.size());
  std::iota(precedence.begin(), precedence.end(), 0);
  auto violation = Verifier(schedule, window, precedence).run();
  if (violation || schedule.shape.credits == 0) return violation;
  if (schedule.shape.ranks <= 5) {
    while (!violation && std::ranges::next_permutation(precedence).found) {
      violation = Verifier(schedule, window, precedence).run();
    }
    return violation;
  }
  std::mt19937 random(1);
  for (int trial = 0; trial < 8 && !violation; ++trial) {
    std::ranges::shuffle(precedence, random);
    violation = Verifier(schedule, window, precedence).run();
  }
  return violation;
}

}  // namespace papfft::comm
