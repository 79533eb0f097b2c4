// SPDX-License-Identifier: MIT
#include "comm/schedule/family/circulant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"
#include "tests/support/circulant_reference.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

struct Table {
  int p;
  std::vector<int> base;
  std::vector<std::vector<int>> receive;  // per round, what each rank gets
  std::vector<std::vector<int>> send;
};

const std::vector<Table>& paper_tables() {
  static const std::vector<Table> tables = {
#include "circulant_tables.inc"
  };
  return tables;
}

std::vector<int> first(const Circulant::Blocks& blocks, int q) {
  return {blocks.begin(), blocks.begin() + q};
}

std::vector<int> receive(int p, int r) { return first(Circulant(p).receive(r), Circulant(p).rounds()); }
std::vector<int> send(int p, int r) { return first(Circulant(p).send(r), Circulant(p).rounds()); }

TEST(Circulant, GivesThePapersTables) {
  ASSERT_EQ(paper_tables().size(), 5U);
  for (const Table& table : paper_tables()) {
    const Circulant graph(table.p);
    const auto q = static_cast<std::size_t>(graph.rounds());
    ASSERT_EQ(table.receive.size(), q);
    ASSERT_EQ(table.send.size(), q);
    for (int r = 0; r < table.p; ++r) {
      const auto at = static_cast<std::size_t>(r);
      if (r > 0) {
        EXPECT_EQ(graph.baseblock(r), table.base.at(at)) << "p=" << table.p << " r=" << r;
      }
      for (std::size_t k = 0; k < q; ++k) {
        EXPECT_EQ(graph.receive(r)[k], table.receive[k].at(at))
            << "p=" << table.p << " r=" << r << " k=" << k;
        EXPECT_EQ(graph.send(r)[k], table.send[k].at(at)) << "p=" << table.p << " r=" << r << " k=" << k;
      }
    }
  }
}

TEST(Circulant, GivesKnownSchedules) {
  EXPECT_THAT(receive(17, 3), ElementsAre(-4, -5, 2, -2, -1));
  EXPECT_THAT(send(17, 3), ElementsAre(-3, -3, -4, 2, 2));
  EXPECT_THAT(receive(33, 1), ElementsAre(0, -3, -4, -2, -5, -1));
  EXPECT_THAT(send(33, 1), ElementsAre(-6, -6, 0, 0, 0, 0));
  EXPECT_THAT(receive(33, 31), ElementsAre(-6, -4, -5, -2, -1, 3));
  EXPECT_THAT(send(33, 31), ElementsAre(-3, -3, -4, -3, -2, -1));
  EXPECT_THAT(receive(1000, 777), ElementsAre(-9, -7, -8, -6, -2, -5, -4, -3, -1, 0));
  EXPECT_THAT(send(1000, 777), ElementsAre(-10, -9, -7, -7, -6, -2, -2, -2, -2, -1));
  EXPECT_THAT(receive(9, 3), ElementsAre(-3, -4, 2, -1));
  EXPECT_THAT(send(9, 3), ElementsAre(-2, -2, -3, 2));
  EXPECT_THAT(receive(1, 0), ElementsAre());
}

TEST(Circulant, AgreesWithThePapersSlowConstruction) {
  for (int p = 1; p <= 256; ++p) {
    const Circulant graph(p);
    const test::CirculantReference paper(p);
    ASSERT_EQ(graph.rounds(), paper.rounds());
    for (int k = 0; k <= graph.rounds(); ++k) {
      ASSERT_EQ(graph.skip(k), paper.skips()[static_cast<std::size_t>(k)]) << "p=" << p;
    }
    for (int r = 0; r < p; ++r) {
      ASSERT_THAT(receive(p, r), ElementsAreArray(paper.receive(r, graph.rounds())))
          << "p=" << p << " r=" << r;
      ASSERT_THAT(send(p, r), ElementsAreArray(paper.send(r))) << "p=" << p << " r=" << r;
    }
  }
}

/// What makes the schedules of p ranks a broadcast of any number of blocks; the first thing that is wrong.
std::optional<std::string> broken_condition(int p) {
  const Circulant graph(p);
  const int q = graph.rounds();
  const auto rounds = static_cast<std::size_t>(q);
  std::vector<int> receives(static_cast<std::size_t>(p) * rounds);
  const auto row = [&](int r) {
    return std::span(receives).subspan(static_cast<std::size_t>(r) * rounds, rounds);
  };
  const auto fail = [&](int r, const std::string& what) {
    return "p=" + std::to_string(p) + " r=" + std::to_string(r) + ": " + what;
  };
  for (int r = 0; r < p; ++r) graph.receive(r, row(r));
  for (int r = 0; r < p; ++r) {
    // Once the base block, in the round in which the root's blocks first come by; else q-1 others of the phase before.
    const int base = graph.baseblock(r);
    std::uint32_t seen = 0;
    for (int k = 0; k < q; ++k) {
      const int block = row(r)[static_cast<std::size_t>(k)];
      const bool is_base = graph.skip(k) <= r && r < graph.skip(k + 1);
      if (is_base ? block != base : block < -q || block >= 0) return fail(r, "receives a wrong block");
      const auto bit = std::uint32_t{1} << static_cast<unsigned>(is_base ? block : block + q);
      if ((seen & bit) != 0) return fail(r, "receives a block twice");
      seen |= bit;
    }
    const Circulant::Blocks send = graph.send(r);
    std::uint32_t had =
        r == 0 ? 0 : std::uint32_t{1} << static_cast<unsigned>(base);  // + q: of the phase before
    std::uint32_t fresh = 0;                                           // of this phase
    for (int k = 0; k < q; ++k) {
      const int block = send[static_cast<std::size_t>(k)];
      if (block != row(graph.to(r, k))[static_cast<std::size_t>(k)])
        return fail(r, "sends what is not expected");
      if (r == 0 && block != k) return fail(r, "the root sends another block than the next");
      if (r != 0) {
        const bool has = block < 0 ? (had >> static_cast<unsigned>(block + q) & 1U) != 0
                                   : (fresh >> static_cast<unsigned>(block) & 1U) != 0;
        if (!has) return fail(r, "sends what it has not received");
      }
      const int got = row(r)[static_cast<std::size_t>(k)];
      if (got < 0) had |= std::uint32_t{1} << static_cast<unsigned>(got + q);
      if (got >= 0) fresh |= std::uint32_t{1} << static_cast<unsigned>(got);
    }
  }
  return std::nullopt;
}

TEST(Circulant, HoldsItsConditionsForEveryGroupUpTo2200) {
  for (int p = 1; p <= 2200; ++p) ASSERT_EQ(broken_condition(p), std::nullopt);
}

// CIR checked its construction up to 100,000 ranks. PAPFFT_TEST_CIRCULANT=FIRST:LAST:STEP:SECONDS does so on two threads
// (FIRST=2201 LAST=100000 STEP=1 takes about an hour of one core), and says how far it came.
TEST(Circulant, HoldsItsConditionsForLargeGroups) {
  const char* range = std::getenv("PAPFFT_TEST_CIRCULANT");
  int from = 99'991;
  int to = 100'000;
  int step = 9;
  int seconds = 60;
  if (range != nullptr) {
    ASSERT_EQ(std::sscanf(range, "%d:%d:%d:%d", &from, &to, &step, &seconds), 4);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::atomic<int> next{from};
  std::atomic<int> checked{0};
  std::mutex mutex;
  std::optional<std::string> broken;
  const auto work = [&] {
    while (std::chrono::steady_clock::now() < end) {
      const int p = next.fetch_add(step);
      if (p > to) return;
      if (auto found = broken_condition(p)) {
        const std::lock_guard lock(mutex);
        broken = std::move(found);
      }
      ++checked;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(broken, std::nullopt);
  EXPECT_GT(checked, 0);
  if (range != nullptr) {
    std::cout << "circulant: " << checked << " values of p from " << from << ", step " << step
              << ", all below " << next << "\n";
  }
}

TEST(Circulant, RefusesGroupsItCannotCount) {
  EXPECT_THROW(Circulant(0), std::invalid_argument);
  EXPECT_THROW(Circulant(Circulant::kMostRanks + 1), std::invalid_argument);
  EXPECT_EQ(Circulant(Circulant::kMostRanks).rounds(), Circulant::kMostRounds);
  EXPECT_EQ(Circulant(Circulant::kMostRanks - 1).send(Circulant::kMostRanks / 3)[0] + Circulant::kMostRounds,
            Circulant(Circulant::kMostRanks - 1).baseblock(Circulant::kMostRanks / 3));
}

TEST(BcastCirculant, ThreeRanksMatchTheDocumentedRounds) {
  EXPECT_EQ(to_text(make_schedule(find_algorithm(Operation::bcast, "circulant"),
                                  {.operation = Operation::bcast, .ranks = 3, .segments = 2})),
            "bcast: 3 ranks, root 0, 2 blocks\n"
            "rank 0\n"
            "  0  round 0  send ->2 [0,1)\n"
            "  1  round 1  send ->1 [1,2)\n"
            "  2  round 2  send ->2 [1,2)\n"
            "rank 1\n"
            "  0  round 1  recv <-0 [1,2)\n"
            "  1  round 2  recv <-2 [0,1)\n"
            "rank 2\n"
            "  0  round 0  recv <-0 [0,1)\n"
            "  1  round 2  recv <-0 [1,2)\n"
            "  2  round 2  send ->1 [0,1)  after {0}\n");
}

TEST(BcastCirculant, TakesTheLeastRoundsForEveryGroupAndNumberOfBlocks) {
  const Algorithm& algorithm = find_algorithm(Operation::bcast, "circulant");
  for (int p = 2; p <= 130; ++p) {
    for (const int n : {1, 2, 3, 5, 8, 13, 20}) {
      const Schedule schedule =
          make_schedule(algorithm, {.operation = Operation::bcast, .ranks = p, .root = p / 2, .segments = n});
      int last = -1;
      std::int64_t messages = 0;
      for (const Program& program : schedule.programs) {
        for (const Op& op : program.ops()) {
          last = std::max(last, op.round);
          messages += op.kind == OpKind::recv ? 1 : 0;
        }
      }
      EXPECT_EQ(last + 1, n - 1 + Circulant(p).rounds());
      EXPECT_EQ(last + 1, algorithm.round_count(p, n));
      EXPECT_EQ(messages, std::int64_t{p - 1} * n) << "each block once for each rank but the root";
    }
  }
}

}  // namespace
}  // namespace papfft::comm
