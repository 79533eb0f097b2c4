// SPDX-License-Identifier: MIT
// The simulator's rules, each on a schedule small enough to follow by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "comm/model/simulator.hpp"
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Builders = std::vector<ProgramBuilder>;

Schedule schedule_of(Shape shape, const std::function<void(Builders&)>& write) {
  Schedule schedule{std::move(shape), {}};
  Builders builders(static_cast<std::size_t>(schedule.shape.ranks), ProgramBuilder(schedule.shape.slots()));
  write(builders);
  for (ProgramBuilder& b : builders) schedule.programs.push_back(b.take());
  return schedule;
}

Simulation simulate_all(const Schedule& schedule, std::vector<Ticks> arrivals, const Machine& machine,
                        const Conduct& conduct = {}, std::int64_t bytes = 100) {
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(schedule.shape.slots()), bytes);
  return simulate(schedule, sizes, arrivals, machine, conduct);
}

std::vector<Ticks> flat(const Schedule& s) { return std::vector<Ticks>(s.programs.size()); }

constexpr BlockRange kBlock0{0, 1};
constexpr Machine kPlain{.alpha = 10, .beta = 1};  // a message of one slot: 110

TEST(Simulator, AMessageStartsWhenBothEndsAreReady) {
  const Schedule s = schedule_of({.operation = Operation::bcast, .ranks = 2}, [](Builders& b) {
    b[0].send(1, kBlock0);
    b[1].recv(0, kBlock0);
  });
  const Simulation x = simulate_all(s, {5, 30}, kPlain);
  EXPECT_EQ(x.at(0, 0).posted, 5);
  EXPECT_EQ(x.at(0, 0).start, 30);
  EXPECT_EQ(x.at(0, 0).end, 140);
  EXPECT_EQ(x.at(1, 0).posted, 30);
  EXPECT_EQ(x.run_time, 135) << "from the first arrival";
  EXPECT_EQ(x.elapsed_sum, 135 + 110);
  EXPECT_DOUBLE_EQ(x.elapsed_mean(), 122.5);
  EXPECT_THAT(x.exit, ElementsAre(140, 140));
}

TEST(Simulator, NeedsOneProgramAtATimeOnly) {
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->local == nullptr) continue;
    const Request request{.operation = algorithm->operation, .ranks = 13, .segments = 3};
    const Schedule all = make_schedule(*algorithm, request);
    std::vector<Ticks> arrivals(13);
    arrivals[2] = 300;
    const Conduct conduct{.window = {2, 3}, .early = Early::background};
    const Simulation expected = simulate_all(all, arrivals, kPlain, conduct);
    Program one;
    Rank next = 0;
    const Simulation x = simulate(
        all.shape,
        [&](Rank r) -> const Program& {
          EXPECT_EQ(r, next++) << "one after another";
          return one = make_rank_schedule(*algorithm, request, r).program;
        },
        std::vector<std::int64_t>(static_cast<std::size_t>(all.shape.slots()), 100), arrivals, kPlain,
        conduct);
    EXPECT_EQ(x.exit, expected.exit) << algorithm->name;
    EXPECT_EQ(x.elapsed_sum, expected.elapsed_sum) << algorithm->name;
    EXPECT_EQ(x.critical_path, expected.critical_path) << algorithm->name;
  }
}

TEST(Simulator, EmptyMessagesTakeTheLatencyOrNothing) {
  const Schedule s = schedule_of({.ranks = 2}, [](Builders& b) {
    b[0].send(1, {});
    b[1].recv(0, {});
  });
  EXPECT_EQ(simulate_all(s, {0, 0}, kPlain).run_time, 10);
  EXPECT_EQ(simulate_all(s, {0, 0}, {.alpha = 10, .beta = 1, .empty_is_free = true}).run_time, 0);
}

TEST(Simulator, PortsSendAndReceiveAtOnceOnlyIfDuplex) {
  const Schedule s = schedule_of({.operation = Operation::allgather, .ranks = 2}, [](Builders& b) {
    for (const Rank r : {0, 1}) {
      b[static_cast<std::size_t>(r)].send(1 - r, {r, r + 1});
      b[static_cast<std::size_t>(r)].recv(1 - r, {1 - r, 2 - r});
    }
  });
  EXPECT_EQ(simulate_all(s, {0, 0}, kPlain).run_time, 110);
  EXPECT_EQ(simulate_all(s, {0, 0}, {.alpha = 10, .beta = 1, .duplex = false}).run_time, 220);
}

// The root posts both receives, which share its port; rank 2 is there first. Window 1 waits for rank 1 instead.
TEST(Simulator, TheWindowBoundsWhatIsPosted) {
  const Schedule s = schedule_of({.operation = Operation::gather, .ranks = 3}, [](Builders& b) {
    b[0].recv(1, {1, 2});
    b[0].recv(2, {2, 3});
    b[1].send(0, {1, 2});
    b[2].send(0, {2, 3});
  });
  EXPECT_EQ(simulate_all(s, {0, 1000, 0}, kPlain).run_time, 1220);
  const Simulation wide = simulate_all(s, {0, 1000, 0}, kPlain, {.window = {1, 2}});
  EXPECT_EQ(wide.run_time, 1110);
  EXPECT_EQ(wide.at(0, 1).end, 110);
}

// Four ranks ready at once, all receives posted: one port serves them in the order of its program, 3 first.
TEST(Simulator, APortServesInProgramOrder) {
  const Schedule s = schedule_of({.operation = Operation::gather, .ranks = 4}, [](Builders& b) {
    for (const Rank r : {3, 1, 2}) {
      b[0].recv(r, {r, r + 1});
      b[static_cast<std::size_t>(r)].send(0, {r, r + 1});
    }
  });
  const Simulation x = simulate_all(s, flat(s), kPlain, {.window = {1, 8}});
  EXPECT_EQ(x.at(3, 0).end, 110);
  EXPECT_EQ(x.at(1, 0).end, 220);
  EXPECT_EQ(x.at(2, 0).end, 330);
  EXPECT_EQ(x.at(2, 0).posted, 0);
  EXPECT_EQ(x.at(2, 0).start, 220) << "waited for the port";
}

// 0 and 3 both talk to 1 and 2. 3->2 occupies 2 until 110, so 0 serves 1 first although 2 is first in its program.
TEST(Simulator, ABusyPeerHoldsUpNobodyElse) {
  const Schedule s = schedule_of({.operation = Operation::allgather, .ranks = 4}, [](Builders& b) {
    b[3].send(2, {3, 4});
    b[2].recv(3, {3, 4});
    const int later = b[2].recv(0, {0, 1});
    EXPECT_EQ(later, 1);
    b[0].send(2, {0, 1});
    b[0].send(1, {0, 1});
    b[1].recv(0, {0, 1});
  });
  const Simulation x = simulate_all(s, flat(s), kPlain, {.window = {2, 2}});
  EXPECT_EQ(x.at(0, 1).start, 0);
  EXPECT_EQ(x.at(0, 0).start, 110);
  EXPECT_EQ(x.run_time, 220);
}

Schedule combining_star() {
  // Ranks 1 and 2 send their vector to 0, which sends the sum on to 3.
  return schedule_of({.operation = Operation::reduce, .ranks = 4, .root = 3}, [](Builders& b) {
    b[0].recv_combine(1, kBlock0);
    b[0].recv_combine(2, kBlock0);
    b[0].send(3, kBlock0);
    b[1].send(0, kBlock0);
    b[2].send(0, kBlock0);
    b[3].recv_combine(0, kBlock0);
  });
}

// One message 110, combining 300. Overlapped: messages at [0,110] and [110,220], combined [110,410] and [410,710],
// sent [710,820], combined 1120. Exclusive: [0,110], combined 410, [410,520], 820, sent 930, combined 1230.
// In the message: three rounds of 410.
TEST(Simulator, CombinesInThreeWays) {
  const Schedule s = combining_star();
  const auto run = [&](Combining combining, bool duplex) {
    const Conduct conduct{.window = {1, 2}};
    return simulate_all(
        s, flat(s), {.alpha = 10, .beta = 1, .gamma = 3, .duplex = duplex, .combining = combining}, conduct);
  };
  for (const bool duplex : {true, false}) {
    const Simulation overlapped = run(Combining::overlapped, duplex);
    EXPECT_EQ(overlapped.at(2, 0).end, 220);
    EXPECT_EQ(overlapped.at(0, 1).end, 710);
    EXPECT_EQ(overlapped.run_time, 1120);
    const Simulation exclusive = run(Combining::exclusive, duplex);
    EXPECT_EQ(exclusive.at(1, 0).end, 110) << "the sender is free";
    EXPECT_EQ(exclusive.at(2, 0).start, 410);
    EXPECT_EQ(exclusive.run_time, 1230);
    const Simulation rounds = run(Combining::in_message, duplex);
    EXPECT_EQ(rounds.at(1, 0).end, 410);
    EXPECT_EQ(rounds.run_time, 1230);
  }
}

// Rank 1 sends 0 a vector while 0 still sends (10 slots, until 1010); 0 may combine only after that.
TEST(Simulator, ExclusiveCombiningWaitsForARunningSend) {
  const Shape shape{.operation = Operation::allreduce, .ranks = 3, .segments = 11};
  const Schedule s = schedule_of(shape, [](Builders& b) {
    b[0].send(2, {0, 10});
    b[0].recv_combine(1, {10, 11});
    b[0].send(1, {10, 11});
    b[1].send(0, {10, 11});
    b[1].recv(0, {10, 11});
    b[2].recv(0, {0, 10});
  });
  const Simulation x =
      simulate_all(s, flat(s), {.alpha = 10, .beta = 1, .gamma = 3, .combining = Combining::exclusive});
  EXPECT_EQ(x.at(1, 0).end, 110);
  EXPECT_EQ(x.at(0, 1).end, 1310);
  EXPECT_EQ(x.at(0, 2).start, 1310);
  const Simulation overlapped = simulate_all(s, flat(s), {.alpha = 10, .beta = 1, .gamma = 3});
  EXPECT_EQ(overlapped.at(0, 1).end, 410);
  EXPECT_EQ(overlapped.at(0, 2).start, 1010) << "the port, not the combining";
}

TEST(Simulator, LocalOpsCombineAtTheirPriceAndCopyForNothing) {
  const Shape shape{.operation = Operation::allreduce, .ranks = 2, .scratch = {0, 0}};
  const Schedule s = schedule_of(shape, [](Builders& b) {
    for (const Rank r : {0, 1}) {
      ProgramBuilder& x = b[static_cast<std::size_t>(r)];
      x.send(1 - r, kBlock0);
      x.recv(1 - r, {1, 2});
      x.copy(1, {2, 3});
      x.combine(2, kBlock0);
    }
  });
  for (const Combining combining : {Combining::overlapped, Combining::exclusive, Combining::in_message}) {
    const Simulation x =
        simulate_all(s, flat(s), {.alpha = 10, .beta = 1, .gamma = 3, .combining = combining});
    EXPECT_EQ(x.at(0, 2).end, 110);
    EXPECT_EQ(x.run_time, 410);
  }
}

TEST(Simulator, NothingRunsBeforeArrivalWithoutBackground) {
  const Schedule s = schedule_of({.operation = Operation::bcast, .ranks = 3}, [](Builders& b) {
    b[0].send(1, kBlock0);
    b[1].recv(0, kBlock0);
    b[1].send(2, kBlock0);
    b[2].recv(1, kBlock0);
  });
  const std::vector<Ticks> arrivals{0, 500, 0};
  EXPECT_EQ(simulate_all(s, arrivals, kPlain).run_time, 720);
  const Simulation background = simulate_all(s, arrivals, kPlain, {.early = Early::background});
  EXPECT_EQ(background.run_time, 500) << "rank 1 hands on before it arrives";
  EXPECT_EQ(background.at(2, 0).end, 220);
  EXPECT_THAT(background.exit, ElementsAre(110, 500, 220)) << "it cannot leave before it comes";
  const Conduct from_300{.early = Early::background, .early_from = 300};
  EXPECT_EQ(simulate_all(s, arrivals, kPlain, from_300).at(2, 0).end, 520);
}

// In the background a message to be combined lands before the rank's own data is there; only combining waits.
TEST(Simulator, BackgroundMessagesLandAside) {
  const Schedule s = schedule_of({.operation = Operation::reduce, .ranks = 2}, [](Builders& b) {
    b[0].recv_combine(1, kBlock0);
    b[1].send(0, kBlock0);
  });
  const Machine machine{.alpha = 10, .beta = 1, .gamma = 3};
  EXPECT_EQ(simulate_all(s, {500, 0}, machine).run_time, 910);
  const Simulation x = simulate_all(s, {500, 0}, machine, {.early = Early::background});
  EXPECT_EQ(x.at(1, 0).end, 110);
  EXPECT_EQ(x.run_time, 800);
}

TEST(Simulator, ExplainsTheRunTimeByItsCriticalPath) {
  const Schedule s = make_schedule(find_algorithm(Operation::scatter, "lin"), {.ranks = 4});
  const Simulation x = simulate_all(s, {0, 0, 600, 0}, kPlain);
  EXPECT_EQ(x.run_time, 820);
  EXPECT_THAT(x.critical_path, ElementsAre(OpRef{0, 2}, OpRef{0, 1}))
      << "back to the message that rank 2 delayed";
  EXPECT_EQ(x.critical_arrival, 2);
  const Simulation late = simulate_all(s, {0, 0, 0, 999}, kPlain, {.early = Early::background});
  EXPECT_TRUE(late.critical_path.empty());
  EXPECT_EQ(late.critical_arrival, 3) << "an arrival alone";
}

/// Each op of the path begins when the next one in the list ends, and the last one when somebody arrives.
TEST(Simulator, CriticalPathsHaveNoGaps) {
  std::mt19937 rng(5);
  int ops = 0;
  for (const Algorithm* algorithm : algorithms()) {
    for (int trial = 0; trial < 20; ++trial) {
      const int p = 2 + static_cast<int>(rng() % 20);
      Request request{.operation = algorithm->operation, .ranks = p, .segments = 2, .round_ns = 100};
      for (int r = 0; r < p; ++r) request.arrival_ns.push_back(static_cast<std::int64_t>(rng() % 3000));
      const Schedule s = make_schedule(*algorithm, request);
      for (const Combining combining : {Combining::overlapped, Combining::exclusive, Combining::in_message}) {
        const Machine machine{
            .alpha = 10, .beta = 1, .gamma = 2, .duplex = trial % 2 == 0, .combining = combining};
        const Conduct conduct{.window = {1 + trial % 3, 1 + trial % 2},
                              .early = trial % 4 == 0 ? Early::background : Early::nothing};
        const Simulation x = simulate_all(s, request.arrival_ns, machine, conduct);
        SCOPED_TRACE(std::string(algorithm->name) + " trial " + std::to_string(trial));
        Ticks begins = *std::ranges::max_element(x.exit);
        for (const OpRef& ref : x.critical_path) {
          const OpTimes& t = x.at(ref.rank, ref.op);
          EXPECT_EQ(t.end, begins);
          const Op& op = s.programs[static_cast<std::size_t>(ref.rank)][ref.op];
          begins =
              op.kind == OpKind::recv_combine ? t.end - machine.gamma * 100 * op.blocks.count() : t.start;
          ++ops;
        }
        const Ticks arrival = x.critical_arrival < 0
                                  ? *std::ranges::min_element(request.arrival_ns)
                                  : request.arrival_ns[static_cast<std::size_t>(x.critical_arrival)];
        EXPECT_EQ(begins, arrival);
      }
    }
  }
  EXPECT_GT(ops, 1000);
}

// Whatever the options, no port carries two messages at once, and every message has the length of the model.
TEST(Simulator, HonoursPortsForEveryAlgorithm) {
  std::mt19937 rng(6);
  for (const Algorithm* algorithm : algorithms()) {
    for (int trial = 0; trial < 20; ++trial) {
      const int p = 2 + static_cast<int>(rng() % 20);
      Request request{.operation = algorithm->operation, .ranks = p, .segments = 3, .round_ns = 100};
      for (int r = 0; r < p; ++r) request.arrival_ns.push_back(static_cast<std::int64_t>(rng() % 900));
      const Schedule s = make_schedule(*algorithm, request);
      const bool duplex = trial % 2 == 0;
      const Machine machine{.alpha = 10, .beta = 1, .duplex = duplex, .combining = Combining::in_message};
      const Conduct conduct{.window = {1 + trial % 4, 1 + trial % 5}};
      const Simulation x = simulate_all(s, request.arrival_ns, machine, conduct);
      for (Rank r = 0; r < p; ++r) {
        std::vector<std::pair<Ticks, Ticks>> used[2];
        const Program& program = s.programs[static_cast<std::size_t>(r)];
        for (int i = 0; i < program.size(); ++i) {
          if (is_local(program[i].kind)) continue;
          const OpTimes& t = x.at(r, i);
          EXPECT_EQ(t.end - t.start, 10 + 100 * program[i].blocks.count());
          EXPECT_GE(t.start, t.posted);
          EXPECT_GE(t.posted, request.arrival_ns[static_cast<std::size_t>(r)]);
          for (const int before : program.after(i)) EXPECT_GE(t.posted, x.at(r, before).end);
          used[duplex && program[i].kind == OpKind::send ? 1 : 0].emplace_back(t.start, t.end);
        }
        for (auto& port : used) {
          std::ranges::sort(port);
          for (std::size_t k = 1; k < port.size(); ++k) {
            EXPECT_LE(port[k - 1].second, port[k].first) << algorithm->name << " rank " << r;
          }
        }
      }
    }
  }
}

// Both leaves announce themselves, at [0,10] and [10,20]. With one credit rank 2 is granted only when rank 1's chunk
// has come: grant [10,20], chunk [20,130], grant [130,140], chunk [140,250]. With two credits the second grant goes
// out at 20 and only the port keeps the chunk back: [130,240].
TEST(Simulator, CreditsBoundWhatIsGranted) {
  const Request request{.operation = Operation::gather, .ranks = 3};
  Schedule s = make_schedule(find_algorithm(Operation::gather, "credit"), request);
  s.shape.credits = 1;
  const Simulation one = simulate_all(s, {0, 0, 0}, kPlain);
  EXPECT_EQ(one.at(1, 2).end, 130);
  EXPECT_EQ(one.at(2, 1).start, 130) << "the grant";
  EXPECT_EQ(one.run_time, 250);
  s.shape.credits = 2;
  const Simulation two = simulate_all(s, {0, 0, 0}, kPlain);
  EXPECT_EQ(two.at(2, 1).start, 20);
  EXPECT_EQ(two.run_time, 240);
}

// Rank 2 comes first; rank 1 comes while 2's first of three chunks moves, and is served when all of 2's have come.
TEST(Simulator, CreditsGoToWhoCameFirst) {
  const Request request{.operation = Operation::gather, .ranks = 3, .segments = 3};
  Schedule s = make_schedule(find_algorithm(Operation::gather, "credit"), request);
  s.shape.credits = 1;
  const Simulation x = simulate_all(s, {0, 50, 0}, kPlain);
  const int last_of_2 = s.programs[2].size() - 1;
  EXPECT_EQ(x.at(1, 1).start, x.at(2, last_of_2).end) << "the first grant for rank 1";
}

TEST(Simulator, IsDeterministic) {
  const Schedule s = make_schedule(find_algorithm(Operation::gather, "ls"),
                                   {.operation = Operation::gather, .ranks = 16, .segments = 2});
  const Simulation a = simulate_all(s, flat(s), kPlain, {.window = {4, 4}});
  const Simulation b = simulate_all(s, flat(s), kPlain, {.window = {4, 4}});
  EXPECT_EQ(a.critical_path, b.critical_path);
  EXPECT_EQ(a.exit, b.exit);
}

TEST(Simulator, ReportsADeadlock) {
  const Schedule s = schedule_of({.operation = Operation::allgather, .ranks = 2}, [](Builders& b) {
    for (const Rank r : {0, 1}) {
      ProgramBuilder& x = b[static_cast<std::size_t>(r)];
      const int first = x.recv(1 - r, {1 - r, 2 - r});
      x.send(1 - r, {r, r + 1}, 0, {first});
    }
  });
  try {
    (void)simulate_all(s, {0, 0}, kPlain);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("deadlock: rank 0 waits in op 0 (recv <-1 [1,2))"));
  }
}

TEST(Simulator, RefusesWhatDoesNotFit) {
  const Schedule s = make_schedule(find_algorithm(Operation::scatter, "lin"), {.ranks = 2});
  const std::vector<std::int64_t> sizes(2, 100);
  const std::vector<Ticks> arrivals(2);
  EXPECT_THROW((void)simulate(s, std::vector<std::int64_t>(3), arrivals, kPlain), std::invalid_argument);
  EXPECT_THROW((void)simulate(s, std::vector<std::int64_t>(2, -1), arrivals, kPlain), std::invalid_argument);
  EXPECT_THROW((void)simulate(s, sizes, std::vector<Ticks>(1), kPlain), std::invalid_argument);
  EXPECT_THROW((void)simulate(s, sizes, arrivals, {.alpha = -1}), std::invalid_argument);
  EXPECT_THROW((void)simulate(s, sizes, arrivals, kPlain, {.window = {0, 1}}), std::invalid_argument);
  EXPECT_THROW((void)simulate({}, {}, {}, kPlain), std::invalid_argument);
  EXPECT_THROW((void)simulate(s, sizes, arrivals, {.beta = std::int64_t{1} << 62}), std::overflow_error);
  Schedule unmatched = s;
  unmatched.programs[1] = {};
  EXPECT_THROW((void)simulate(unmatched, sizes, arrivals, kPlain), std::invalid_argument);
  EXPECT_THROW((void)slot_sizes(s.shape, std::vector<std::int64_t>(3)), std::invalid_argument);
}

TEST(Simulator, SizesSlotsByTheBlocksTheyHold) {
  Shape shape{.operation = Operation::gather, .ranks = 3, .holder = {2, 0, 1}, .scratch = {0}};
  EXPECT_THAT(slot_sizes(shape, std::vector<std::int64_t>{10, 20, 30}), ElementsAre(30, 10, 20, 30));
  EXPECT_THAT(slot_sizes(shape, std::vector<std::int64_t>{7}), testing::Each(7));
}

// 100,000 ranks: a star whose root has 99,999 messages waiting at one port, and a chain. Work that grew with P^2
// would take hours here.
TEST(Simulator, Serves100000Ranks) {
  constexpr int kRanks = 100'000;
  Schedule star{{.operation = Operation::bcast, .ranks = kRanks}, std::vector<Program>(kRanks)};
  Schedule chain = star;
  for (Rank r = 1; r < kRanks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    star.programs[0].append({.kind = OpKind::send, .peer = r, .blocks = kBlock0}, {});
    star.programs[i].append({.kind = OpKind::recv, .peer = 0, .blocks = kBlock0}, {});
    const std::vector<int> after(r == 1 ? 0 : 1, 0);
    chain.programs[i - 1].append({.kind = OpKind::send, .peer = r, .blocks = kBlock0}, after);
    chain.programs[i].append({.kind = OpKind::recv, .peer = r - 1, .blocks = kBlock0}, {});
  }
  const Conduct all_posted{.window = {kRanks, kRanks}};
  const Simulation x = simulate_all(star, flat(star), kPlain, all_posted);
  EXPECT_EQ(x.run_time, 110 * Ticks{kRanks - 1});
  EXPECT_EQ(x.critical_path.size(), static_cast<std::size_t>(kRanks - 1));
  EXPECT_EQ(simulate_all(chain, flat(chain), kPlain, {.early = Early::background}).run_time,
            110 * Ticks{kRanks - 1});
}

}  // namespace
}  // namespace papfft::comm
