// SPDX-License-Identifier: MIT
// The bound of every operation, against cases computed by hand.
#include "app/bench/least_run_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "comm/model/simulator.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {
namespace {

using comm::Algorithm;
using comm::Operation;
using comm::Rank;
using comm::Schedule;
using comm::Shape;
using comm::Simulation;
using Times = std::vector<std::int64_t>;
using Sizes = std::vector<std::size_t>;

/// Each rank on a host of its own, cables without burst, memory that takes no time.
Links cables(std::size_t ranks, double beta) {
  Links links{.host = std::vector<int>(ranks), .beta_ns_per_byte = beta};
  std::iota(links.host.begin(), links.host.end(), 0);
  return links;
}

std::int64_t bound(Operation operation, const Times& arrival_ns, Rank root, const Sizes& bytes, double beta) {
  return least_run_time_ns({operation, root, bytes}, arrival_ns, cables(arrival_ns.size(), beta));
}

TEST(Bound, OfScatter) {
  const auto scatter = [](const Times& arrival, Rank root) {  // 5 bytes at 2 ns: 10 ns on the wire
    return bound(Operation::scatter, arrival, root, Sizes(arrival.size(), 5), 2);
  };
  EXPECT_EQ(scatter({0, 0, 0, 0}, 0), 30);
  EXPECT_EQ(scatter({0, 0, 7, 0}, 2), 37) << "a late root";
  EXPECT_EQ(scatter({3, 90, 3, 3}, 0), 87) << "a later leaf: until it has arrived";
  EXPECT_EQ(scatter({9}, 0), 0);
}

std::int64_t gather(const Times& arrival, Rank root) {
  return bound(Operation::gather, arrival, root, Sizes(arrival.size(), 5), 2);
}

TEST(Bound, OfGather) {
  EXPECT_EQ(gather({0, 0, 0, 0}, 0), 30);
  EXPECT_EQ(gather({0, 5, 25, 0}, 0), 35) << "rank 3 until 10, rank 1 until 20, rank 2 25-35";
  EXPECT_EQ(gather({80, 0, 0, 0}, 0), 80) << "all is there before the root";
  EXPECT_EQ(gather({0, 12, 50, 11}, 2), 50);
  EXPECT_EQ(gather({9}, 0), 0);
}

TEST(Bound, OfGatherIsServingInOrderOfArrival) {
  const auto served = [](Times arrival, Rank root) {
    const std::int64_t begin = *std::ranges::min_element(arrival);
    const std::int64_t root_arrival = arrival[static_cast<std::size_t>(root)];
    arrival.erase(arrival.begin() + root);
    std::ranges::sort(arrival);
    std::int64_t t = begin;
    for (const std::int64_t a : arrival) t = std::max(t, a) + 10;
    return std::max(t, root_arrival) - begin;
  };
  std::mt19937 random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    Times arrival(1 + random() % 9);
    for (auto& a : arrival) a = static_cast<std::int64_t>(random() % 100);
    const Rank root = static_cast<Rank>(random() % arrival.size());
    EXPECT_EQ(gather(arrival, root), served(arrival, root)) << "trial " << trial;
  }
}

TEST(Bound, OfBcastAndReduce) {
  EXPECT_EQ(bound(Operation::bcast, {0, 0, 0}, 0, {100}, 2), 200);
  EXPECT_EQ(bound(Operation::bcast, {0, 40, 0}, 1, {100}, 2), 240) << "a late root";
  EXPECT_EQ(bound(Operation::bcast, {0, 0, 900}, 0, {100}, 2), 900);
  EXPECT_EQ(bound(Operation::reduce, {0, 0, 0}, 0, {100}, 2), 200);
  EXPECT_EQ(bound(Operation::reduce, {0, 40, 7}, 0, {100}, 2), 240)
      << "the last contribution is sent after 40";
  EXPECT_EQ(bound(Operation::reduce, {900, 0, 0}, 0, {100}, 2), 900)
      << "all is combined before the root comes";
  EXPECT_EQ(bound(Operation::reduce, {3}, 0, {100}, 2), 0);
}

TEST(Bound, OfAllgatherWaitsForTheOwnersAndCarriesEveryBlockButTheOwn) {
  for (const Operation operation : {Operation::allgather, Operation::allgatherv}) {
    EXPECT_EQ(bound(operation, {0, 0, 0}, 0, {10, 20, 30}, 2), 100) << "rank 0 gets 20 and 30";
    EXPECT_EQ(bound(operation, {5, 0, 75}, 0, {10, 20, 30}, 2), 135) << "the last block comes at 75";
    EXPECT_EQ(bound(operation, {0, 0, 300}, 0, {10, 20, 0}, 2), 300) << "who has nothing arrives last";
    EXPECT_EQ(bound(operation, {7}, 0, {10}, 2), 0);
  }
}

TEST(Bound, OfReduceScatterAndAllreduce) {
  EXPECT_EQ(bound(Operation::reduce_scatter, {0, 0, 0}, 0, {10, 20, 30}, 2), 100) << "rank 0 gives 20 and 30";
  EXPECT_EQ(bound(Operation::reduce_scatter, {0, 0, 50}, 0, {10, 20, 30}, 2), 110) << "rank 2 gives 30";
  EXPECT_EQ(bound(Operation::reduce_scatter, {50, 0, 0}, 0, {10, 0, 500}, 1), 550) << "rank 0 for rank 2";
  EXPECT_EQ(bound(Operation::reduce_scatter, {7}, 0, {10}, 2), 0);
  EXPECT_EQ(bound(Operation::allreduce, {0, 0, 0, 0}, 0, {100}, 2), 300) << "2 * 3/4 of the vector";
  EXPECT_EQ(bound(Operation::allreduce, {0, 0, 0, 500}, 0, {100}, 2), 700);
  EXPECT_EQ(bound(Operation::allreduce, {0, 3}, 0, {100}, 2), 203);
  EXPECT_EQ(bound(Operation::allreduce, {9}, 0, {100}, 2), 0);
}

TEST(Bound, CountsTheBurstOfAShapedCable) {
  Links links = cables(4, 2);
  links.burst_bytes = 8;
  const Times at_once = {0, 0, 0, 0};
  EXPECT_EQ(least_run_time_ns({Operation::scatter, 0, Sizes(4, 5)}, at_once, links), 14) << "(15 - 8) * 2";
  EXPECT_EQ(least_run_time_ns({Operation::bcast, 0, {8}}, at_once, links), 0) << "all of it passes at once";
  EXPECT_EQ(least_run_time_ns({Operation::bcast, 0, {9}}, at_once, links), 2);
  EXPECT_EQ(least_run_time_ns({Operation::allreduce, 0, {100}}, at_once, links), 284) << "(150 - 8) * 2";
  EXPECT_EQ(least_run_time_ns({Operation::gather, 0, Sizes(4, 20)}, Times{0, 0, 0, 100}, links), 124)
      << "the last block has a burst of its own: 100 + (20 - 8) * 2; the three together end at (60 - 8) * 2";
}

/// Ranks 0 and 1 on one host, 2 and 3 on another, rank 4 alone. Memory: 1 ns a byte on one core.
Links three_hosts() { return {.host = {0, 0, 1, 1, 2}, .beta_ns_per_byte = 10, .copy_ns_per_byte = 1}; }

TEST(Bound, CountsWhatMustCrossTheCablesBetweenHosts) {
  const Times zero(5, 0);
  const Links links = three_hosts();
  const auto of = [&](Operation operation, const Sizes& bytes, const Times& arrival) {
    return least_run_time_ns({operation, 0, bytes}, arrival, links);
  };
  EXPECT_EQ(of(Operation::scatter, {1, 2, 4, 8, 16}, zero), 280) << "4 + 8 + 16 leave the root's host";
  EXPECT_EQ(of(Operation::gather, {1, 2, 4, 8, 16}, zero), 280);
  EXPECT_EQ(of(Operation::gather, {1, 2, 4, 8, 16}, {0, 1000, 0, 0, 0}), 1002)
      << "rank 1 is on the root's host: its 2 bytes only have to be copied";
  EXPECT_EQ(of(Operation::bcast, {100}, zero), 1000) << "once into each host, not once per rank";
  EXPECT_EQ(of(Operation::reduce, {100}, zero), 1000);
  EXPECT_EQ(of(Operation::reduce, {100}, {0, 5000, 0, 0, 0}), 5000) << "the last one is on the root's host";
  EXPECT_EQ(of(Operation::reduce, {100}, {0, 0, 0, 5000, 0}), 6000);
  EXPECT_EQ(of(Operation::allgather, {1, 2, 4, 8, 16}, zero), 280)
      << "into the root's host; 190 into the next one";
  EXPECT_EQ(of(Operation::allgather, {1, 1, 1, 1, 60}, zero), 620);
  EXPECT_EQ(of(Operation::reduce_scatter, {1, 2, 4, 8, 16}, zero), 280)
      << "4 + 8 + 16 leave host 0, combined";
  EXPECT_EQ(of(Operation::allreduce, {99}, zero), 1320) << "2 * 2/3 of 99 bytes";
  EXPECT_EQ(of(Operation::allreduce, {99}, {0, 0, 0, 5000, 0}), 5990);
}

TEST(Bound, OfRanksOnOneHostIsTheTimeToCopy) {
  const Links links{.host = {7, 7, 7, 7}, .beta_ns_per_byte = 1e6, .copy_ns_per_byte = 4, .cores = 2};
  const Times zero(4, 0);
  const auto of = [&](Operation operation, const Sizes& bytes) {
    return least_run_time_ns({operation, 0, bytes}, zero, links);
  };
  EXPECT_EQ(of(Operation::bcast, {100}), 600) << "three copies at 2 ns a byte";
  EXPECT_EQ(of(Operation::scatter, Sizes(4, 100)), 600);
  EXPECT_EQ(of(Operation::gather, Sizes(4, 100)), 600);
  EXPECT_EQ(of(Operation::allgather, Sizes(4, 100)), 2400) << "three blocks for each of four";
  EXPECT_EQ(of(Operation::reduce, {100}), 200) << "one result";
  EXPECT_EQ(of(Operation::allreduce, {100}), 800);
  EXPECT_EQ(of(Operation::reduce_scatter, Sizes(4, 100)), 800);
  EXPECT_EQ(of(Operation::alltoall, Sizes(4, 100)), 2400) << "three blocks for each of four";
}

/// What the contract counts as one block: all segments of a rank's block, or the whole vector.
Sizes contract_sizes(const Shape& shape, const std::vector<std::int64_t>& segment_bytes) {
  if (shape.per_pair()) {
    return Sizes(static_cast<std::size_t>(shape.ranks),
                 static_cast<std::size_t>(shape.segments * segment_bytes[0]));
  }
  Sizes sizes(shape.per_rank() ? static_cast<std::size_t>(shape.ranks) : 1);
  for (std::size_t i = 0; i < segment_bytes.size(); ++i) {
    sizes[shape.per_rank() ? i / static_cast<std::size_t>(shape.segments) : 0] +=
        static_cast<std::size_t>(segment_bytes[i]);
  }
  return sizes;
}

/// Simulates an algorithm on the machine that the bound is about: only bytes take time, one tick each, and whatever needs no
/// arrival begins at time 0. @param last  no rank comes later
void expect_no_less_than_the_bound(const Algorithm& algorithm, int ranks, int segments, int last,
                                   std::mt19937& random) {
  Times arrival(static_cast<std::size_t>(ranks));
  for (auto& a : arrival) a = static_cast<std::int64_t>(random() % static_cast<unsigned>(last + 1));
  const Rank root = is_rooted(algorithm.operation) ? static_cast<Rank>(random() % arrival.size()) : 0;
  const Schedule schedule = make_schedule(algorithm, {.operation = algorithm.operation,
                                                      .ranks = ranks,
                                                      .root = root,
                                                      .segments = segments,
                                                      .arrival_ns = arrival,
                                                      .round_ns = 50});
  // Blocks of pairs of ranks have one size in the simulator.
  std::vector<std::int64_t> segment_bytes(
      schedule.shape.per_pair() ? 1 : static_cast<std::size_t>(schedule.shape.blocks()), 50);
  if (random() % 2 == 0) {
    for (auto& bytes : segment_bytes) bytes = static_cast<std::int64_t>(random() % 100);
  }
  const Simulation simulated = simulate(
      schedule, slot_sizes(schedule.shape, segment_bytes), arrival, {.beta = 1, .empty_is_free = true},
      {.window = {4, 4}, .early = comm::Early::background, .early_from = 0});
  EXPECT_GE(simulated.run_time,
            bound(algorithm.operation, arrival, root, contract_sizes(schedule.shape, segment_bytes), 1))
      << to_string(algorithm.operation) << ' ' << algorithm.name << ", " << ranks << " ranks, " << segments
      << " segments, root " << root << ", arrivals up to " << last;
}

TEST(Bound, NoSimulatedScheduleIsFaster) {
  std::mt19937 random(9);
  for (const Algorithm* algorithm : comm::algorithms()) {
    for (int ranks = 2; ranks <= 17; ++ranks) {
      for (const int segments : {1, 2, 5}) {
        if (algorithm->segmentation == comm::Segmentation::whole && segments > 1) continue;
        for (const int last : {0, 60, 2000}) {
          expect_no_less_than_the_bound(*algorithm, ranks, segments, last, random);
        }
      }
    }
  }
}

TEST(Bound, RefusesWhatMakesNoSense) {
  const Links links = cables(2, 1);
  const auto of = [&](const Times& arrival, Rank root, const Sizes& bytes) {
    return least_run_time_ns({Operation::gather, root, bytes}, arrival, links);
  };
  EXPECT_THROW((void)of({}, 0, {}), std::invalid_argument);
  EXPECT_THROW((void)of({1, 2, 3}, 0, {1, 1, 1}), std::invalid_argument);
  EXPECT_THROW((void)of({1, 2}, 2, {1, 1}), std::invalid_argument);
  EXPECT_THROW((void)of({1, 2}, -1, {1, 1}), std::invalid_argument);
  EXPECT_THROW((void)of({1, 2}, 0, {1}), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::app
