// SPDX-License-Identifier: MIT
#include "comm/verify/structure.hpp"

#include <algorithm>
#include <map>

#include "comm/schedule/core/index.hpp"
#include "comm/schedule/core/messages.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/verify/bits.hpp"

namespace papfft::comm {

namespace {

class StructureCheck {
 public:
  StructureCheck(const Schedule& schedule, Partners& partners)
      : schedule_(schedule), shape_(schedule.shape), partners_(partners) {}

  std::optional<std::string> run() {
    const bool sound = shape_is_sound() && programs_are_sound() && messages_match() && ports_are_single() &&
                       both_ends_know_what_it_is_for() && credits_come_back() && announcements_are_heard();
    return sound ? std::nullopt : error_;
  }

 private:
  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }
  bool fail(Rank rank, int op, std::string_view what) { return fail(at_op(schedule_, {rank, op}, what)); }

  template <typename Visit>  // bool(Rank, int, const Op&)
  bool for_each_op(Visit visit) {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = schedule_.programs[idx(r)];
      for (int i = 0; i < program.size(); ++i) {
        if (!visit(r, i, program[i])) return false;
      }
    }
    return true;
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
    if (!inside(op.blocks.first, op.blocks.last) || !inside(op.about.first, op.about.last))
      return fail(r, i, "slots out of range");
    if (op.about.count() > 0 && (is_local(op.kind) || op.blocks.count() > 0))
      return fail(r, i, "only an empty message is for other slots");
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

  /// No two ops touch a slot, one of them writing, without a dependency between them, unless both join as they come.
  bool has_no_race(Rank r, const Program& program) {
    struct Use {
      int writer = -1;
      std::vector<int> readers;
      std::vector<int> joined;  // by ops that join as they come
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
        Use& use = uses[idx(slot)];
        use.readers.push_back(i);
        return ordered(use.writer) && std::ranges::all_of(use.joined, ordered);
      };
      const auto joins = [&](int slot) {
        Use& use = uses[idx(slot)];
        use.joined.push_back(i);
        return ordered(use.writer) && std::ranges::all_of(use.readers, ordered);
      };
      const auto writes = [&](int slot) {
        Use& use = uses[idx(slot)];
        const bool ok = ordered(use.writer) && std::ranges::all_of(use.readers, ordered) &&
                        std::ranges::all_of(use.joined, ordered);
        use = {i, {}, {}};
        return ok;
      };
      const Op& op = program[i];
      for (int k = 0; k < op.blocks.count(); ++k) {
        if (is_local(op.kind) && !reads(op.from + k)) return false;
        const int slot = op.blocks.first + k;
        if (op.kind == OpKind::send ? !reads(slot) : joins_as_it_comes(op) ? !joins(slot) : !writes(slot))
          return false;
      }
    }
    return true;
  }

  bool messages_match() {
    MessageMatcher matcher;
    std::vector<OpRef> ops;
    for_each_op([&](Rank r, int i, const Op& op) {
      matcher.add(r, op);
      ops.push_back({r, i});
      return true;
    });
    const std::vector<int> other = matcher.partners();
    partners_.clear();
    for (const Program& program : schedule_.programs) partners_.emplace_back(idx(program.size()));
    int number = -1;
    return for_each_op([&](Rank r, int i, const Op& op) {
      const int partner = other[idx(++number)];
      if (is_local(op.kind)) return true;
      const bool sends = op.kind == OpKind::send;
      if (partner < 0) return fail(r, i, sends ? "no receive meets this send" : "no send meets this receive");
      const OpRef there = partners_[idx(r)][idx(i)] = ops[idx(partner)];
      const Op& met = schedule_.programs[idx(there.rank)][there.op];
      if (met.blocks.count() != op.blocks.count()) {
        return fail(r, i, "meets a message of " + std::to_string(met.blocks.count()) + " blocks");
      }
      if (met.inside != op.inside) return fail(r, i, "inside a host at one end only");
      return !shape_.single_port || op.inside || met.round == op.round ||
             fail(r, i, sends ? "received in another round" : "sent in another round");
    });
  }

  bool ports_are_single() {
    if (!shape_.single_port) return true;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const Program& program = schedule_.programs[idx(r)];
      int send_round = -1;
      int receive_round = -1;
      for (int i = 0; i < program.size(); ++i) {
        const Op& op = program[i];
        if (is_local(op.kind) || op.inside) continue;
        int& last = op.kind == OpKind::send ? send_round : receive_round;
        if (op.round <= last) return fail(r, i, "a second message through this port in its round");
        last = op.round;
      }
    }
    return true;
  }

  /// Both ends leave out what is for empty slots, or none.
  bool both_ends_know_what_it_is_for() {
    return for_each_op([&](Rank r, int i, const Op& op) {
      if (op.kind != OpKind::send) return true;
      const OpRef to = partners_[idx(r)][idx(i)];
      return op.about.count() == schedule_.programs[idx(to.rank)][to.op].about.count() ||
             fail(r, i, "only one end knows what slots it is for");
    });
  }

  bool credits_come_back() {
    bool any = false;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      struct Marked {
        std::vector<BlockRange> takes;  // what each is for
        std::vector<BlockRange> gives;  // what each brings
      };
      std::map<Rank, Marked> with;  // by peer
      for (const Op& op : schedule_.programs[idx(r)].ops()) {
        if (op.credit == Credit::take) with[op.peer].takes.push_back(op.about);
        if (op.credit == Credit::give)
          with[op.peer].gives.push_back(shape_.names_what_it_grants ? op.blocks : BlockRange{});
      }
      any = any || !with.empty();
      for (const auto& [peer, marked] : with) {
        if (marked.takes == marked.gives) continue;
        return fail("rank " + std::to_string(r) + ": takes and gives differ with rank " +
                    std::to_string(peer));
      }
    }
    if (any && shape_.credits < 1) return fail("shape: no credits to take");
    if (!any && shape_.credits != 0 && shape_.ranks > 1) return fail("shape: credits that nobody takes");
    return true;
  }

  bool announcements_are_heard() {
    return for_each_op([&](Rank r, int i, const Op& op) {
      if (!op.announces) return true;
      if (op.kind != OpKind::send) return fail(r, i, "announces, but sends nothing");
      if (op.blocks.count() != 0) return fail(r, i, "announces with data, which would come too late");
      return take_waits_for(partners_[idx(r)][idx(i)], r) ||
             fail(r, i, "announces to a rank that does not ask");
    });
  }

  /// Whether an op that takes a credit for `peer` waits for this one, perhaps through others.
  [[nodiscard]] bool take_waits_for(OpRef receive, Rank peer) const {
    const Program& program = schedule_.programs[idx(receive.rank)];
    std::vector<bool> waits(idx(program.size()));
    waits[idx(receive.op)] = true;
    for (int i = receive.op + 1; i < program.size(); ++i) {
      for (const int before : program.after(i)) waits[idx(i)] = waits[idx(i)] || waits[idx(before)];
      if (waits[idx(i)] && program[i].credit == Credit::take && program[i].peer == peer) return true;
    }
    return false;
  }

  const Schedule& schedule_;
  const Shape& shape_;
  Partners& partners_;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> find_structural_violation(const Schedule& schedule, Partners& partners) {
  return StructureCheck(schedule, partners).run();
}

std::string at_op(const Schedule& schedule, OpRef where, std::string_view what) {
  const Op& op = schedule.programs[idx(where.rank)][where.op];
  return "rank " + std::to_string(where.rank) + " op " + std::to_string(where.op) + " (" + describe(op) +
         "): " + std::string(what);
}

}  // namespace papfft::comm
