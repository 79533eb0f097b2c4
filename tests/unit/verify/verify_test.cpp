// SPDX-License-Identifier: MIT
#include "comm/verify/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iostream>

#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"
#include "tests/support/sanitized.hpp"

namespace papfft::comm {
namespace {

using testing::HasSubstr;
using testing::Optional;

struct EditableOp {
  Op op;
  std::vector<int> after;
};
using EditableProgram = std::vector<EditableOp>;

EditableProgram edit(const Program& program) {
  EditableProgram result;
  for (int i = 0; i < program.size(); ++i) {
    const auto after = program.after(i);
    result.push_back({program[i], {after.begin(), after.end()}});
  }
  return result;
}

Program program_of(const EditableProgram& ops) {
  Program program;
  for (const EditableOp& e : ops) program.append(e.op, e.after);
  return program;
}

void erase_op(EditableProgram& ops, int index) {
  ops.erase(ops.begin() + index);
  for (EditableOp& e : ops) {
    std::erase(e.after, index);
    for (int& before : e.after) before -= before > index ? 1 : 0;
  }
}

/// Whether op i still waits, through others, for op `before` when the direct edge is gone.
bool implied(const EditableProgram& ops, int i, int before) {
  for (const int via : ops[static_cast<std::size_t>(i)].after) {
    if (via != before && (via > before) && [&] {
          std::vector<int> open{via};
          while (!open.empty()) {
            const int x = open.back();
            open.pop_back();
            if (x == before) return true;
            for (const int y : ops[static_cast<std::size_t>(x)].after) open.push_back(y);
          }
          return false;
        }()) {
      return true;
    }
  }
  return false;
}

/// Breaks a correct schedule in every way of a fixed list, one at a time, and counts what the verifier misses.
class Mutator {
 public:
  explicit Mutator(std::string name, Schedule schedule) : name_(std::move(name)), good_(std::move(schedule)) {
    EXPECT_EQ(find_violation(good_), std::nullopt) << name_;
  }

  void run() {
    for (std::size_t r = 0; r < good_.programs.size(); ++r) {
      for (int i = 0; i < good_.programs[r].size(); ++i) mutate_op(r, i);
    }
    mutate_shape();
  }

  int tried = 0;
  int survived = 0;

 private:
  void expect_killed(const Schedule& bad, const std::string& how) {
    ++tried;
    if (!find_violation(bad)) {
      ++survived;
      ADD_FAILURE() << name_ << ": survives " << how;
    }
  }

  void with(std::size_t r, const std::string& how, const std::function<void(EditableProgram&)>& change) {
    Schedule bad = good_;
    EditableProgram ops = edit(bad.programs[r]);
    change(ops);
    bad.programs[r] = program_of(ops);
    expect_killed(bad, how + " on rank " + std::to_string(r));
  }

  void mutate_op(std::size_t r, int i) {
    const Op op = good_.programs[r][i];
    const std::string at = " op " + std::to_string(i);
    const auto change = [&](const std::string& how, const std::function<void(Op&)>& f) {
      with(r, how + at, [&](EditableProgram& ops) { f(ops[static_cast<std::size_t>(i)].op); });
    };
    with(r, "dropping" + at, [&](EditableProgram& ops) { erase_op(ops, i); });
    with(r, "doubling" + at, [&](EditableProgram& ops) { ops.push_back(ops[static_cast<std::size_t>(i)]); });
    change("another peer in", [&](Op& o) { o.peer = (o.peer + 1) % good_.shape.ranks; });
    change("a peer outside in", [&](Op& o) { o.peer = good_.shape.ranks; });
    change("fewer blocks in", [](Op& o) { o.blocks.count() > 0 ? --o.blocks.last : ++o.blocks.last; });
    change("slots outside in", [&](Op& o) {
      const int count = std::max(1, o.blocks.count());
      o.blocks = {good_.shape.slots() + 1 - count, good_.shape.slots() + 1};
    });
    change("the other direction in",
           [](Op& o) { o.kind = o.kind == OpKind::send ? OpKind::recv : OpKind::send; });
    if (op.blocks.count() > 0) {
      if (is_receive(op.kind)) {
        change("combining flipped in",
               [](Op& o) { o.kind = o.kind == OpKind::recv ? OpKind::recv_combine : OpKind::recv; });
      }
      if (good_.shape.blocks() > op.blocks.count()) {
        const int by = op.blocks.last < good_.shape.blocks() ? 1 : -1;
        change("other blocks in", [&](Op& o) { o.blocks = {o.blocks.first + by, o.blocks.last + by}; });
      }
      if (op.kind == OpKind::send) drop_message(r, i);
      if (good_.shape.ordered && combines(op.kind)) {
        change("operands swapped in", [](Op& o) { o.incoming_first = !o.incoming_first; });
      }
    }
    for (const Credit credit : {Credit::none, Credit::take, Credit::give}) {
      if (credit != op.credit) change("another credit mark in", [&](Op& o) { o.credit = credit; });
    }
    change(op.announces ? "without the announcement in" : "announcing in",
           [](Op& o) { o.announces = !o.announces; });
    if (good_.shape.single_port && !op.inside && !is_local(op.kind)) {
      change("another round in", [](Op& o) { o.round += 100; });
    }
    if (!is_local(op.kind)) change("at one end only, a host's link for", [](Op& o) { o.inside = !o.inside; });
    for (const int before : good_.programs[r].after(i)) {
      const bool matters = orders_data(r, before, i) || op.credit == Credit::take;
      if (!matters || implied(edit(good_.programs[r]), i, before)) continue;
      with(r, "without waiting for op " + std::to_string(before) + at,
           [&](EditableProgram& ops) { std::erase(ops[static_cast<std::size_t>(i)].after, before); });
    }
    with(r, "waiting for itself in" + at,
         [&](EditableProgram& ops) { ops[static_cast<std::size_t>(i)].after.push_back(i); });
  }

  bool orders_data(std::size_t r, int earlier, int later) const {  // else the edge only paces the algorithm
    const Op& a = good_.programs[r][earlier];
    const Op& b = good_.programs[r][later];
    const bool overlap = a.blocks.first < b.blocks.last && b.blocks.first < a.blocks.last;
    return overlap && !(a.kind == OpKind::send && b.kind == OpKind::send);
  }

  void drop_message(std::size_t r, int i) {  // both of its ends
    const Op& send = good_.programs[r][i];
    int nth = 0;
    for (int k = 0; k < i; ++k) {
      nth += good_.programs[r][k].kind == OpKind::send && good_.programs[r][k].peer == send.peer ? 1 : 0;
    }
    Schedule bad = good_;
    EditableProgram sender = edit(bad.programs[r]);
    erase_op(sender, i);
    bad.programs[r] = program_of(sender);
    EditableProgram receiver = edit(bad.programs[static_cast<std::size_t>(send.peer)]);
    for (int k = 0; k < static_cast<int>(receiver.size()); ++k) {
      const Op& op = receiver[static_cast<std::size_t>(k)].op;
      if (is_receive(op.kind) && op.peer == static_cast<Rank>(r) && nth-- == 0) {
        erase_op(receiver, k);
        break;
      }
    }
    bad.programs[static_cast<std::size_t>(send.peer)] = program_of(receiver);
    expect_killed(bad, "losing the message of op " + std::to_string(i) + " of rank " + std::to_string(r));
  }

  void mutate_shape() {
    const auto change = [&](const std::string& how, const std::function<void(Shape&)>& f) {
      Schedule bad = good_;
      f(bad.shape);
      expect_killed(bad, how);
    };
    if (is_rooted(good_.shape.operation)) {
      change("another root", [](Shape& s) { s.root = (s.root + 1) % s.ranks; });
    }
    change("a root outside", [](Shape& s) { s.root = s.ranks; });
    change("more ranks", [](Shape& s) { ++s.ranks; });
    change("more blocks", [](Shape& s) { ++s.segments; });
    change("no blocks", [](Shape& s) { s.segments = 0; });
    change("credits where there are none, or none", [](Shape& s) { s.credits = s.credits > 0 ? 0 : 1; });
    if (!good_.shape.holder.empty()) {
      change("two holders swapped", [](Shape& s) { std::swap(s.holder[1], s.holder[2]); });
      change("a holder twice", [](Shape& s) { s.holder[1] = s.holder[2]; });
    }
  }

  std::string name_;
  Schedule good_;
};

/// All requests that an algorithm is mutated with: sizes, order, and arrivals for those that plan by them.
std::vector<Request> requests_for(const Algorithm& algorithm) {
  std::vector<Request> requests;
  for (const int p : {4, 7, 8}) {
    if (papfft::test::kSanitized && p > 4) continue;
    for (const int segments : {1, 3}) {
      for (const bool ordered : {false, true}) {
        for (const bool apart : {false, true}) {
          if ((ordered && !algorithm.can_be_ordered) || (apart && !algorithm.uses_arrival)) continue;
          requests.push_back({.operation = algorithm.operation,
                              .ranks = p,
                              .root = is_rooted(algorithm.operation) ? 2 : 0,
                              .segments = segments,
                              .ordered = ordered,
                              .round_ns = 100});
          for (int r = 0; r < p && apart; ++r) requests.back().arrival_ns.push_back(130 * (5 * r % p));
        }
      }
    }
  }
  return requests;
}

class EveryMutant : public testing::TestWithParam<OperationTraits> {};

/// An algorithm's schedules, and those of its compositions on hosts of several sizes.
TEST_P(EveryMutant, IsKilled) {
  struct {
    int tried = 0;
    int by_arrival = 0;
    int with_credits = 0;
  } counts;
  int survived = 0;
  const auto mutate = [&](const Algorithm& algorithm, const Request& request) {
    const Schedule schedule = make_schedule(algorithm, request);
    Mutator mutator(std::string(to_string(algorithm.operation)) + " " + std::string(algorithm.name),
                    schedule);
    mutator.run();
    counts.tried += mutator.tried;
    counts.by_arrival += request.arrival_ns.empty() ? 0 : mutator.tried;
    counts.with_credits += schedule.shape.credits == 0 ? 0 : mutator.tried;
    survived += mutator.survived;
  };
  const Operation operation = GetParam().operation;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation != operation) continue;
    for (const Request& request : requests_for(*algorithm)) mutate(*algorithm, request);
    for (const Composition* composition : compositions()) {
      if (papfft::test::kSanitized || !composition->serves(*algorithm)) continue;
      const Algorithm& composed =
          find_algorithm(operation, std::string(algorithm->name) + "@" + std::string(composition->name));
      for (const std::vector<int>& host : {std::vector{0, 1, 1, 0, 2, 1}, {0, 1, 1, 0, 1, 1}}) {
        mutate(composed, {.operation = operation, .ranks = 6, .segments = 2, .round_ns = 100, .host = host});
      }
    }
  }
  std::cout << "verifier mutations: " << counts.tried << " tried (" << counts.by_arrival
            << " of schedules planned by arrival, " << counts.with_credits << " of schedules with credits), "
            << counts.tried - survived << " killed\n";
  RecordProperty("mutants_killed", counts.tried - survived);
  const int fewest = papfft::test::kSanitized ? 100 : 1000;
  EXPECT_GT(counts.tried, fewest);
  EXPECT_GT(counts.by_arrival, operation == Operation::reduce ? fewest : -1);
  EXPECT_GT(counts.with_credits, operation == Operation::gather ? fewest : -1);
  EXPECT_EQ(survived, 0);
}

INSTANTIATE_TEST_SUITE_P(Verifier, EveryMutant, testing::ValuesIn(kOperations),
                         [](const auto& test) { return std::string(test.param.name); });

Schedule two_ranks(Operation operation, const std::function<void(ProgramBuilder&, ProgramBuilder&)>& write) {
  Schedule schedule{{.operation = operation, .ranks = 2}, {}};
  ProgramBuilder a(schedule.shape.slots());
  ProgramBuilder b(schedule.shape.slots());
  write(a, b);
  schedule.programs = {a.take(), b.take()};
  return schedule;
}

TEST(Verifier, FindsADeadlockAndSaysWhoWaits) {
  // Both receive before they send: nothing can start.
  const Schedule crossed = two_ranks(Operation::allgather, [](ProgramBuilder& a, ProgramBuilder& b) {
    const int first = a.recv(1, {1, 2});
    a.send(1, {0, 1}, 0, {first});
    const int second = b.recv(0, {0, 1});
    b.send(0, {1, 2}, 0, {second});
  });
  EXPECT_THAT(find_violation(crossed),
              Optional(HasSubstr("deadlock: rank 0 waits in op 0 (recv <-1 [1,2)); rank 1 waits in op 0")));
}

TEST(Verifier, CountsOnNoBuffering) {
  // Fine if sends are buffered; a rendezvous send never ends before its receive has started.
  const Schedule schedule = two_ranks(Operation::allgather, [](ProgramBuilder& a, ProgramBuilder& b) {
    const int first = a.send(1, {0, 1});
    a.recv(1, {1, 2}, 0, {first});
    const int second = b.send(0, {1, 2});
    b.recv(0, {0, 1}, 0, {second});
  });
  EXPECT_THAT(find_violation(schedule), Optional(HasSubstr("deadlock")));
}

TEST(Verifier, HoldsThePromisedWindow) {
  // Rank 0 sends to 1 then to 2, which wait for each other's word in the opposite order: needs two sends at once.
  Schedule schedule{{.operation = Operation::bcast, .ranks = 3}, {}};
  ProgramBuilder a(1);
  ProgramBuilder b(1);
  ProgramBuilder c(1);
  a.send(1, {0, 1});
  a.send(2, {0, 1});
  const int told = b.recv(2, {});
  b.recv(0, {0, 1}, 0, {told});
  const int got = c.recv(0, {0, 1});
  c.send(1, {}, 0, {got});
  schedule.programs = {a.take(), b.take(), c.take()};
  EXPECT_THAT(find_violation(schedule, {.rules = {.window = {1, 1}}}), Optional(HasSubstr("deadlock")));
  EXPECT_EQ(find_violation(schedule, {.rules = {.window = {2, 1}}}), std::nullopt);
}

TEST(Verifier, FindsARace) {
  Schedule schedule = two_ranks(Operation::bcast, [](ProgramBuilder& a, ProgramBuilder& b) {
    a.send(1, {0, 1});
    b.recv(0, {0, 1});
    b.send(0, {0, 1});
    a.recv(1, {0, 1});
  });
  schedule.programs[1] = [&] {  // the same without the dependency of the send on the receive
    Program program;
    program.append(schedule.programs[1][0], {});
    program.append(schedule.programs[1][1], {});
    return program;
  }();
  EXPECT_EQ(find_violation(schedule), "rank 1 op 1 (send ->0 [0,1)): races with op 0");
}

TEST(Verifier, RefusesAnEmptySchedule) {
  EXPECT_THAT(find_violation({}), Optional(HasSubstr("not one program per rank")));
  EXPECT_THAT(find_violation({{.ranks = 2}, std::vector<Program>(2)}), Optional(HasSubstr("missing")));
}

TEST(Verifier, FollowsLocalOps) {
  // allreduce of two ranks through a scratch slot: receive the other's vector aside, then combine.
  const auto make = [](int from) {
    Schedule schedule{{.operation = Operation::allreduce, .ranks = 2, .scratch = {0}}, {}};
    for (const Rank r : {0, 1}) {
      ProgramBuilder b(schedule.shape.slots());
      b.send(1 - r, {0, 1});
      b.recv(1 - r, {1, 2});
      b.combine(from, {0, 1});
      schedule.programs.push_back(b.take());
    }
    return schedule;
  };
  EXPECT_EQ(find_violation(make(1)), std::nullopt);
  EXPECT_THAT(find_violation(make(0)), Optional(HasSubstr("source and target overlap")));
  EXPECT_THROW((void)make(2), std::out_of_range) << "the builder refuses a slot that does not exist";
  Schedule outside = make(1);
  outside.programs[0].append({.kind = OpKind::copy, .blocks = {0, 1}, .from = 2}, {});
  EXPECT_THAT(find_violation(outside), Optional(HasSubstr("source slots out of range")));
}

}  // namespace
}  // namespace papfft::comm
