// SPDX-License-Identifier: MIT
#include "papfft/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "comm/schedule/registry.hpp"
#include "comm/transport/thread_group.hpp"

namespace papfft::comm {
namespace {

using std::chrono::milliseconds;

Options quick() {
  Options o;
  o.stuck_after = std::chrono::seconds(30);
  return o;
}

void pause_ms(int ms) { std::this_thread::sleep_for(milliseconds(ms)); }

std::vector<int> block(int iteration, int rank, std::size_t n) {
  std::vector<int> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = iteration * 1000003 + rank * 1009 + static_cast<int>(i);
  return v;
}

std::vector<int> whole(int iteration, int ranks, std::size_t n) {
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r) {
    const auto one = block(iteration, r, n);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// A processing phase of a few milliseconds with one edge in the middle.
void process(Session& session, int ms, bool tells_edge = true) {
  session.processing_start();
  pause_ms(ms);
  if (tells_edge) session.edge(0.5);
  pause_ms(ms);
  session.processing_end();
}

std::vector<std::string> names(Operation operation) {
  std::vector<std::string> result = {"auto"};
  for (const Algorithm* a : algorithms()) {
    if (a->operation != operation) continue;
    result.emplace_back(a->name);
    result.push_back("b" + std::string(a->name));
  }
  return result;
}

struct Case {
  int ranks;
  std::size_t elements;
  std::uint32_t seed;
  bool background;
};

class SessionOnThreads : public testing::TestWithParam<Case> {};

TEST_P(SessionOnThreads, ResultsAreThoseOfPlainCollectivesWhateverIsPredicted) {
  const Case& c = GetParam();
  ThreadGroup(c.ranks, c.seed).run([&](Transport& transport) {
    Session session(transport, quick(), {.root = 0, .background = c.background});
    const int p = session.size();
    const int me = session.rank();
    int iteration = 0;
    for (const std::string& algorithm : names(Operation::gather)) {
      for (int repeat = 0; repeat < 3; ++repeat, ++iteration) {
        process(session, (me * 5 + repeat) % 3);
        const auto mine = block(iteration, me, c.elements);
        std::vector<int> all(me == 0 ? mine.size() * static_cast<std::size_t>(p) : 0);
        session.gather<int>(mine, all, 0, algorithm);
        if (me == 0) {
          ASSERT_EQ(all, whole(iteration, p, c.elements)) << algorithm;
        }
      }
    }
    for (const std::string& algorithm : names(Operation::scatter)) {
      for (int repeat = 0; repeat < 3; ++repeat, ++iteration) {
        process(session, (me * 7 + repeat) % 3, me != 1);
        const auto all = me == 0 ? whole(iteration, p, c.elements) : std::vector<int>{};
        std::vector<int> mine(c.elements);
        session.scatter<int>(all, mine, 0, algorithm);
        ASSERT_EQ(mine, block(iteration, me, c.elements)) << algorithm;
      }
    }
    session.close();
  });
}

INSTANTIATE_TEST_SUITE_P(Groups, SessionOnThreads,
                         testing::Values(Case{1, 10, 0, true}, Case{2, 100, 1, true}, Case{3, 40000, 0, true},
                                         Case{5, 20000, 3, true}, Case{8, 30000, 0, true},
                                         Case{4, 20000, 5, false}),
                         [](const auto& test) {
                           return "P" + std::to_string(test.param.ranks) + "_n" +
                                  std::to_string(test.param.elements) +
                                  (test.param.background ? "" : "_without_thread");
                         });

TEST(Session, ServesALoopOfDifferentCallsAndRoots) {
  ThreadGroup(4, 9).run([](Transport& transport) {
    Session session(transport, quick(), {});
    constexpr std::size_t n = 20000;
    for (int iteration = 0; iteration < 12; ++iteration) {
      const int root = iteration % 5 == 4 ? 2 : 0;  // now and then a call that nobody expected
      std::vector<int> mine(n);
      const auto all = session.rank() == root ? whole(iteration, 4, n) : std::vector<int>{};
      session.scatter<int>(all, mine, root, "bsln");
      ASSERT_EQ(mine, block(iteration, session.rank(), n));
      process(session, session.rank() == iteration % 4 ? 4 : 1);
      std::vector<int> back(all.size());
      session.gather<int>(mine, back, root, iteration % 3 == 0 ? "bsls" : "credit");
      if (session.rank() == root) {
        ASSERT_EQ(back, all);
      }
      std::vector<int> sum(session.rank() == 0 ? 1 : 0);
      const int one = 1;
      session.reduce<int>(std::span<const int>(&one, 1), sum, std::plus<>{}, 0);
      if (session.rank() == 0) {
        ASSERT_EQ(sum[0], 4);
      }
    }
  });
}

TEST(Session, BeginsAGatherBeforeTheRootComes) {
  ThreadGroup(4).run([](Transport& transport) {
    Session session(transport, quick(), {});
    constexpr std::size_t n = 30000;
    for (int iteration = 0; iteration < 6; ++iteration) {
      process(session, session.rank() == 0 ? 40 : 5);
      std::vector<int> all(session.rank() == 0 ? 4 * n : 0);
      session.gather<int>(block(iteration, session.rank(), n), all, 0, "bcredit");
    }
    const SessionStatistics s = session.statistics();
    EXPECT_EQ(s.calls, 6);
    if (session.rank() == 0) {
      EXPECT_GE(s.begun_early, 3) << "of the five calls that could be expected";
    }
    EXPECT_TRUE(s.has_thread);
  });
}

TEST(Session, PlansByTheArrivalsOnceTheyArePredicted) {
  std::atomic<int> planned{-1};
  std::atomic<bool> same{true};
  ThreadGroup(4).run([&](Transport& transport) {
    Session session(transport, quick(), {});
    constexpr std::size_t n = 30000;  // beyond an eager message, so that the order matters
    for (int iteration = 0; iteration < 8; ++iteration) {
      process(session, 20 + 5 * session.rank());
      std::vector<int> all(session.rank() == 0 ? 4 * n : 0);
      session.gather<int>(block(iteration, session.rank(), n), all, 0, "sls");
    }
    const auto mine = static_cast<int>(session.statistics().planned);
    EXPECT_GE(mine, 4);
    int expected = -1;
    if (!planned.compare_exchange_strong(expected, mine) && expected != mine) same = false;
  });
  EXPECT_TRUE(same) << "the ranks saw different decisions";
}

TEST(Session, PredictsFromTheEdge) {
  ThreadGroup(2).run([](Transport& transport) {
    Session session(transport, quick(), {});
    std::vector<int> data(30000);
    for (int iteration = 0; iteration < 4; ++iteration) {
      process(session, 30);
      session.bcast<int>(data, 0);
      const SessionStatistics s = session.statistics();
      ASSERT_TRUE(s.predicted_ns.has_value());
      EXPECT_LT(std::abs(*s.predicted_ns - s.arrived_ns), 60'000'000)
          << "beyond the length of the phase itself";
    }
  });
}

TEST(Session, TakesEdgesFromAnyThreadAndRefusesNonsense) {
  ThreadGroup(2).run([](Transport& transport) {
    Session session(transport, quick(), {});
    session.processing_start();
    std::vector<std::thread> workers;
    for (int t = 1; t <= 4; ++t) workers.emplace_back([&, t] { session.edge(0.2 * t); });
    for (auto& worker : workers) worker.join();
    session.processing_end();
    EXPECT_THROW(session.edge(0.0), std::invalid_argument);
    EXPECT_THROW(session.use_algorithm(Operation::gather, "magic"), std::invalid_argument);
    session.use_algorithm(Operation::bcast, "bnom");
    std::vector<int> data(10, session.rank());
    session.bcast<int>(data, 1);
    EXPECT_EQ(data[9], 1);
    EXPECT_EQ(session.last_call().algorithm, "bnom");
  });
}

TEST(Session, IsClosedByItsDestructorAlsoWithAnExpectedCallOpen) {
  ThreadGroup(3).run([](Transport& transport) {
    Session session(transport, quick(), {});
    std::vector<int> all(session.rank() == 0 ? 300 : 0);
    for (int i = 0; i < 3; ++i) session.gather<int>(block(i, session.rank(), 100), all, 0, "bcredit");
  });
}

}  // namespace
}  // namespace papfft::comm
