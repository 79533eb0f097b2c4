// SPDX-License-Identifier: MIT
// Several ranks per host: the simulator's ports by hand, and its times against the bound on hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "comm/bounds/host_bounds.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"
#include "tests/support/compositions.hpp"
#include "tests/support/sanitized.hpp"

namespace papfft::comm {
namespace {

using test::all_algorithms;
using testing::ElementsAre;
using Builders = std::vector<ProgramBuilder>;
using Layout = std::vector<int>;

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

Schedule schedule_of(Shape shape, const std::function<void(Builders&)>& write) {
  Schedule schedule{std::move(shape), {}};
  Builders builders(idx(schedule.shape.ranks), ProgramBuilder(schedule.shape.slots()));
  write(builders);
  for (ProgramBuilder& b : builders) schedule.programs.push_back(b.take());
  return schedule;
}

/// A slot has 100 bytes: 410 between hosts, 102 inside one; to combine it 200 and 300.
Machine two_levels(const Layout& layout) {
  return {.alpha = 10,
          .beta = 4,
          .gamma = 2,
          .host_of_rank = layout,
          .inside = {.alpha = 2, .beta = 1, .gamma = 3}};
}

Simulation simulate_on(const Schedule& schedule, const Machine& machine, const Conduct& conduct = {},
                       std::int64_t bytes = 100) {
  const std::vector<std::int64_t> sizes(idx(schedule.shape.slots()), bytes);
  return simulate(schedule, sizes, std::vector<Ticks>(schedule.programs.size()), machine, conduct);
}

/// Rank `from` sends its block to rank `to`.
void pass(Builders& b, Rank from, Rank to) {
  b[idx(from)].send(to, {from, from + 1});
  b[idx(to)].recv(from, {from, from + 1});
}

const Shape kFourBlocks{.operation = Operation::allgather, .ranks = 4};
const Layout kPairs = {0, 0, 1, 1};

/// A rank passes its block on to the next host's rank, which passes it on inside its host.
Schedule relay() {
  return schedule_of(kFourBlocks, [](Builders& b) {
    b[0].send(2, {0, 1});
    b[2].recv(0, {0, 1});
    b[2].send(3, {0, 1});
    b[3].recv(2, {0, 1});
    b[0].send(1, {0, 1});
    b[1].recv(0, {0, 1});
  });
}

TEST(Latency, PassesAfterTheMessageAndBesideOthers) {
  Machine machine = two_levels(kPairs);
  machine.latency = 1000;
  machine.inside.latency = 50;
  const Simulation run = simulate_on(relay(), machine);
  EXPECT_EQ(run.at(0, 0).end, 410) << "the sender does not wait for it";
  EXPECT_EQ(run.at(2, 0).end, 1410) << "the receiver does";
  EXPECT_EQ(run.at(2, 1).start, 1410);
  EXPECT_EQ(run.at(0, 1).start, 410) << "the sender's port is free meanwhile";
  EXPECT_THAT(run.exit, ElementsAre(512, 562, 1512, 1562));
}

TEST(EagerMessage, MovesBeforeItsReceiverPostsAndWaitsThere) {
  // Rank 2 takes rank 1's block when it has that of rank 0, whose message comes late.
  const Schedule schedule = schedule_of(kFourBlocks, [](Builders& b) {
    b[0].send(2, {0, 1});
    const int first = b[2].recv(0, {0, 1});
    b[1].send(2, {1, 2});
    b[2].recv(1, {1, 2}, 0, {first});
  });
  const Layout apart = {0, 1, 2, 3};
  Machine machine = two_levels(apart);
  const std::vector<std::int64_t> sizes(4, 100);
  const std::vector<Ticks> arrivals = {1000, 0, 0, 0};
  const auto run = [&](std::int64_t eager_bytes) {
    machine.eager_bytes = eager_bytes;
    return simulate(schedule, sizes, arrivals, machine, {.window = {.receives = 2}});
  };
  EXPECT_EQ(run(99).at(2, 1).end, 1000 + 410 + 410) << "a rendezvous waits";
  const Simulation eager = run(100);
  EXPECT_EQ(eager.at(1, 0).end, 410) << "the sender is done";
  EXPECT_EQ(eager.at(2, 1).end, 1000 + 410) << "the message is there already";
  machine.latency = 600;
  EXPECT_EQ(run(100).at(2, 1).end, 1000 + 410 + 600);
  EXPECT_EQ(run(100).exit[1], 410);
}

TEST(LongRun, IsGivenUpWhenItHasTakenTooLong) {
  const Machine machine = two_levels(kPairs);
  const Schedule schedule = relay();
  const Ticks run_time = simulate_on(schedule, machine).run_time;
  const Simulation just_in_time = simulate_on(schedule, machine, {.most_run_time = run_time});
  EXPECT_FALSE(just_in_time.is_given_up);
  EXPECT_EQ(just_in_time.run_time, run_time);
  for (Ticks most = 0; most < run_time; ++most) {
    const Simulation given_up = simulate_on(schedule, machine, {.most_run_time = most});
    EXPECT_TRUE(given_up.is_given_up) << most;
    EXPECT_GT(given_up.run_time, most);
    EXPECT_LE(given_up.run_time, run_time) << "it takes this or more";
  }
}

TEST(Latency, MustNotBeNegativeAndNeedsCombiningBesideMessages) {
  Machine machine = two_levels(kPairs);
  machine.inside.latency = -1;
  EXPECT_THROW((void)simulate_on(relay(), machine), std::invalid_argument);
  machine.inside.latency = 1;
  machine.combining = Combining::exclusive;
  EXPECT_THROW((void)simulate_on(relay(), machine), std::invalid_argument);
  machine.inside = {.eager_bytes = 0};
  EXPECT_THROW((void)simulate_on(relay(), machine), std::invalid_argument);
}

TEST(TwoLevels, RanksOfAHostShareItsCardOutAndIn) {
  const Schedule s = schedule_of(kFourBlocks, [](Builders& b) {
    pass(b, 0, 2);
    pass(b, 1, 3);
  });
  EXPECT_THAT(simulate_on(s, two_levels(kPairs)).exit, ElementsAre(410, 820, 410, 820));
  EXPECT_THAT(simulate_on(s, two_levels({5, 5, 6, 7})).exit, ElementsAre(410, 820, 410, 820)) << "out of one";
  EXPECT_THAT(simulate_on(s, two_levels({5, 6, 7, 7})).exit, ElementsAre(410, 820, 410, 820)) << "into one";
  EXPECT_THAT(simulate_on(s, two_levels({5, 6, 7, 8})).exit, ElementsAre(410, 410, 410, 410)) << "all apart";
  EXPECT_THAT(simulate_on(s, two_levels({5, 6, 7, 6})).exit, ElementsAre(410, 102, 410, 102));
}

TEST(TwoLevels, MessagesInsideAHostLeaveItsCardAlone) {
  // 1 -> 0 beside 0 -> 2, which 1 -> 0 does not delay: each port of a rank has one message at most.
  const Schedule beside = schedule_of(kFourBlocks, [](Builders& b) {
    pass(b, 0, 2);
    pass(b, 1, 0);
    pass(b, 2, 3);
  });
  EXPECT_THAT(simulate_on(beside, two_levels(kPairs)).exit, ElementsAre(410, 102, 410, 102));
  // Rank 0's own port sends one message after the other.
  const Schedule after = schedule_of(kFourBlocks, [](Builders& b) {
    pass(b, 0, 2);
    pass(b, 0, 1);
  });
  EXPECT_THAT(simulate_on(after, two_levels(kPairs)).exit, ElementsAre(512, 512, 410, 0));
}

TEST(TwoLevels, ACardHasAPortEachWayIfDuplex) {
  const Schedule s = schedule_of(kFourBlocks, [](Builders& b) {
    pass(b, 0, 2);
    pass(b, 3, 1);
  });
  Machine machine = two_levels(kPairs);
  EXPECT_EQ(simulate_on(s, machine).run_time, 410);
  machine.duplex = false;
  EXPECT_EQ(simulate_on(s, machine).run_time, 820);
}

TEST(TwoLevels, ACardMayMoveSeveralMessagesAtATime) {
  const Schedule s = schedule_of({.operation = Operation::allgather, .ranks = 6}, [](Builders& b) {
    for (Rank r = 0; r < 3; ++r) pass(b, r, r + 3);
  });
  const Layout layout = {0, 0, 0, 1, 1, 1};
  Machine machine = two_levels(layout);
  EXPECT_THAT(simulate_on(s, machine).exit, ElementsAre(410, 820, 1230, 410, 820, 1230));
  machine.card_ports = 2;
  EXPECT_THAT(simulate_on(s, machine).exit, ElementsAre(410, 410, 820, 410, 410, 820));
  machine.card_ports = 3;
  EXPECT_EQ(simulate_on(s, machine).run_time, 410);
  machine.duplex = false;  // out of one host and into it
  machine.card_ports = 2;
  const Schedule both_ways = schedule_of({.operation = Operation::allgather, .ranks = 6}, [](Builders& b) {
    pass(b, 0, 3);
    pass(b, 4, 1);
    pass(b, 2, 5);
  });
  EXPECT_EQ(simulate_on(both_ways, machine).run_time, 820);
}

// 200 bytes for three other ranks. One leader: 10 + 4 x 200 by the link, 2 + 200 inside. Two lanes: the root hands rank 1 its half in
// 102. If the card moves two messages at a time, both halves cross it until 512, and both hosts exchange them until 614. If it moves
// one, the second half is there at 922, and its host has exchanged the halves at 1024.
TEST(TwoLevels, LanesGainIfOneRankCannotFillTheLink) {
  Machine machine = two_levels(kPairs);
  const auto run = [&](const char* name, std::int64_t slot_bytes) {
    const Schedule s = make_schedule(find_algorithm(Operation::bcast, name),
                                     {.operation = Operation::bcast, .ranks = 4, .host = kPairs});
    return simulate_on(s, machine, {}, slot_bytes).run_time;
  };
  EXPECT_EQ(run("bnom@hosts", 200), 1012);
  EXPECT_EQ(run("bnom@lanes", 100), 1024);
  machine.card_ports = 2;
  EXPECT_EQ(run("bnom@hosts", 200), 1012);
  EXPECT_EQ(run("bnom@lanes", 100), 614);
}

// Hosts of 2 and 16 ranks: two lanes of 32 segments, or one of 64. The card carries a segment in 410; the 16 ranks hand on two in 204
// along two trees side by side. If a rank took the same segment of both lanes one after the other, the card would wait for the trees.
TEST(TwoLevels, LanesWithTreesSideBySideKeepTheLinkBusy) {
  Layout layout(18, 1);
  layout[0] = layout[1] = 0;
  Machine machine = two_levels(layout);
  machine.gamma = machine.inside.gamma = 0;
  for (const Operation operation : {Operation::bcast, Operation::reduce}) {
    const Schedule lanes =
        make_schedule(find_algorithm(operation, "chain@lanes"),
                      {.operation = operation, .ranks = 18, .segments = 32, .host = layout});
    EXPECT_EQ(lanes.shape.segments, 64);
    EXPECT_LT(simulate_on(lanes, machine).run_time, 64 * 410 * 12 / 10) << to_string(operation);
  }
}

TEST(TwoLevels, CombiningCostsByWhereTheMessageCameFrom) {
  const Schedule s = schedule_of({.operation = Operation::reduce, .ranks = 3}, [](Builders& b) {
    b[0].recv_combine(1, {0, 1});
    b[0].recv_combine(2, {0, 1});
    b[1].send(0, {0, 1});
    b[2].send(0, {0, 1});
  });
  const Layout layout = {0, 0, 1};
  Machine machine = two_levels(layout);
  // 102, combined at 402; meanwhile the other one until 512, combined at 712.
  EXPECT_EQ(simulate_on(s, machine, {.window = {1, 2}}).run_time, 712);
  machine.combining = Combining::in_message;
  EXPECT_EQ(simulate_on(s, machine).run_time, (102 + 300) + (410 + 200));
  // The receiver's port waits for the combining, the cards do not: the sum is the same here.
  machine.combining = Combining::exclusive;
  EXPECT_EQ(simulate_on(s, machine).run_time, (102 + 300) + (410 + 200));
}

// While rank 0 combines what came by the card, its neighbour takes the next message: 410, then 820 and not 1020.
TEST(TwoLevels, CombiningFreesTheCard) {
  const Schedule s =
      schedule_of({.operation = Operation::reduce, .ranks = 4, .segments = 2}, [](Builders& b) {
        b[0].recv_combine(2, {0, 1});
        b[2].send(0, {0, 1});
        b[1].recv_combine(3, {1, 2});
        b[3].send(1, {1, 2});
      });
  const Layout layout = {0, 0, 1, 2};
  Machine machine = two_levels(layout);
  machine.combining = Combining::exclusive;
  EXPECT_THAT(simulate_on(s, machine).exit, ElementsAre(610, 1020, 410, 820));
}

// The leader of a host has one port for what leaves the host and for what stays there: S segments take S (out + in) on two hosts
// of two ranks. One segment takes H - 2 such steps more to the end of a chain of H hosts.
TEST(TwoLevels, APipelineAmongLeaders) {
  const Algorithm& chain = find_algorithm(Operation::bcast, "chain@hosts");
  const Ticks step = 410 + 102;
  for (const auto& [hosts, segments] : {std::pair{2, 1}, {2, 2}, {2, 7}, {3, 1}, {6, 1}}) {
    Layout layout;
    for (int r = 0; r < 2 * hosts; ++r) layout.push_back(r / 2);
    const Schedule s = make_schedule(
        chain, {.operation = Operation::bcast, .ranks = 2 * hosts, .segments = segments, .host = layout});
    EXPECT_EQ(simulate_on(s, two_levels(layout)).run_time, (segments + hosts - 2) * step)
        << hosts << " hosts, " << segments << " segments";
  }
}

bool same(const Simulation& a, const Simulation& b) {
  return std::ranges::equal(a.ops, b.ops,
                            [](const OpTimes& x, const OpTimes& y) {
                              return x.posted == y.posted && x.start == y.start && x.end == y.end;
                            }) &&
         a.exit == b.exit && a.run_time == b.run_time && a.elapsed_sum == b.elapsed_sum &&
         a.critical_path == b.critical_path && a.critical_arrival == b.critical_arrival;
}

TEST(TwoLevels, HostsOfOneRankChangeNothing) {
  std::mt19937 rng(21);
  for (const Algorithm* algorithm : all_algorithms()) {
    for (int trial = 0; trial < (papfft::test::kSanitized ? 4 : 12); ++trial) {
      const int p = 1 + static_cast<int>(rng() % 20);
      Request request{.operation = algorithm->operation, .ranks = p, .segments = 3, .round_ns = 100};
      for (int r = 0; r < p; ++r) request.arrival_ns.push_back(static_cast<std::int64_t>(rng() % 3000));
      const Schedule s = make_schedule(*algorithm, request);
      const std::vector<std::int64_t> sizes(idx(s.shape.slots()), 100);
      const Conduct conduct{.window = {1 + trial % 3, 1 + trial % 4},
                            .early = trial % 3 == 0 ? Early::background : Early::nothing};
      for (const Combining combining : {Combining::overlapped, Combining::exclusive, Combining::in_message}) {
        Machine machine{.alpha = 10, .beta = 1, .gamma = 2, .duplex = trial % 2 == 0, .combining = combining};
        const Simulation expected = simulate(s, sizes, request.arrival_ns, machine, conduct);
        Layout alone(idx(p));
        std::iota(alone.rbegin(), alone.rend(), 100);
        machine.host_of_rank = alone;
        machine.inside = {.alpha = 1'000'000, .beta = 1'000, .gamma = 1'000};
        const Simulation x = simulate(s, sizes, request.arrival_ns, machine, conduct);
        ASSERT_TRUE(same(x, expected)) << to_string(algorithm->operation) << " " << algorithm->name;
      }
    }
  }
}

// One host, whose inside costs what the links did, is as many hosts as ranks: no message crosses a card.
TEST(TwoLevels, OneHostIsAGroupWithTheCostsInside) {
  for (const Algorithm* algorithm : all_algorithms()) {
    const Schedule s =
        make_schedule(*algorithm, {.operation = algorithm->operation, .ranks = 9, .segments = 2});
    const Layout one(9);
    const Simulation expected = simulate_on(s, {.alpha = 7, .beta = 3, .gamma = 2});
    const Simulation x =
        simulate_on(s, {.gamma = 2, .host_of_rank = one, .inside = {.alpha = 7, .beta = 3, .gamma = 2}});
    ASSERT_EQ(x.exit, expected.exit) << to_string(algorithm->operation) << " " << algorithm->name;
  }
}

TEST(TwoLevels, RefusesWhatMakesNoSense) {
  const Schedule s = schedule_of(kFourBlocks, [](Builders& b) { pass(b, 0, 1); });
  EXPECT_THROW((void)simulate_on(s, two_levels({0, 0, 1})), std::invalid_argument) << "three hosts for four";
  Machine machine = two_levels(kPairs);
  machine.inside.beta = -1;
  EXPECT_THROW((void)simulate_on(s, machine), std::invalid_argument);
  machine = two_levels(kPairs);
  machine.card_ports = 0;
  EXPECT_THROW((void)simulate_on(s, machine), std::invalid_argument);
}

// ---- the bound -------------------------------------------------------------------------------------------------

TEST(HostBound, IsWhatMustCrossALinkOrBeCopied) {
  const Hosts hosts(6, Layout{0, 0, 0, 1, 1, 2});  // three hosts of 3, 2, 1 ranks
  const auto bound = [&](Operation operation, Rank root, std::int64_t inside_beta) {
    return bound_on_hosts(operation, hosts, root, 30, {.beta = 10, .inside_beta = inside_beta});
  };
  for (const Operation operation : {Operation::bcast, Operation::reduce}) {
    EXPECT_EQ(bound(operation, 0, 0), 300);
    EXPECT_EQ(bound(operation, 0, 4), 300) << "30 bytes at 4 are less";
    EXPECT_EQ(bound(operation, 0, 99), 300) << "everything could come by the link";
  }
  for (const Operation operation : {Operation::scatter, Operation::gather}) {
    EXPECT_EQ(bound(operation, 0, 0), 3 * 300) << "three of six blocks cross the root's link";
    EXPECT_EQ(bound(operation, 4, 0), 4 * 300);
    EXPECT_EQ(bound(operation, 0, 9), 5 * 30 * 9) << "all but its own pass the root's port";
  }
  for (const Operation operation : {Operation::allgather, Operation::allgatherv, Operation::reduce_scatter}) {
    EXPECT_EQ(bound(operation, 0, 0), 5 * 300) << "into the host of one rank";
  }
  EXPECT_EQ(bound(Operation::allreduce, 0, 0), 2 * 2 * 30 / 3 * 10);
  EXPECT_EQ(bound(Operation::allreduce, 0, 9), 2 * 5 * 30 / 6 * 9);
  EXPECT_EQ(bound_on_hosts(Operation::bcast, hosts, 0, 30, {.beta = 10, .inside_beta = 4, .card_ports = 2}),
            150)
      << "two messages at a time";
  EXPECT_EQ(bound_on_hosts(Operation::bcast, hosts, 0, 30, {.beta = 10, .inside_beta = 4, .card_ports = 3}),
            120)
      << "30 bytes at 4";
}

TEST(HostBound, OnOneHostCountsCopiesAlone) {
  const Hosts one(4, Layout{3, 3, 3, 3});
  EXPECT_EQ(bound_on_hosts(Operation::bcast, one, 0, 30, {.beta = 10, .inside_beta = 2}), 60);
  EXPECT_EQ(bound_on_hosts(Operation::gather, one, 0, 30, {.beta = 10, .inside_beta = 2}), 180);
  EXPECT_EQ(bound_on_hosts(Operation::bcast, Hosts(1, {}), 0, 30, {.beta = 10, .inside_beta = 2}), 0)
      << "nobody else";
  EXPECT_EQ(bound_on_hosts(Operation::allreduce, Hosts(4, {}), 0, 30, {.beta = 10}), 450)
      << "2 x 3/4 x 30 x 10";
}

TEST(HostBound, RefusesWhatMakesNoSense) {
  const Hosts hosts(4, kPairs);
  EXPECT_THROW((void)least_traffic(Operation::bcast, hosts, 4, 1), std::invalid_argument);
  EXPECT_THROW((void)least_traffic(Operation::allreduce, hosts, 0, -1), std::invalid_argument);
  EXPECT_THROW((void)bound_on_hosts(Operation::bcast, hosts, 0, 1, {.beta = -1}), std::invalid_argument);
  EXPECT_THROW((void)bound_on_hosts(Operation::bcast, hosts, 0, 1, {.beta = 1, .card_ports = 0}),
               std::invalid_argument);
  EXPECT_THROW((void)bound_on_hosts(Operation::gather, hosts, 0, std::int64_t{1} << 61, {.beta = 9}),
               std::overflow_error);
}

/// Sizes of slots so that each block, or the vector, has `bytes` bytes in all.
std::vector<std::int64_t> sizes_of(const Shape& shape, std::int64_t bytes) {
  std::vector<std::int64_t> sizes(idx(shape.slots()));
  for (int slot = 0; slot < shape.slots(); ++slot) {
    const int s = shape.segment_of(slot);
    sizes[idx(slot)] = bytes * (s + 1) / shape.segments - bytes * s / shape.segments;
  }
  return sizes;
}

Layout random_layout(std::mt19937& rng) {
  Layout layout(1 + rng() % 18);
  const int hosts = 1 + static_cast<int>(rng() % 6);
  for (int& host : layout) host = static_cast<int>(rng()) % hosts;
  return layout;
}

TEST(HostBound, NoScheduleIsFaster) {
  std::mt19937 rng(31);
  int close = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (int trial = 0; trial < (papfft::test::kSanitized ? 20 : 40); ++trial) {
      const Layout layout = random_layout(rng);
      const int p = static_cast<int>(layout.size());
      const Rank root = is_rooted(algorithm->operation) ? static_cast<Rank>(rng() % layout.size()) : 0;
      Request request{.operation = algorithm->operation,
                      .ranks = p,
                      .root = root,
                      .segments = 1 + trial % 9,
                      .round_ns = 100,
                      .host = layout};
      const Schedule s = make_schedule(*algorithm, request);
      const auto bytes = static_cast<std::int64_t>(rng() % 5000);
      const Ticks inside_beta = trial % 2 == 0 ? 0 : static_cast<Ticks>(rng() % 12);
      const auto inside_alpha = static_cast<Ticks>(rng() % 60);
      const Machine machine{.alpha = trial % 3 == 0 ? 0 : static_cast<Ticks>(rng() % 3000),
                            .beta = 4,
                            .host_of_rank = layout,
                            .inside = {.alpha = inside_alpha, .beta = inside_beta},
                            .card_ports = 1 + trial / 2 % 3};
      const Conduct conduct{.window = {1 + trial % 8, 1 + trial % 8, 4, 4}};
      const Simulation x =
          simulate(s, sizes_of(s.shape, bytes), std::vector<Ticks>(idx(p)), machine, conduct);
      const Ticks bound = bound_on_hosts(algorithm->operation, Hosts(p, layout), root, bytes,
                                         {.alpha = machine.alpha,
                                          .beta = machine.beta,
                                          .inside_alpha = inside_alpha,
                                          .inside_beta = inside_beta,
                                          .card_ports = machine.card_ports});
      ASSERT_GE(x.run_time, bound) << to_string(algorithm->operation) << " " << algorithm->name << " trial "
                                   << trial;
      close += bound > 0 && x.run_time <= bound * 11 / 10 ? 1 : 0;
    }
  }
  EXPECT_GT(close, 50) << "the bound is not empty words";
}

}  // namespace
}  // namespace papfft::comm
