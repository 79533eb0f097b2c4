// SPDX-License-Identifier: MIT
// Replays on a full crossbar against our own simulator of one-port links, for every algorithm of the registry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "comm/model/platform.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"
#include "tests/unit/simgrid/simgrid_crossbar.hpp"

namespace papfft::comm {

namespace {

constexpr std::int64_t kAlpha_ns = 8000;
constexpr std::int64_t kBeta_ns = 8;

struct Case {
  const Algorithm* algorithm = nullptr;
  int ranks = 0;
  bool apart = false;  ///< the ranks arrive apart
};

std::string text_of(const Case& c) {
  return std::to_string(c.ranks) + " ranks " + (c.apart ? "apart" : "together");
}

std::vector<std::int64_t> arrivals_of(const Case& c) {
  std::vector<std::int64_t> arrivals(static_cast<std::size_t>(c.ranks));
  if (!c.apart) return arrivals;
  std::uint64_t x = 12345;
  for (auto& a : arrivals) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    a = static_cast<std::int64_t>(x >> 33U) % 20'000'000;
  }
  return arrivals;
}

Schedule schedule_of(const Case& c, int segments, std::span<const std::int64_t> arrivals, std::int64_t slot) {
  return make_schedule(*c.algorithm, {.operation = c.algorithm->operation,
                                      .ranks = c.ranks,
                                      .segments = segments,
                                      .arrival_ns = {arrivals.begin(), arrivals.end()},
                                      .round_ns = kAlpha_ns + kBeta_ns * slot});
}

int segments_of(const Algorithm& a) {
  if (a.segmentation == Segmentation::whole) return 1;
  const bool has_two =
      a.segmentation == Segmentation::head_and_rest || a.segmentation == Segmentation::short_or_long;
  return has_two ? 2 : 4;
}

/// All the same; but of two segments of which one is empty, the second has it all.
std::vector<std::int64_t> sizes_of(const Algorithm& a, const Shape& shape, std::int64_t slot) {
  std::vector<std::int64_t> sizes = slot_sizes(shape, std::vector<std::int64_t>{slot});
  if (a.segmentation == Segmentation::short_or_long) {
    for (int i = 0; i < shape.slots(); ++i) {
      if (shape.segment_of(i) == 0) sizes[static_cast<std::size_t>(i)] = 0;
    }
  }
  return sizes;
}

class Crossbar : public testing::TestWithParam<const Algorithm*> {};

// With one message under way each way, what shares a link in SimGrid waits for a port in ours, for which it takes as long. Only
// the chunks of a receiver-driven gather come from several ranks at once: its ranks end later, all together, if these share the
// link fairly, so its mean time is compared for one chunk at a time.
// In an exchange by credits several receivers ask one sender at once. Its port serves them one after another, its link all together:
// so each gets what it waits for at another time, and the two have nothing in common.
void expect_the_time_of_one_port_links(const Case& c) {
  SCOPED_TRACE(text_of(c));
  // Here a gather and a broadcast meet: a rank that is invited gets blocks of others at the same time.
  if (c.algorithm == &allgather_slb) return;
  constexpr std::int64_t kSlot = 50'000;
  constexpr std::int64_t kGamma_ns = 1;
  const std::vector<std::int64_t> arrivals = arrivals_of(c);
  Schedule schedule = schedule_of(c, segments_of(*c.algorithm), arrivals, kSlot);
  const bool is_gather =
      c.algorithm->operation == Operation::gather || c.algorithm->operation == Operation::gatherv;
  if (schedule.shape.credits > 0 && !is_gather) return;
  const std::vector<std::int64_t> sizes = sizes_of(*c.algorithm, schedule.shape, kSlot);
  const Machine machine{.alpha = kAlpha_ns, .beta = kBeta_ns, .gamma = kGamma_ns};
  for (const Early early : {Early::nothing, Early::background}) {
    const Conduct conduct{.window = {1, 1}, .early = early};
    const Simulation ports = simulate(schedule, sizes, arrivals, machine, conduct);
    const PlatformRun run = crossbar().replay(schedule, sizes, arrivals, kGamma_ns, conduct);
    EXPECT_NEAR(run.run_ns / static_cast<double>(ports.run_time), 1, 0.05) << static_cast<int>(early);
    ASSERT_EQ(run.exit_ns.size(), ports.exit.size());
    if (schedule.shape.credits > 1) continue;
    EXPECT_NEAR(run.elapsed_ns / ports.elapsed_mean(), 1, 0.05) << static_cast<int>(early);
  }
  if (schedule.shape.credits == 0) return;
  schedule.shape.credits = 1;
  const Simulation ports = simulate(schedule, sizes, arrivals, machine);
  const PlatformRun run = crossbar().replay(schedule, sizes, arrivals, kGamma_ns, {});
  EXPECT_NEAR(run.elapsed_ns / ports.elapsed_mean(), 1, 0.05);
}

TEST_P(Crossbar, TakesTheTimeOfOnePortLinks) {
  for (const int ranks : {2, 5, 8, 13, 32}) {
    for (const bool apart : {false, true}) expect_the_time_of_one_port_links({GetParam(), ranks, apart});
  }
}

/// As many as possible with no more than some thousand messages, so that it takes a fraction of a second: 1000 in a tree, 250 in a
/// circulant graph, 64 or 100 where each rank sends to each.
int many_ranks(const Algorithm& algorithm) {
  constexpr std::ptrdiff_t kMessages = 4000;
  int ranks = 64;
  for (const int next : {100, 250, 500, 1000}) {
    const Case c{&algorithm, next};
    const Schedule schedule = schedule_of(c, segments_of(algorithm), arrivals_of(c), 1);
    std::ptrdiff_t messages = 0;
    for (const Program& program : schedule.programs)
      messages += std::ranges::count(program.ops(), OpKind::send, &Op::kind);
    if (messages > kMessages) break;
    ranks = next;
  }
  return ranks;
}

TEST_P(Crossbar, ManyRanksTakeTheTimeOfOnePortLinks) {
  const Algorithm& algorithm = *GetParam();
  expect_the_time_of_one_port_links({&algorithm, many_ranks(algorithm), true});
}

INSTANTIATE_TEST_SUITE_P(Registry, Crossbar, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& of) {
                           std::string name = std::string(to_string(of.param->operation)) + "_" +
                                              std::string(of.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

Op message(OpKind kind, Rank peer, BlockRange blocks) {
  return {.kind = kind, .peer = peer, .blocks = blocks};
}

/// 1 and 2 each send two slots to 0.
Schedule two_senders() {
  Schedule schedule{.shape = {.operation = Operation::gather, .ranks = 3, .segments = 2}};
  schedule.programs.resize(3);
  for (const Rank sender : {1, 2}) {
    for (int s = 0; s < 2; ++s) {
      const BlockRange block{2 * sender + s, 2 * sender + s + 1};
      schedule.programs[0].append(message(OpKind::recv, sender, block), {});
      schedule.programs[static_cast<std::size_t>(sender)].append(message(OpKind::send, 0, block), {});
    }
  }
  return schedule;
}

TEST(Replay, MessagesThatShareALinkShareItsRate) {
  const Schedule schedule = two_senders();
  const std::vector<std::int64_t> sizes(6, 1'000'000);
  const std::vector<std::int64_t> together(3);
  // One after another at the root: 4 messages of 8.008 ms. All at once: 4 MB through the root's link after one latency.
  EXPECT_NEAR(crossbar().replay(schedule, sizes, together, 0, {.window = {1, 1}}).run_ns, 4 * 8'008'000.0,
              1e3);
  EXPECT_NEAR(crossbar().replay(schedule, sizes, together, 0, {.window = {4, 4}}).run_ns, 32'008'000.0, 1e3);
  // The one of rank 2, which comes when rank 1 has sent half of its first: 4 ms alone, then by halves.
  const std::vector<std::int64_t> apart = {0, 0, 4'000'000};
  const PlatformRun run = crossbar().replay(
      schedule, std::vector<std::int64_t>{0, 0, 1'000'000, 0, 1'000'000, 0}, apart, 0, {.window = {4, 4}});
  EXPECT_NEAR(run.exit_ns[1], 12'008'000, 1e4);
  EXPECT_NEAR(run.exit_ns[2], 16'008'000, 1e4);
}

TEST(Replay, RanksOfAHostShareItsLink) {
  Schedule schedule{.shape = {.operation = Operation::allgather, .ranks = 4}};
  schedule.programs.resize(4);
  for (const Rank sender : {0, 1}) {
    const BlockRange block{sender, sender + 1};
    schedule.programs[static_cast<std::size_t>(sender)].append(message(OpKind::send, sender + 2, block), {});
    schedule.programs[static_cast<std::size_t>(sender) + 2].append(message(OpKind::recv, sender, block), {});
  }
  const std::vector<std::int64_t> sizes(4, 1'000'000);
  const std::vector<std::int64_t> together(4);
  const auto run_ns = [&](const std::vector<int>& hosts) {
    return crossbar().replay(schedule, sizes, together, 0, {}, hosts).run_ns;
  };
  EXPECT_NEAR(run_ns({}), 8'008'000, 1e3);
  EXPECT_NEAR(run_ns({0, 1, 2, 3}), 8'008'000, 1e3);
  EXPECT_NEAR(run_ns({0, 0, 1, 2}), 16'008'000, 1e3) << "out of one host";
  EXPECT_NEAR(run_ns({0, 1, 2, 2}), 16'008'000, 1e3) << "into one host";
  EXPECT_THROW((void)run_ns({0, 0, 1}), std::invalid_argument);
}

// Where all ranks are in step, each round takes alpha and the time of what a port carries, in one message or two; a message of the
// next round beside it would delay it, and with it all that follow.
TEST(Replay, ExchangesOnTheCirculantGraphKeepTheirRoundsApart) {
  constexpr int kRanks = 64;
  constexpr int kRounds = 6;
  constexpr std::int64_t kSlot = 20'000;
  const double moved_ns = (kRanks - 1) * static_cast<double>(kBeta_ns * kSlot);
  for (const auto& [operation, name, times] :
       {std::tuple{Operation::allgather, "circulant", 1}, std::tuple{Operation::allgatherv, "circulant-q", 1},
        std::tuple{Operation::reduce_scatter, "circulant", 1},
        std::tuple{Operation::allreduce, "circulant", 2}}) {
    const Schedule schedule = make_schedule(find_algorithm(operation, name),
                                            {.operation = operation, .ranks = kRanks, .arrival_ns = {}});
    const std::vector<std::int64_t> sizes = slot_sizes(schedule.shape, std::vector<std::int64_t>{kSlot});
    const PlatformRun run =
        crossbar().replay(schedule, sizes, std::vector<std::int64_t>(kRanks), 0, {.window = {8, 8}});
    EXPECT_NEAR(run.run_ns, times * (kRounds * static_cast<double>(kAlpha_ns) + moved_ns), 1e3)
        << to_string(operation) << ' ' << name;
  }
}

TEST(Replay, WhatItCannotRun) {
  const Schedule schedule = two_senders();
  const std::vector<std::int64_t> sizes(6, 1);
  const std::vector<std::int64_t> arrivals(3);
  EXPECT_THROW((void)crossbar().replay(schedule, std::vector<std::int64_t>{1}, arrivals, 0, {}),
               std::invalid_argument);
  EXPECT_THROW((void)crossbar().replay(schedule, sizes, std::vector<std::int64_t>(2), 0, {}),
               std::invalid_argument);
  Schedule unmet = schedule;
  unmet.programs[1].append(message(OpKind::send, 0, {2, 3}), {});
  EXPECT_THROW((void)crossbar().replay(unmet, sizes, arrivals, 0, {}), std::invalid_argument);
  Schedule many{.shape = {.operation = Operation::bcast, .ranks = crossbar().host_count() + 1}};
  many.programs.resize(static_cast<std::size_t>(many.shape.ranks));
  EXPECT_THROW((void)crossbar().replay(many, std::vector<std::int64_t>{1},
                                       std::vector<std::int64_t>(many.programs.size()), 0, {}),
               std::invalid_argument);
  EXPECT_THROW((void)open_simgrid_platform("other.xml", NetworkModel::plain), std::logic_error);
}

TEST(Replay, ADeadlockIsAnErrorAndTheNextReplayKnowsNothingOfIt) {
  Schedule schedule{.shape = {.operation = Operation::allgather, .ranks = 2}};
  schedule.programs.resize(2);
  for (const Rank r : {0, 1}) {
    Program& program = schedule.programs[static_cast<std::size_t>(r)];
    const int receive = program.append(message(OpKind::recv, 1 - r, {1 - r, 2 - r}), {});
    program.append(message(OpKind::send, 1 - r, {r, r + 1}), std::vector<int>{receive});
  }
  EXPECT_THROW(
      (void)crossbar().replay(schedule, std::vector<std::int64_t>{1, 1}, std::vector<std::int64_t>(2), 0, {}),
      std::runtime_error);
  const std::vector<std::int64_t> sizes(6, 1'000'000);
  const PlatformRun run = crossbar().replay(two_senders(), sizes, std::vector<std::int64_t>(3), 0, {});
  EXPECT_NEAR(run.run_ns, 4 * 8'008'000.0, 1e3);
}

// As many ranks as the platform has hosts, and more messages than there are mailboxes at any time.
TEST(Replay, AThousandRanks) {
  const Algorithm& chain = find_algorithm(Operation::bcast, "chain");
  constexpr int kSegments = 8;
  constexpr std::int64_t kSlot = 10'000;
  const Schedule schedule = make_schedule(chain, {.operation = Operation::bcast,
                                                  .ranks = crossbar().host_count(),
                                                  .segments = kSegments,
                                                  .arrival_ns = {}});
  const std::vector<std::int64_t> sizes(kSegments, kSlot);
  const std::vector<std::int64_t> together(schedule.programs.size());
  const PlatformRun run = crossbar().replay(schedule, sizes, together, 0, {.window = {1, 1}});
  const int rounds = crossbar().host_count() + kSegments - 2;
  EXPECT_NEAR(run.run_ns, rounds * static_cast<double>(kAlpha_ns + kBeta_ns * kSlot), 1e3);
}

}  // namespace

}  // namespace papfft::comm
