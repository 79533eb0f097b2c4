// SPDX-License-Identifier: MIT
// The farm of tasks, with ranks as threads.
#include "comm/engine/farm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "comm/transport/threads/thread_group.hpp"

namespace papfft::comm {
namespace {

using Feed = Farm::Feed;
using std::chrono::milliseconds;

Options stuck_after(milliseconds limit) {
  Options o;
  o.stuck_after = limit;
  return o;
}

std::uint64_t number_in(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

void put(std::uint64_t number, std::span<std::byte> bytes) {
  std::memcpy(bytes.data(), &number, sizeof number);
}

std::uint64_t answer_to(std::uint64_t task) { return task * task + 1; }

struct FarmCase {
  int ranks;
  std::uint32_t seed;
  bool own;  ///< the root makes its tasks where it works on them
};

class Farms : public testing::TestWithParam<FarmCase> {};

TEST_P(Farms, ResultsComeInOrderAndEachTaskIsDoneOnce) {
  const FarmCase& c = GetParam();
  std::atomic<std::uint64_t> done{0};
  static constexpr std::size_t kResultBytes = 24;
  constexpr std::uint64_t kTasks[] = {500, 0, 1};
  ThreadGroup(c.ranks, c.seed).run([&](Transport& transport) {
    Collectives comm(transport, stuck_after(milliseconds(30000)));
    Farm farm(comm, sizeof(std::uint64_t), kResultBytes);
    for (const std::uint64_t tasks : kTasks) {  // an object serves several runs
      std::uint64_t given = 0;
      std::uint64_t taken = 0;
      int asked = 0;
      const auto next = [&] {
        EXPECT_LE(given - taken, farm.most_under_way());
        if (++asked % 7 == 0) return Feed::later;
        if (given == tasks) return Feed::end;
        ++given;
        return Feed::task;
      };
      const Farm::Source source = [&](std::span<std::byte> room) -> Farm::Task {
        const Feed feed = next();
        if (feed == Feed::task) put(given - 1, room);
        return {feed, room};
      };
      const Farm::Work work = [](std::span<const std::byte> task, std::span<std::byte> result,
                                 const Farm::MoveOn& move_on) {
        ASSERT_EQ(result.size(), kResultBytes);
        move_on();
        put(answer_to(number_in(task)), result);
        std::this_thread::sleep_for(std::chrono::microseconds(number_in(task) % 50));
        move_on();
      };
      const Farm::Own own = [&](std::span<std::byte> result, const Farm::MoveOn& move_on) {
        const Feed feed = next();
        move_on();
        if (feed == Feed::task) put(answer_to(given - 1), result);
        return feed;
      };
      done += farm.run(
          source, work, [&](auto result) { EXPECT_EQ(number_in(result), answer_to(taken++)); },
          c.own ? own : Farm::Own{});
      EXPECT_EQ(taken, comm.rank() == 0 ? tasks : 0);
    }
  });
  EXPECT_EQ(done, std::accumulate(std::begin(kTasks), std::end(kTasks), std::uint64_t{0}));
}

INSTANTIATE_TEST_SUITE_P(Groups, Farms,
                         testing::Values(FarmCase{1, 0, false}, FarmCase{1, 0, true}, FarmCase{2, 0, true},
                                         FarmCase{2, 5, false}, FarmCase{3, 6, true}, FarmCase{5, 7, false},
                                         FarmCase{8, 8, true}),
                         [](const auto& test) {
                           return "P" + std::to_string(test.param.ranks) + "_seed" +
                                  std::to_string(test.param.seed) + (test.param.own ? "_own" : "");
                         });

TEST(Farm, TheRootGoesOnWhileARankIsLateUpToALimit) {
  std::atomic<std::uint64_t> given{0};
  std::atomic<bool> full{false};
  ThreadGroup(2).run([&](Transport& transport) {
    Collectives comm(transport, stuck_after(milliseconds(30000)));
    Farm farm(comm, sizeof(std::uint64_t), sizeof(std::uint64_t));
    const std::uint64_t most = farm.most_under_way();
    const std::uint64_t tasks = 2 * most;
    std::uint64_t taken = 0;
    const std::uint64_t done = farm.run(
        [&](std::span<std::byte> room) -> Farm::Task {
          if (given == tasks) return {};
          put(given++, room);
          EXPECT_LE(given - taken, most);
          return {Feed::task, room};
        },
        [&](std::span<const std::byte> task, std::span<std::byte> result, const Farm::MoveOn&) {
          // The first that the other rank gets is done when the root cannot go on without it.
          while (comm.rank() == 1 && !full) {
            full = given >= most;
            std::this_thread::sleep_for(milliseconds(1));
          }
          put(answer_to(number_in(task)), result);
        },
        [&](auto result) { EXPECT_EQ(number_in(result), answer_to(taken++)); });
    if (comm.rank() == 0) {
      EXPECT_EQ(taken, tasks);
      EXPECT_GT(done, most / 2);
    }
  });
}

TEST(Farm, WhatLastsIsNotCopied) {
  ThreadGroup(3).run([&](Transport& transport) {
    Collectives comm(transport, stuck_after(milliseconds(30000)));
    std::vector<std::uint64_t> numbers(200);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto bytes = std::as_bytes(std::span(numbers));
    Farm farm(comm, sizeof(std::uint64_t), sizeof(std::uint64_t));
    std::size_t given = 0;
    std::uint64_t taken = 0;
    farm.run(
        [&](std::span<std::byte>) -> Farm::Task {
          if (given == numbers.size()) return {};
          return {Feed::task, bytes.subspan(sizeof(std::uint64_t) * given++, sizeof(std::uint64_t))};
        },
        [&](std::span<const std::byte> task, std::span<std::byte> result, const Farm::MoveOn&) {
          if (comm.rank() == 0) {
            EXPECT_EQ(task.data(), bytes.data() + sizeof(std::uint64_t) * number_in(task));
          }
          put(answer_to(number_in(task)), result);
        },
        [&](auto result) { EXPECT_EQ(number_in(result), answer_to(taken++)); });
    EXPECT_EQ(taken, comm.rank() == 0 ? numbers.size() : 0);
  });
}

TEST(Farm, AQuietSourceIsNoStuckRoot) {
  ThreadGroup(3).run([&](Transport& transport) {
    Collectives comm(transport, stuck_after(milliseconds(1000)));
    Farm farm(comm, 8, 8);
    const auto end = std::chrono::steady_clock::now() + milliseconds(2500);
    EXPECT_NO_THROW(farm.run(
        [&](std::span<std::byte>) -> Farm::Task {
          return {std::chrono::steady_clock::now() < end ? Feed::later : Feed::end};
        },
        [](auto, auto, const auto&) {}, [](auto) {}));
  });
}

TEST(Farm, ARankThatHangsIsNamed) {
  std::atomic<bool> found{false};
  std::string said;
  EXPECT_THROW(ThreadGroup(3).run([&](Transport& transport) {
    Collectives comm(transport, stuck_after(milliseconds(1000)));
    Farm farm(comm, 8, 8);
    try {
      farm.run(
          [&](std::span<std::byte> room) {
            return Farm::Task{Feed::task, room};
          },
          [&](auto, auto, const auto&) {
            while (comm.rank() == 2 && !found) std::this_thread::sleep_for(milliseconds(1));
          },
          [](auto) {});
    } catch (const StuckError& error) {
      if (comm.rank() == 0) said = error.what();
      found = true;
      throw;
    }
  }),
               std::runtime_error);
  EXPECT_THAT(said, testing::HasSubstr("rank 0 waits for the results of rank 2"));
}

TEST(Farm, WhatIsThrownComesOut) {
  for (const int where : {0, 1, 2}) {  // source, work, sink
    const auto fail = [where](int here) {
      if (here == where) throw std::domain_error("as asked");
    };
    EXPECT_THROW(ThreadGroup(2).run([&](Transport& transport) {
      Collectives comm(transport, stuck_after(milliseconds(30000)));
      Farm farm(comm, 8, 8);
      int given = 0;
      farm.run(
          [&](std::span<std::byte> room) -> Farm::Task {
            fail(0);
            return {given++ < 9 ? Feed::task : Feed::end, room};
          },
          [&](auto, auto, const auto&) { fail(1); }, [&](auto) { fail(2); });
    }),
                 std::exception);
  }
}

TEST(BufferPool, LendsWhatCameBackLast) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{5} << 20U}) {
    BufferPool pool(bytes);
    std::byte* const a = pool.lend();
    std::byte* const b = pool.lend();
    EXPECT_NE(a, b);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 64, 0U);
    pool.give_back(a);
    pool.give_back(b);
    EXPECT_EQ(pool.lend(), b);
    EXPECT_EQ(pool.lend(), a);
    EXPECT_EQ(pool.size(), 2U);
  }
}

}  // namespace
}  // namespace papfft::comm
