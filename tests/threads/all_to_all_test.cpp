// SPDX-License-Identifier: MIT
// Allgather, allgatherv, allreduce and reduce_scatter with ranks as threads, by every algorithm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "comm/schedule/core/registry.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/collectives.hpp"
#include "papfft/session.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

using testing::HasSubstr;

/// Sizes with zeros: regular but for one, in turns 0 1 2, all with one rank, none at all.
std::vector<std::vector<std::size_t>> count_patterns(int ranks, std::size_t n) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::vector<std::size_t>> result(4, std::vector<std::size_t>(p, 0));
  for (std::size_t r = 0; r < p; ++r) {
    result[0][r] = r == p / 2 ? n + 1 : n;
    result[1][r] = r % 3 * n;
  }
  result[2][p - 1] = 2 * n + 1;
  return result;
}

std::size_t offset_of(std::span<const std::size_t> counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
}

class AllToAllOnThreads : public GroupTest {};

TEST_P(AllToAllOnThreads, AllgatherCollectsEachBlockEverywhere) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::allgather, [&](Collectives& comm, std::string_view algorithm) {
    const auto p = static_cast<std::size_t>(comm.size());
    const auto self = static_cast<std::size_t>(comm.rank());
    std::vector<Triple> recv(n * p);
    comm.allgather<Triple>(ramp(5 + self * n, n), recv, algorithm);
    EXPECT_EQ(recv, ramp(5, n * p)) << algorithm;
    std::vector<Triple> whole(n * p);
    std::ranges::copy(ramp(9 + self * n, n), whole.begin() + static_cast<std::ptrdiff_t>(self * n));
    comm.allgather<Triple>(std::span(whole).subspan(self * n, n), whole, algorithm);
    EXPECT_EQ(whole, ramp(9, n * p)) << algorithm << " in place";
  });
}

TEST_P(AllToAllOnThreads, AllgathervTakesBlocksOfAnySize) {
  for_all(Operation::allgatherv, [&](Collectives& comm, std::string_view algorithm) {
    for (const auto& counts : count_patterns(comm.size(), GetParam().elements)) {
      const std::size_t total = offset_of(counts, comm.size());
      std::vector<Triple> recv(total);
      comm.allgatherv<Triple>(
          ramp(5 + offset_of(counts, comm.rank()), counts[static_cast<std::size_t>(comm.rank())]), recv,
          counts, algorithm);
      EXPECT_EQ(recv, ramp(5, total)) << algorithm;
    }
  });
}

TEST_P(AllToAllOnThreads, AllreduceCountsEachContributionOnceEverywhere) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::allreduce, [&](Collectives& comm, std::string_view algorithm) {
    const auto send = contributions(comm.rank(), n);
    auto recv = std::vector<std::uint64_t>(n);
    comm.allreduce<std::uint64_t>(send, recv, std::plus<>{}, algorithm);
    EXPECT_EQ(send, contributions(comm.rank(), n)) << algorithm << ": the caller's input changed";
    auto in_place = send;
    comm.allreduce<std::uint64_t>(in_place, in_place, std::plus<>{}, algorithm);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(recv[i], sum_of_all(comm.size(), i)) << algorithm << " element " << i;
      ASSERT_EQ(in_place[i], recv[i]) << algorithm << " in place, element " << i;
    }
  });
}

TEST_P(AllToAllOnThreads, ReduceScatterGivesEachItsBlockOfTheSum) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::reduce_scatter, [&](Collectives& comm, std::string_view algorithm) {
    const auto send = contributions(comm.rank(), n * static_cast<std::size_t>(comm.size()));
    std::vector<std::uint64_t> recv(n);
    comm.reduce_scatter<std::uint64_t>(send, recv, std::plus<>{}, algorithm);
    EXPECT_EQ(send, contributions(comm.rank(), send.size())) << algorithm << ": the caller's input changed";
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(recv[i], sum_of_all(comm.size(), static_cast<std::size_t>(comm.rank()) * n + i)) << algorithm;
    }
    for (const auto& counts : count_patterns(comm.size(), n)) {
      const auto all = contributions(comm.rank(), offset_of(counts, comm.size()));
      std::vector<std::uint64_t> mine(counts[static_cast<std::size_t>(comm.rank())]);
      comm.reduce_scatter<std::uint64_t>(all, mine, counts, std::plus<>{}, algorithm);
      for (std::size_t i = 0; i < mine.size(); ++i) {
        ASSERT_EQ(mine[i], sum_of_all(comm.size(), offset_of(counts, comm.rank()) + i)) << algorithm;
      }
    }
  });
}

/// Keeps the last non-zero: associative, not commutative.
struct KeepLast {
  int operator()(int a, int b) const { return b != 0 ? b : a; }
};

}  // namespace

template <>
inline constexpr bool is_commutative<KeepLast> = false;

namespace {

TEST_P(AllToAllOnThreads, KeepTheOrderOfANonCommutativeOperation) {
  const std::size_t n = GetParam().elements;
  ThreadGroup(GetParam().ranks, GetParam().seed, {}, GetParam().piped_from_bytes)
      .run([&](Transport& transport) {
        Collectives comm(transport, quick());
        const int p = comm.size();
        const auto value = [](int rank, std::size_t i) {
          return (static_cast<std::size_t>(rank) + i) % 3 == 0 ? 0 : rank + 1;
        };
        const auto expected = [&](std::size_t i) {
          int last = 0;
          for (int r = 0; r < p; ++r) last = KeepLast{}(last, value(r, i));
          return last;
        };
        std::vector<int> send(n * static_cast<std::size_t>(p));
        for (std::size_t i = 0; i < send.size(); ++i) send[i] = value(comm.rank(), i);
        std::vector<int> all(send.size());
        comm.allreduce<int>(send, all, KeepLast{});
        std::vector<int> mine(n);
        comm.reduce_scatter<int>(send, mine, KeepLast{});
        for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], expected(i));
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(mine[i], expected(static_cast<std::size_t>(comm.rank()) * n + i));
        }
        EXPECT_THROW(comm.allreduce<int>(send, all, KeepLast{}, "circulant"), std::invalid_argument);
      });
}

INSTANTIATE_TEST_SUITE_P(Groups, AllToAllOnThreads,
                         testing::Values(Group{1, 5, 0}, Group{2, 0, 0}, Group{2, 1000, 1}, Group{3, 1, 2},
                                         Group{4, 17, 3}, Group{5, 20000, 4}, Group{7, 3, 5},
                                         Group{8, 9001, 6}, Group{13, 129, 7}, Group{2, 150003, 8, 1},
                                         Group{5, 1001, 9, 1}),
                         &Group::name);

// Floating-point sums in different orders differ; all ranks must still get the same bits.
TEST(Allreduce, GivesAllRanksTheSameBitsExceptByCensus) {
  constexpr std::size_t n = 1003;
  for (const int p : {3, 6, 8}) {
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->operation != Operation::allreduce || algorithm->name == "census") continue;
      std::vector<std::vector<float>> results(static_cast<std::size_t>(p));
      ThreadGroup(p).run([&](Transport& transport) {
        Collectives comm(transport, quick());
        std::vector<float> data(n);
        for (std::size_t i = 0; i < n; ++i) {
          data[i] =
              1.0F / static_cast<float>(1 + (i * 37 + static_cast<std::size_t>(comm.rank()) * 101) % 97);
        }
        comm.allreduce<float>(data, data, std::plus<>{}, algorithm->name);
        results[static_cast<std::size_t>(comm.rank())] = std::move(data);
      });
      for (const auto& result : results) EXPECT_EQ(result, results[0]) << algorithm->name << " P=" << p;
    }
  }
}

TEST(AllToAll, RefuseWrongSizesBeforeAnyMessage) {
  ThreadGroup(2).run([](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<int> three(3);
    std::vector<int> one(1);
    EXPECT_EQ(refusal([&] { comm.allgather<int>(one, three); }),
              "allgather: the whole buffer has 12 bytes instead of 8");
    EXPECT_EQ(refusal([&] { comm.allreduce<int>(three, one, std::plus<>{}); }),
              "allreduce: the result has 4 bytes instead of 12");
    EXPECT_EQ(refusal([&] { comm.reduce_scatter<int>(three, one, std::plus<>{}); }),
              "reduce_scatter: the whole buffer has 12 bytes instead of 8");
    const std::vector<std::size_t> counts = {1, 2, 3};
    EXPECT_EQ(refusal([&] { comm.allgatherv<int>(one, three, counts); }),
              "allgatherv: 3 block sizes for 2 ranks");
    const std::vector<std::size_t> two = {2, 1};
    if (comm.rank() == 0) {
      EXPECT_EQ(refusal([&] { comm.allgatherv<int>(one, three, two); }),
                "allgatherv: this rank's block has 4 bytes instead of 8");
    }
    EXPECT_THAT(refusal([&] { comm.allreduce<int>(one, one, std::plus<>{}, "magic"); }),
                HasSubstr("known: census, circulant"));
  });
}

TEST(AllToAll, BlockSizesThatDifferBetweenRanksAreFoundBeforeTheData) {
  std::atomic<int> thrown{0};
  ThreadGroup(3).run([&](Transport& transport) {
    Options options = quick();
    options.check_arguments = true;
    Collectives comm(transport, options);
    std::vector<std::size_t> counts = {1, 1, 1};
    std::vector<char> one(1);
    std::vector<char> whole(3);
    comm.allgatherv<char>(one, whole, counts);
    if (comm.rank() == 1) counts = {2, 1, 0};  // as many in all
    try {
      comm.allgatherv<char>(one, whole, counts);
    } catch (const MismatchError& e) {
      ++thrown;
      EXPECT_THAT(e.what(),
                  HasSubstr("rank 1 calls allgatherv circulant-q, root 0, 3 bytes in elements of 1, "
                            "block sizes #"));
    }
  });
  EXPECT_EQ(thrown, 3);
}

/// The operation's algorithms, each also in the background.
std::vector<std::string> in_sessions(Operation operation) {
  std::vector<std::string> result = {"auto"};
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation != operation) continue;
    result.emplace_back(algorithm->name);
    result.push_back("b" + result.back());
  }
  return result;
}

// What is planned by arrivals is another schedule in each call, and what begins early has messages for a rank before that comes.
TEST(AllToAll, EveryAlgorithmWorksInASessionWhoseRanksComeApart) {
  constexpr int kRanks = 5;
  constexpr std::size_t kElements = 20001;
  std::atomic<int> planned{0};
  std::atomic<int> begun{0};
  ThreadGroup(kRanks, 3).run([&](Transport& transport) {
    Session session(transport, quick(), {});
    const int me = session.rank();
    const auto come_apart = [&](int call) {
      const auto half = std::chrono::milliseconds(4 + 2 * ((2 * me + call) % kRanks));
      session.processing_start();
      std::this_thread::sleep_for(half);
      session.edge(0.5);
      std::this_thread::sleep_for(half);
      session.processing_end();
    };
    for (const std::string& algorithm : in_sessions(Operation::allgather)) {
      for (int call = 0; call < 4; ++call) {
        come_apart(call);
        std::vector<int> all(kRanks * kElements);
        session.allgather<int>(block(call, me, kElements), all, algorithm);
        ASSERT_EQ(all, whole(call, kRanks, kElements)) << algorithm << ", call " << call;
      }
    }
    for (const std::string& algorithm : in_sessions(Operation::allreduce)) {
      for (int call = 0; call < 4; ++call) {
        come_apart(call);
        std::vector<std::uint64_t> sum(kElements);
        session.allreduce<std::uint64_t>(contributions(me, kElements), sum, std::plus<>{}, algorithm);
        for (std::size_t i = 0; i < kElements; ++i)
          ASSERT_EQ(sum[i], sum_of_all(kRanks, i)) << algorithm << ", call " << call;
      }
    }
    planned += static_cast<int>(session.statistics().planned);
    begun += static_cast<int>(session.statistics().begun_early);
    session.close();
  });
  EXPECT_GT(planned, 0);
  EXPECT_GT(begun, 0);
}

TEST(AllToAll, WorkInASessionByArrivalsAndInTheBackground) {
  std::atomic<int> planned{0};
  ThreadGroup(4).run([&](Transport& transport) {
    Session session(transport, quick(), {});
    constexpr std::size_t n = 30000;
    for (int iteration = 0; iteration < 8; ++iteration) {
      session.processing_start();
      std::this_thread::sleep_for(std::chrono::milliseconds(session.rank() == 2 ? 20 : 4));
      session.edge(0.5);
      std::this_thread::sleep_for(std::chrono::milliseconds(session.rank() == 2 ? 20 : 4));
      session.processing_end();
      auto data = contributions(session.rank() + iteration % 3, n);
      session.allreduce<std::uint64_t>(data, data, std::plus<>{}, "late");
      // Blocks that were received and sent on before this rank came must outlive its coming.
      std::vector<std::uint64_t> whole(4 * n);
      session.allgather<std::uint64_t>(contributions(session.rank(), n), whole,
                                       iteration % 2 == 0 ? "bring" : "bcirculant");
      for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t sum = 0;
        for (int r = 0; r < 4; ++r) sum += contribution(r + iteration % 3, i);
        ASSERT_EQ(data[i], sum) << "iteration " << iteration;
      }
      for (std::size_t i = 0; i < whole.size(); ++i) {
        ASSERT_EQ(whole[i], contribution(static_cast<int>(i / n), i % n)) << "iteration " << iteration;
      }
    }
    planned += static_cast<int>(session.statistics().planned);
    session.close();
  });
  EXPECT_GT(planned, 0) << "the straggler was never told from the others";
}

}  // namespace
}  // namespace papfft::comm
