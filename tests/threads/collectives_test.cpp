// SPDX-License-Identifier: MIT
#include "papfft/collectives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <complex>
#include <numeric>
#include <thread>

#include "comm/schedule/core/registry.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

using testing::HasSubstr;

class OnThreads : public testing::TestWithParam<Group> {
 protected:
  /// Every algorithm of an operation and every root.
  void for_all(Operation operation, const std::function<void(Collectives&, int, std::string_view)>& body) {
    ThreadGroup(GetParam().ranks, GetParam().seed, {}, GetParam().piped_from_bytes)
        .run([&](Transport& transport) {
          Collectives comm(transport, quick());
          for (int root = 0; root < comm.size(); ++root) {
            body(comm, root, "auto");
            for (const Algorithm* algorithm : algorithms()) {
              if (algorithm->operation == operation) body(comm, root, algorithm->name);
            }
          }
        });
  }
};

TEST_P(OnThreads, ScatterDeliversEachBlock) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::scatter, [&](Collectives& comm, int root, std::string_view algorithm) {
    const auto p = static_cast<std::size_t>(comm.size());
    const std::vector<Triple> send = comm.rank() == root ? ramp(7, n * p) : std::vector<Triple>{};
    std::vector<Triple> recv(n);
    comm.scatter<Triple>(send, recv, root, algorithm);
    EXPECT_EQ(recv, ramp(7 + static_cast<std::size_t>(comm.rank()) * n, n)) << algorithm << " root " << root;
  });
}

TEST_P(OnThreads, GatherCollectsEachBlock) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::gather, [&](Collectives& comm, int root, std::string_view algorithm) {
    const auto p = static_cast<std::size_t>(comm.size());
    std::vector<Triple> recv(comm.rank() == root ? n * p : 0);
    comm.gather<Triple>(ramp(3 + static_cast<std::size_t>(comm.rank()) * n, n), recv, root, algorithm);
    if (comm.rank() == root) {
      EXPECT_EQ(recv, ramp(3, n * p)) << algorithm << " root " << root;
    }
  });
}

TEST_P(OnThreads, BcastReachesAll) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::bcast, [&](Collectives& comm, int root, std::string_view algorithm) {
    std::vector<Triple> data = comm.rank() == root ? ramp(11, n) : std::vector<Triple>(n);
    comm.bcast<Triple>(data, root, algorithm);
    EXPECT_EQ(data, ramp(11, n)) << algorithm << " root " << root;
  });
}

TEST_P(OnThreads, ReduceCountsEachContributionOnce) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::reduce, [&](Collectives& comm, int root, std::string_view algorithm) {
    const std::vector<std::uint64_t> send = contributions(comm.rank(), n);
    const std::vector<std::uint64_t> before = send;
    std::vector<std::uint64_t> recv(comm.rank() == root ? n : 0);
    comm.reduce<std::uint64_t>(send, recv, std::plus<>{}, root, algorithm);
    EXPECT_EQ(send, before) << "the caller's input changed";
    if (comm.rank() != root) return;
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(recv[i], sum_of_all(comm.size(), i)) << algorithm << " root " << root << " element " << i;
    }
  });
}

/// Matrix product modulo 2^8: associative, not commutative.
struct Matrix {
  std::array<std::uint8_t, 4> m;
  friend bool operator==(const Matrix&, const Matrix&) = default;
};
struct Product {
  Matrix operator()(const Matrix& a, const Matrix& b) const {
    const auto dot = [&](std::size_t r, std::size_t c) {
      return static_cast<std::uint8_t>(a.m[2 * r] * b.m[c] + a.m[2 * r + 1] * b.m[2 + c]);
    };
    return {{dot(0, 0), dot(0, 1), dot(1, 0), dot(1, 1)}};
  }
};

}  // namespace

template <>
inline constexpr bool is_commutative<Product> = false;

namespace {

TEST_P(OnThreads, ReduceKeepsTheOrderOfANonCommutativeOperation) {
  const std::size_t n = GetParam().elements;
  const auto contribution = [](int rank, std::size_t i) {
    return Matrix{{static_cast<std::uint8_t>(rank + 1), static_cast<std::uint8_t>(i), 3,
                   static_cast<std::uint8_t>(2 * rank + 1)}};
  };
  ThreadGroup(GetParam().ranks, GetParam().seed, {}, GetParam().piped_from_bytes)
      .run([&](Transport& transport) {
        Collectives comm(transport, quick());
        for (int root = 0; root < comm.size(); ++root) {
          std::vector<Matrix> send(n);
          for (std::size_t i = 0; i < n; ++i) send[i] = contribution(comm.rank(), i);
          std::vector<Matrix> recv(comm.rank() == root ? n : 0);
          comm.reduce<Matrix>(send, recv, Product{}, root);
          if (comm.rank() != root) continue;
          for (std::size_t i = 0; i < n; ++i) {
            Matrix expected = contribution(0, i);
            for (int r = 1; r < comm.size(); ++r) expected = Product{}(expected, contribution(r, i));
            ASSERT_EQ(recv[i], expected) << "root " << root;
          }
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Groups, OnThreads,
                         testing::Values(Group{1, 5, 0}, Group{2, 0, 0}, Group{2, 1000, 1}, Group{3, 1, 2},
                                         Group{4, 17, 3}, Group{5, 20000, 4}, Group{7, 3, 5},
                                         Group{8, papfft::test::kSanitized ? 7001 : 70001, 6},
                                         Group{13, 129, 7}, Group{2, 150003, 8, 1}, Group{5, 1001, 9, 1},
                                         Group{6, 20000, 0, 1}),
                         &Group::name);

TEST(Collectives, RunInPlace) {
  ThreadGroup(4).run([](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<int> all(comm.rank() == 1 ? 4 : 1, 10 + comm.rank());
    const std::span<int> whole(all);
    const std::span<int> own = comm.rank() == 1 ? whole.subspan(1, 1) : whole;
    comm.gather<int>(own, whole, 1, "lin");
    if (comm.rank() == 1) {
      EXPECT_EQ(all, (std::vector<int>{10, 11, 12, 13}));
    }
    for (int& x : all) x *= 2;
    comm.scatter<int>(whole, own, 1, "bnom");
    EXPECT_EQ(own[0], 20 + 2 * comm.rank());
    comm.reduce<int>(own, own, std::plus<>{}, 1);
    if (comm.rank() == 1) {
      EXPECT_EQ(own[0], 20 + 22 + 24 + 26);
    }
  });
}

TEST(Collectives, RefuseWrongArgumentsBeforeAnyMessage) {
  ThreadGroup(2).run([](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<int> three(3);
    std::vector<int> one(1);
    EXPECT_EQ(refusal([&] { comm.bcast<int>(one, 2); }), "bcast: no rank 2 among 2");
    EXPECT_THAT(refusal([&] { comm.bcast<int>(one, 0, "carrier-pigeon"); }), HasSubstr("known: bnom"));
    if (comm.rank() == 0) {
      EXPECT_EQ(refusal([&] { comm.scatter<int>(three, one, 0); }),
                "scatter: the root's whole buffer has 12 bytes instead of 8");
    }
    EXPECT_THAT(refusal([&] {
                  comm.call(comm.prepared({.operation = Operation::bcast,
                                           .element_bytes = 3,
                                           .send = std::as_bytes(std::span(one)),
                                           .recv = std::as_writable_bytes(std::span(one))}));
                }),
                HasSubstr("no whole number of elements"));
  });
}

TEST(Collectives, ASizeMismatchIsAnErrorThatNamesBothRanks) {
  try {
    ThreadGroup(2).run([](Transport& transport) {
      Collectives comm(transport, quick());
      std::vector<char> data(comm.rank() == 0 ? 8 : 4);
      comm.bcast<char>(data, 0);
    });
    FAIL();
  } catch (const TransportError& e) {
    EXPECT_THAT(e.what(), HasSubstr("rank 1 receiving 4 bytes from rank 0: got 8"));
  }
}

TEST(Collectives, DisagreeingArgumentsAreFoundOnEveryRankBeforeTheData) {
  std::atomic<int> thrown{0};
  ThreadGroup(3).run([&](Transport& transport) {
    Options options = quick();
    options.check_arguments = true;
    Collectives comm(transport, options);
    std::vector<char> data(8);
    comm.bcast<char>(data, 1);
    try {
      comm.bcast<char>(data, comm.rank() == 2 ? 1 : 0);
    } catch (const MismatchError& e) {
      ++thrown;
      EXPECT_STREQ(e.what(),
                   "the ranks do not agree: rank 0 calls bcast bnom, root 0, 8 bytes in elements of 1; "
                   "rank 2 calls bcast bnom, root 1, 8 bytes in elements of 1");
    }
    comm.barrier();
  });
  EXPECT_EQ(thrown, 3);
}

TEST(Collectives, AStuckCallSaysWhoWaitsForWhom) {
  std::mutex mutex;
  std::vector<std::string> spoken;
  ThreadGroup(4).run([&](Transport& transport) {
    Options options;
    options.stuck_after = std::chrono::milliseconds(100);
    Collectives comm(transport, options);
    std::vector<double> data(10);
    if (comm.rank() == 0) {  // the root never comes
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      return;
    }
    try {
      comm.bcast<double>(data, 0, "bnom");
      ADD_FAILURE() << "came back";
    } catch (const StuckError& e) {
      const std::lock_guard lock(mutex);
      if (e.speaks()) spoken.emplace_back(e.what());
    }
  });
  ASSERT_EQ(spoken.size(), 1U);
  EXPECT_THAT(spoken[0],
              HasSubstr("rank 1 waits for rank 0 (recv <-0 [0,1), 80 bytes) in call 1, bcast bnom, root 0"));
  EXPECT_THAT(spoken[0], HasSubstr("rank 3 waits for rank 2"));
  EXPECT_THAT(spoken[0], HasSubstr("not in a stuck call: rank 0"));
}

// Each becomes stuck when the one before has told everybody already, and was not heard by it.
TEST(Collectives, OneSpeaksAlsoIfTheyBecomeStuckOneAfterAnother) {
  constexpr std::chrono::milliseconds kApart{500};  // more than a stuck rank listens
  std::atomic<int> stuck{0};
  std::atomic<int> spoken{0};
  ThreadGroup(4).run([&](Transport& transport) {
    Options options;
    options.stuck_after = std::chrono::milliseconds(50);
    Collectives comm(transport, options);
    std::vector<double> data(10);
    if (comm.rank() != 0) {                                     // the root never comes
      std::this_thread::sleep_for(kApart * (3 - comm.rank()));  // the lowest is the last
      try {
        comm.bcast<double>(data, 0, "bnom");
        ADD_FAILURE() << "came back";
      } catch (const StuckError& e) {
        if (e.speaks()) ++spoken;
      }
      ++stuck;
    }
    while (stuck < 3) std::this_thread::sleep_for(std::chrono::milliseconds(10));  // the words of all stay
  });
  EXPECT_EQ(stuck, 3);
  EXPECT_EQ(spoken, 1);
}

// Any operation by its row, as the typed calls have it.
TEST(Collectives, TakeAnyOperationTyped) {
  ThreadGroup(3).run([](Transport& transport) {
    Collectives comm(transport, quick());
    const int me = comm.rank();
    const std::vector<int> mine = block(7, me, 5);
    std::vector<int> all(me == 1 ? 15 : 0);
    comm.collective<int>(Operation::gather, mine, all, 1);
    EXPECT_EQ(all, me == 1 ? whole(7, 3, 5) : std::vector<int>{});

    const std::array<std::size_t, 3> counts = {5, 0, 2};
    std::vector<int> together(7);
    comm.collective<int>(Operation::allgatherv, std::span(mine).first(counts[static_cast<std::size_t>(me)]),
                         together, 0, "auto", counts);
    EXPECT_EQ(std::vector(together.begin() + 5, together.end()), block(7, 2, 2));

    std::vector<int> part(counts[static_cast<std::size_t>(me)]);
    comm.reduction<int>(Operation::reduce_scatter, std::vector<int>(7, me), part, std::plus<>{}, 0, "auto",
                        counts);
    EXPECT_EQ(part, std::vector<int>(part.size(), 3));
    EXPECT_THROW(comm.collective<int>(Operation::gather, mine, all, 1, "auto", counts),
                 std::invalid_argument);
  });
}

TEST(Collectives, CountTheBytesTheySend) {
  ThreadGroup(4).run([](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<char> whole(comm.rank() == 0 ? 400 : 0);
    std::vector<char> block(100);
    comm.scatter<char>(whole, block, 0, "bnom");
    const std::array<std::uint64_t, 4> expected = {300, 0, 100, 0};
    EXPECT_EQ(comm.last_call().bytes_sent, expected[static_cast<std::size_t>(comm.rank())]);
    EXPECT_EQ(comm.last_call().algorithm, "bnom");
  });
}

}  // namespace
}  // namespace papfft::comm
