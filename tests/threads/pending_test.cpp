// SPDX-License-Identifier: MIT
// Collective calls that are started, go on beside their callers and are waited for later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <numeric>
#include <thread>

#include "comm/schedule/core/registry.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/session.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

using std::chrono::milliseconds;

/// Runs body(collectives) with a background thread or without.
class PendingOnThreads : public testing::TestWithParam<SessionGroup> {
 protected:
  void for_each_rank(const std::function<void(Collectives&)>& body) {
    ThreadGroup(GetParam().ranks, GetParam().seed).run([&](Transport& transport) {
      if (GetParam().background) {
        Session session(transport, quick(), {});
        body(session);
        session.close();
      } else {
        Collectives comm(transport, quick());
        body(comm);
      }
    });
  }
};

// Of whatever operation: the arguments follow from its row.
TEST_P(PendingOnThreads, EveryAlgorithmGivesTheResultOfTheBlockingCall) {
  const std::size_t n = GetParam().elements;
  for_each_rank([&](Collectives& comm) {
    const int p = comm.size();
    const int me = comm.rank();
    const ElementReducer<int, std::plus<>> sum({}, true);
    int call = 0;
    for (const Algorithm* algorithm : algorithms()) {
      const OperationTraits& row = traits(algorithm->operation);
      const int root = row.is_rooted() ? ++call % p : 0;
      const auto words = [&](Holder holder) {
        if (holder == Holder::root && me != root) return std::size_t{0};
        return row.is_per_rank() && holder != Holder::owner ? n * static_cast<std::size_t>(p) : n;
      };
      const std::vector<int> input = block(call, me, words(row.before));
      std::vector<int> blocking(words(row.after));
      if (row.operation == Operation::bcast && me == root) blocking = input;
      std::vector<int> started = blocking;
      const std::vector<std::size_t> sizes(row.sizes_are_own ? static_cast<std::size_t>(p) : 0,
                                           n * sizeof(int));
      const auto arguments = [&](std::vector<int>& result) {
        return comm.prepared({.operation = row.operation,
                              .element_bytes = sizeof(int),
                              .root = root,
                              .algorithm = algorithm->name,
                              .send = std::as_bytes(std::span(input)),
                              .recv = std::as_writable_bytes(std::span(result)),
                              .reducer = row.reduces ? &sum : nullptr,
                              .block_bytes = sizes,
                              .recv_block_bytes = sizes});
      };
      comm.call(arguments(blocking));
      comm.start(arguments(started)).wait();
      ASSERT_EQ(started, blocking) << row.name << ' ' << algorithm->name;
    }
  });
}

TEST_P(PendingOnThreads, ManyAreUnderWayAndEndInAnyOrder) {
  const std::size_t n = GetParam().elements;
  constexpr int kCalls = 6;
  for_each_rank([&](Collectives& comm) {
    const int p = comm.size();
    const int me = comm.rank();
    std::vector<std::vector<int>> all(kCalls);
    std::vector<std::vector<int>> got(kCalls, std::vector<int>(n));
    std::deque<Pending> pending;
    for (int c = 0; c < kCalls; ++c) {
      if (me == 0) all[static_cast<std::size_t>(c)] = whole(c, p, n);
      pending.push_back(comm.iscatter<int>(all[static_cast<std::size_t>(c)], got[static_cast<std::size_t>(c)],
                                           0, c % 2 == 0 ? "lin" : "bnom"));
    }
    // A blocking call in between, while nobody waits for those.
    int sum = 0;
    const int one = 1;
    comm.reduce<int>(std::span(&one, 1), std::span(&sum, me == 0 ? 1 : 0), std::plus<>{}, 0);
    EXPECT_EQ(sum, me == 0 ? p : 0);
    for (int k = 0; k < kCalls; ++k) {  // each rank waits in an order of its own
      const auto c = static_cast<std::size_t>((k * 5 + me) % kCalls);
      pending[c].wait();
      EXPECT_TRUE(pending[c].done());
      EXPECT_EQ(got[c], block(static_cast<int>(c), me, n));
    }
  });
}

TEST_P(PendingOnThreads, DifferentOperationsNeedNoCommonOrder) {
  const std::size_t n = GetParam().elements;
  for_each_rank([&](Collectives& comm) {
    const int p = comm.size();
    const int me = comm.rank();
    for (int round = 0; round < 5; ++round) {
      const std::vector<int> mine = block(round, me, n);
      const std::vector<int> out = me == 0 ? whole(100 + round, p, n) : std::vector<int>{};
      std::vector<int> in(n);
      std::vector<int> back(out.size());
      Pending scatter;
      Pending gather;
      const auto start_scatter = [&] { scatter = comm.iscatter<int>(out, in, 0); };
      const auto start_gather = [&] {
        gather = comm.igather<int>(mine, back, 0, round % 2 ? "credit" : "ls");
      };
      if ((me + round) % 2 == 0) {
        start_scatter();
        start_gather();
        scatter.wait();
        gather.wait();
      } else {
        start_gather();
        start_scatter();
        gather.wait();
        scatter.wait();
      }
      EXPECT_EQ(in, block(100 + round, me, n));
      if (me == 0) {
        EXPECT_EQ(back, whole(round, p, n));
      }
    }
  });
}

TEST_P(PendingOnThreads, TheRootsOwnBlockInItsPlaceIsLeftAlone) {
  const std::size_t n = GetParam().elements;
  for (const Algorithm* algorithm : algorithms()) {
    const bool scatters = algorithm->operation == Operation::scatter;
    if (!scatters && algorithm->operation != Operation::gather) continue;
    for_each_rank([&](Collectives& comm) {
      const int p = comm.size();
      const int me = comm.rank();
      std::vector<int> all(me == 0 ? n * static_cast<std::size_t>(p) : 0);
      std::vector<int> mine = block(1, me, n);
      if (scatters && me == 0) all = whole(1, p, n);
      std::span<int> own = me == 0 ? std::span(all).first(n) : std::span(mine);
      Pending call = scatters ? comm.iscatter<int>(all, own, 0, algorithm->name)
                              : comm.igather<int>(own, all, 0, algorithm->name);
      const std::vector<int> other = block(2, 0, n);
      if (me == 0) std::ranges::copy(other, own.begin());  // while the others' blocks are under way
      call.wait();
      if (me != 0) {
        EXPECT_EQ(mine, block(1, me, n)) << algorithm->name;
        return;
      }
      EXPECT_TRUE(std::ranges::equal(own, other)) << algorithm->name;
      const std::vector<int> expected = whole(1, p, n);
      EXPECT_TRUE(std::equal(all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                             expected.begin() + static_cast<std::ptrdiff_t>(n)))
          << algorithm->name;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, PendingOnThreads,
                         testing::Values(SessionGroup{1, 10, 0, false}, SessionGroup{2, 1000, 1, true},
                                         SessionGroup{3, 20000, 2, false}, SessionGroup{5, 20000, 3, true},
                                         SessionGroup{8, 300, 4, false}, SessionGroup{4, 30000, 5, true}),
                         SessionGroup::name);

TEST(Pending, TheBackgroundThreadMovesItOnWhileAllCompute) {
  ThreadGroup(3, 7).run([](Transport& transport) {
    Session session(transport, quick(), {});
    const std::size_t n = 30000;
    const std::vector<int> out = session.rank() == 0 ? whole(3, 3, n) : std::vector<int>{};
    std::vector<int> in(n);
    Pending call = session.iscatter<int>(out, in, 0);
    while (!call.done()) std::this_thread::sleep_for(milliseconds(1));  // done() itself moves nothing
    EXPECT_EQ(in, block(3, session.rank(), n));
    session.close();
  });
}

TEST(Pending, DestroyingOneWaitsForIt) {
  ThreadGroup(3, 8).run([](Transport& transport) {
    Collectives comm(transport, quick());
    const std::size_t n = 5000;
    const std::vector<int> out = comm.rank() == 0 ? whole(4, 3, n) : std::vector<int>{};
    std::vector<int> first(n);
    std::vector<int> second(n);
    {
      Pending call = comm.iscatter<int>(out, first, 0);
      call = comm.iscatter<int>(out, second, 0);  // and so does replacing one
      EXPECT_EQ(first, block(4, comm.rank(), n));
    }
    EXPECT_EQ(second, block(4, comm.rank(), n));
  });
}

/// At most so long that a failure says why.
void wait_for(const std::atomic<bool>& flag) {
  for (int ms = 0; ms < 60000 && !flag; ++ms) std::this_thread::sleep_for(milliseconds(1));
}

/// Calls take turns at their root, but no rank may wait for a call of which another says that its turn has not come.
TEST(Pending, ALateRankMayWaitForTheNewestCallOfTheOthers) {
  constexpr std::size_t kCalls = 6;
  const std::size_t n = 2000;
  for (const bool scatters : {true, false}) {
    std::atomic<bool> has_newest = false;
    ThreadGroup(5, 10).run([&](Transport& transport) {
      Collectives comm(transport, quick());
      const int me = comm.rank();
      std::array<std::vector<int>, kCalls> all;
      std::array<std::vector<int>, kCalls> own;
      std::array<Pending, kCalls> pending;
      for (std::size_t c = 0; c < kCalls; ++c) {
        all[c] = whole(static_cast<int>(c), 5, n);
        own[c] = block(static_cast<int>(c), me, n);
      }
      const auto out = all;
      const auto mine = own;
      if (me == 0) (scatters ? own : all) = {};
      if (me > 1) wait_for(has_newest);
      for (std::size_t c = 0; c < kCalls; ++c) {
        own[c].resize(n);
        all[c].resize(5 * n);
        pending[c] = scatters ? comm.iscatter<int>(all[c], own[c], 0, "lin")
                              : comm.igather<int>(own[c], all[c], 0, "lin");
      }
      if (me == 1) {
        pending.back().wait();
        has_newest = true;
      }
      for (Pending& call : pending) call.wait();
      EXPECT_EQ(own, mine);
      if (me == 0) {
        EXPECT_EQ(all, out);
      }
    });
  }
}

/// As with ranks that are late each in a call of its own.
TEST(Pending, ANewerGatherBeginsWhenTheOlderWaitsForOneRank) {
  const std::size_t n = 2000;
  std::atomic<bool> has_newer = false;
  ThreadGroup(4, 11).run([&](Transport& transport) {
    Collectives comm(transport, quick());
    const int me = comm.rank();
    const std::vector<int> mine = block(1, me, n);
    std::vector<int> first(me == 0 ? 4 * n : 0);
    std::vector<int> second(first.size());
    if (me == 3) wait_for(has_newer);
    Pending older = comm.igather<int>(mine, first, 0, "lin");
    Pending newer = comm.igather<int>(mine, second, 0, "lin");
    if (me == 1) {
      newer.wait();
      has_newer = true;
    }
    older.wait();
    newer.wait();
    EXPECT_EQ(first, me == 0 ? whole(1, 4, n) : std::vector<int>{});
    EXPECT_EQ(second, first);
  });
}

TEST(Pending, ReportsWhoWaitsForWhomWhenStuck) {
  Options options;
  options.stuck_after = milliseconds(300);
  std::atomic<int> stuck{0};
  ThreadGroup(2).run([&](Transport& transport) {
    Collectives comm(transport, options);
    std::vector<int> mine(100);
    if (comm.rank() == 0) {  // never starts it
      while (stuck == 0) std::this_thread::sleep_for(milliseconds(5));
      return;
    }
    try {
      comm.iscatter<int>({}, mine, 0).wait();
      ADD_FAILURE() << "nobody sent anything";
    } catch (const StuckError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("rank 1 waits for rank 0"));
      EXPECT_THAT(e.what(), testing::HasSubstr("in pending scatter lin, root 0, 400 bytes"));
      EXPECT_THAT(e.what(), testing::HasSubstr("not in a stuck call: rank 0"));
    }
    ++stuck;
  });
}

TEST(Pending, ANeighboursFailureReachesWhoeverWaits) {
  for (const bool background : {false, true}) {
    EXPECT_THROW(ThreadGroup(2).run([&](Transport& transport) {
      Session session(transport, quick(), {.background = background});
      std::vector<int> mine(session.rank() == 0 ? 100 : 99);  // the ranks disagree about the size
      const std::vector<int> out(session.rank() == 0 ? 200 : 0);
      Pending call = session.iscatter<int>(out, mine, 0);
      if (session.rank() == 0) return;
      EXPECT_THROW(call.wait(), TransportError);
      EXPECT_THROW(session.iscatter<int>(out, mine, 0).wait(), TransportError) << "and ever after";
      session.abandon();
      throw TransportError("end");
    }),
                 TransportError)
        << background;
  }
}

TEST(Pending, RefusesWhatMakesNoSenseBeforeAnyMessage) {
  ThreadGroup(2).run([](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<int> mine(2);
    const std::vector<int> out(comm.rank() == 0 ? 4 : 0, 7);
    EXPECT_THROW((void)comm.iscatter<int>(out, mine, 5), std::invalid_argument);
    EXPECT_THROW((void)comm.iscatter<int>(out, mine, 0, "mpi"), std::invalid_argument);
    EXPECT_THROW((void)comm.iscatter<int>(out, mine, 0, "nonsense"), std::invalid_argument);
    if (comm.rank() == 0) {
      EXPECT_THROW((void)comm.iscatter<int>(std::span(out).first(3), mine, 0), std::invalid_argument);
    }
    comm.iscatter<int>(out, mine, 0).wait();  // the refused ones were not counted
    EXPECT_EQ(mine, (std::vector<int>{7, 7}));
  });
}

}  // namespace
}  // namespace papfft::comm
