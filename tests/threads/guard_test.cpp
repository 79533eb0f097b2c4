// SPDX-License-Identifier: MIT
// Guarded calls, with ranks as threads and in place of the MPI library other algorithms of ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/engine/call_engine.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/observer.hpp"
#include "papfft/session.hpp"
#include "tests/support/guarded.hpp"

namespace papfft::comm {
namespace {

using namespace test;

/// "auto" goes by ours_everywhere(). @tparam Base  Collectives or Session
template <typename Base>
class WithStock : public Base {
 public:
  template <typename... Rest>
  explicit WithStock(Transport& transport, const Options& options = {}, const Rest&... rest)
      : Base(transport, options, rest...) {
    this->offer_stock_calls();
    this->use_decisions(ours_everywhere(), false);
  }

  int stock_calls = 0;

 protected:
  void stock_call(const CallArguments& arguments) override {
    ++stock_calls;
    CallEngine& engine = this->engine();
    CallArguments call = arguments;
    call.algorithm = moves_per_rank(call.operation) && is_rooted(call.operation) ? "bnom" : "circulant";
    engine.run(engine.planner().plan(call), call.send, call.recv, call.reducer);
  }
};
using Guarded = WithStock<Collectives>;
using GuardedSession = WithStock<Session>;

class GuardOnThreads : public testing::TestWithParam<int> {};

TEST_P(GuardOnThreads, LeadsAllRanksTheSameWay) {
  const int ranks = GetParam();
  ThreadGroup(ranks, static_cast<std::uint32_t>(ranks)).run([&](Transport& transport) {
    Guarded comm(transport);
    const std::string ways = mixed_calls(comm, 600, 3);
    if (ranks == 1) {
      EXPECT_EQ(comm.stock_calls, 0) << "there is nothing to agree on, and nothing to gain";
      return;
    }
    EXPECT_GE(comm.stock_calls, 5 * 3);
    EXPECT_FALSE(comm.guarded_calls().empty());
    expect_same_everywhere(comm, ways);
    expect_same_everywhere(comm, text_of(comm.guarded_calls()));
  });
}

TEST_P(GuardOnThreads, LeadsTheRanksOfASessionTheSameWay) {
  const int ranks = GetParam();
  for (const bool background : {true, false}) {
    ThreadGroup(ranks, 5).run([&](Transport& transport) {
      GuardedSession session(transport, Options{}, SessionOptions{.background = background});
      std::string ways;
      for (int i = 0; i < 100; ++i) {
        session.processing_start();
        session.edge(0.5);
        session.processing_end();
        checked_call(session, 2, 100, 0, 2 * i);
        ways += std::string(session.last_call().algorithm) + " ";
        checked_call(session, 1, 100, 0, 2 * i + 1);
        ways += std::string(session.last_call().algorithm) + " ";
      }
      if (ranks > 1) {
        EXPECT_GE(session.stock_calls, 2);
      }
      expect_same_everywhere(session, ways);
      session.close();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, GuardOnThreads, testing::Values(1, 2, 3, 5, 8));

TEST(GuardedCalls, AreTriedInPairsAfterTheFirstTwo) {
  ThreadGroup(3).run([](Transport& transport) {
    Guarded comm(transport);
    for (int i = 0; i < 5; ++i) checked_call(comm, 0, 100, 0, i);
    EXPECT_EQ(comm.stock_calls, 1);
    const std::vector<GuardedCalls> guarded = comm.guarded_calls();
    ASSERT_EQ(guarded.size(), 1U);
    EXPECT_EQ(guarded[0].operation, Operation::bcast);
    EXPECT_EQ(guarded[0].from_bytes, 256U);
    EXPECT_EQ(guarded[0].calls, 5);
    EXPECT_EQ(guarded[0].trials, 1);
  });
}

TEST(GuardedCalls, AreOnlyThoseThatAutoChoseAndTheLibraryCanServe) {
  ThreadGroup(2).run([](Transport& transport) {
    Guarded comm(transport);
    std::vector<int> data(100, 1);
    std::vector<int> sum(100);
    for (int i = 0; i < 20; ++i) {
      comm.bcast<int>(data, 0, "bnom");
      comm.allreduce<int>(data, sum, std::plus<>{});  // no operation of the library's
    }
    EXPECT_EQ(comm.stock_calls, 0);
    EXPECT_TRUE(comm.guarded_calls().empty());
  });
}

TEST(GuardedCalls, AreNoneIfTheOptionsSaySo) {
  Options off;
  off.guard = false;
  Options watched;
  watched.stuck_after = std::chrono::seconds(30);
  for (const Options& options : {off, watched}) {
    ThreadGroup(2).run([&](Transport& transport) {
      Guarded comm(transport, options);
      for (int i = 0; i < 20; ++i) checked_call(comm, 0, 100, 0, i);
      EXPECT_EQ(comm.stock_calls, 0);
    });
  }
}

TEST(GuardedCalls, AreGuardedThoughRanksAreWatchedIfTheLibraryIsWatchedToo) {
  Options watched;
  watched.stuck_after = std::chrono::seconds(30);
  const auto alarm = [](const StuckError& error) { ADD_FAILURE() << error.what(); };
  for (const int ranks : {1, 3}) {
    ThreadGroup(ranks).run([&](Transport& transport) {
      Guarded comm(transport, watched);
      comm.engine().watch_stock(alarm);
      for (int i = 0; i < 20; ++i) checked_call(comm, 0, 100, 0, i);
      EXPECT_EQ(comm.stock_calls > 0, ranks > 1);
      GuardedSession session(transport, watched, SessionOptions{});
      session.engine().watch_stock(alarm);
      for (int i = 0; i < 20; ++i) checked_call(session, 0, 100, 0, i);
      EXPECT_EQ(session.stock_calls > 0, ranks > 1);
      session.close();
    });
  }
}

TEST(GuardedCalls, AreNoneWhereTheyTakeArgumentsFromAHandle) {
  ThreadGroup(2).run([](Transport& transport) {
    GuardedSession session(transport, Options{}, SessionOptions{});
    std::vector<int> mine(100, session.rank());
    std::vector<int> all(200);
    PersistentCall gather = session.gather_init<int>(mine, all, 0);
    for (int i = 0; i < 20; ++i) gather.call();
    EXPECT_EQ(session.stock_calls, 0);
  });
}

// In the library's calls nothing moves the started ones on, for which another rank may wait before it comes.
TEST(GuardedCalls, AreNoMoreOnceCallsAreStarted) {
  ThreadGroup(3).run([](Transport& transport) {
    Guarded comm(transport);
    for (int i = 0; i < 2; ++i) checked_call(comm, 0, 100, 0, i);
    std::vector<int> data(10, 7);
    Pending early;
    if (comm.rank() == 2) early = comm.ibcast<int>(data, 2, "bnom");
    for (int i = 0; i < 4; ++i) checked_call(comm, 0, 100, 0, i);
    if (comm.rank() != 2) comm.ibcast<int>(data, 2, "bnom").wait();
    early.wait();
    const int tried = comm.stock_calls;
    EXPECT_GE(tried, 1);
    for (int i = 0; i < 30; ++i) checked_call(comm, 0, 100, 0, i);
    for (int i = 0; i < 30; ++i) checked_call(comm, 1, 100, 0, i);
    EXPECT_EQ(comm.stock_calls, tried);
  });
}

/// Counts what it is told.
class CallCounter final : public Observer {
 public:
  void call_ended(const CallRecord& record) override {
    ++calls;
    stock += record.algorithm == "mpi" ? 1 : 0;
    started += record.started ? 1 : 0;
  }
  int calls = 0;
  int stock = 0;
  int started = 0;
};

TEST(GuardedCalls, AreTheOnlyOnesThatAreObserved) {
  ThreadGroup(2).run([](Transport& transport) {
    Guarded comm(transport);
    CallCounter counter;
    comm.observe(&counter);
    for (int i = 0; i < 20; ++i) checked_call(comm, 0, 100, 0, i);
    comm.observe(nullptr);
    EXPECT_EQ(counter.calls, 20);
    EXPECT_EQ(counter.stock, comm.stock_calls);
    EXPECT_EQ(counter.started, 0) << "reports are no calls";
  });
}

TEST(GuardedCalls, MayEndAtAnyCall) {
  ThreadGroup group(4, 2);
  for (int calls = 1; calls <= 12; ++calls) {
    group.run([&](Transport& transport) {
      Guarded comm(transport);
      for (int i = 0; i < calls; ++i) checked_call(comm, i % 2, 50, 0, i);
    });
  }
}

TEST(GuardedCalls, StartAnewWhenAutoHasLearned) {
  ThreadGroup(2).run([](Transport& transport) {
    Guarded comm(transport);
    for (int i = 0; i < 10; ++i) checked_call(comm, 0, 100, 0, i);
    comm.use_link(LinkModel{});
    EXPECT_TRUE(comm.guarded_calls().empty());
    for (int i = 0; i < 10; ++i) checked_call(comm, 0, 100, 0, i);
    EXPECT_EQ(comm.guarded_calls().at(0).calls, 10);
  });
}

}  // namespace
}  // namespace papfft::comm
