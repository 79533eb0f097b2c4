// SPDX-License-Identifier: MIT
// How long ports are busy at least, against the simulator.
#include "comm/model/port_times.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"
#include "tests/support/compositions.hpp"
#include "tests/support/sanitized.hpp"

namespace papfft::comm {
namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

TEST(PortTimes, AreThoseOfTheBusiestRankOrCard) {
  const std::vector<int> layout = {0, 0, 1, 1};
  const Hosts hosts(4, layout);
  const Machine machine{
      .alpha = 10, .beta = 4, .host_of_rank = layout, .inside = {.alpha = 2, .beta = 1}, .card_ports = 1};
  const SlotSizes sizes(std::vector<std::int64_t>{100, 0});
  ProgramBuilder first(2);
  first.send(2, {0, 1});
  first.send(1, {0, 1});
  first.send(1, {1, 2});  // holds nothing, so it is never sent
  first.send(2, {0, 0});  // an empty message costs alpha
  ProgramBuilder second(2);
  second.send(3, {0, 1});
  PortTimes times(machine, hosts);
  EXPECT_EQ(times.least(), 0);
  times.add(0, first.take(), sizes);
  EXPECT_EQ(times.least(), 410 + 102 + 10);
  times.add(1, second.take(), sizes);
  EXPECT_EQ(times.least(), 410 + 410 + 10) << "both cross the card";
}

TEST(PortTimes, NoSimulationIsFaster) {
  std::mt19937 rng(61);
  int close = 0;
  for (const Algorithm* algorithm : test::all_algorithms()) {
    for (int trial = 0; trial < (papfft::test::kSanitized ? 8 : 16); ++trial) {
      std::vector<int> layout(1 + rng() % 14);
      const int most_hosts = 1 + static_cast<int>(rng() % 6);
      for (int& host : layout) host = static_cast<int>(rng()) % most_hosts;
      const int p = static_cast<int>(layout.size());
      const Machine machine{.alpha = static_cast<Ticks>(rng() % 900),
                            .beta = 4,
                            .gamma = trial % 3,
                            .duplex = trial % 4 != 0,
                            .host_of_rank = layout,
                            .inside = {.alpha = static_cast<Ticks>(rng() % 60),
                                       .beta = static_cast<Ticks>(rng() % 6),
                                       .gamma = trial % 3},
                            .card_ports = 1 + trial / 2 % 3,
                            .latency = trial % 2 * 500,
                            .eager_bytes = trial % 2 * 1000 - 1};
      const Schedule s = make_schedule(*algorithm, {.operation = algorithm->operation,
                                                    .ranks = p,
                                                    .segments = 1 + trial % 5,
                                                    .round_ns = 100,
                                                    .host = layout});
      const auto sizes =
          std::vector<std::int64_t>(idx(s.shape.slots()), static_cast<std::int64_t>(rng() % 800));
      const Hosts hosts(p, layout);
      PortTimes times(machine, hosts);
      const SlotSizes summed(sizes);
      for (Rank r = 0; r < p; ++r) times.add(r, s.programs[idx(r)], summed);
      const Conduct conduct{.window = {1 + trial % 8, 1 + trial % 8, 4, 4}};
      const Simulation x = simulate(s, sizes, std::vector<Ticks>(idx(p)), machine, conduct);
      ASSERT_LE(times.least(), x.run_time)
          << to_string(algorithm->operation) << " " << algorithm->name << " trial " << trial;
      close += x.run_time > 0 && times.least() >= x.run_time * 9 / 10 ? 1 : 0;
    }
  }
  EXPECT_GT(close, 50) << "else it is no help";
}

}  // namespace
}  // namespace papfft::comm
