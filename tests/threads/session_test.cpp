// SPDX-License-Identifier: MIT
#include "papfft/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <numeric>
#include <optional>
#include <thread>

#include "comm/schedule/core/registry.hpp"
#include "comm/transport/tags.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "tests/support/message_counter.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

using std::chrono::milliseconds;

void pause_ms(int ms) { std::this_thread::sleep_for(milliseconds(ms)); }

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

class SessionOnThreads : public testing::TestWithParam<SessionGroup> {};

TEST_P(SessionOnThreads, ResultsAreThoseOfPlainCollectivesWhateverIsPredicted) {
  const SessionGroup& c = GetParam();
  ThreadGroup(c.ranks, c.seed, {}, c.piped_from_bytes).run([&](Transport& transport) {
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
    for (const std::string& algorithm : names(Operation::reduce)) {
      for (int repeat = 0; repeat < 3; ++repeat, ++iteration) {
        process(session, (me * 3 + repeat) % 3);
        const auto mine = block(iteration, me, c.elements);
        std::vector<int> expected(c.elements);
        for (int r = 0; r < p; ++r) {
          const auto other = block(iteration, r, c.elements);
          for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += other[i];
        }
        std::vector<int> sum(me == 0 ? c.elements : 0);
        session.reduce<int>(mine, sum, std::plus<>{}, 0, algorithm);
        std::vector<float> fine(c.elements);
        for (std::size_t i = 0; i < fine.size(); ++i)
          fine[i] = 1.0F / static_cast<float>(me + 1 + static_cast<int>(i % 7));
        std::vector<float> fine_sum(me == 0 ? c.elements : 0);
        session.reduce<float>(fine, fine_sum, std::plus<>{}, 0, algorithm);
        if (me != 0) continue;
        ASSERT_EQ(sum, expected) << algorithm;
        for (std::size_t i = 0; i < fine.size(); ++i) {
          double exact = 0;
          for (int r = 0; r < p; ++r)
            exact += static_cast<double>(1.0F / static_cast<float>(r + 1 + static_cast<int>(i % 7)));
          ASSERT_NEAR(fine_sum[i], exact, 1e-5) << algorithm;
        }
      }
    }
    session.close();
  });
}

INSTANTIATE_TEST_SUITE_P(Groups, SessionOnThreads,
                         testing::Values(SessionGroup{1, 10, 0, true}, SessionGroup{2, 100, 1, true},
                                         SessionGroup{3, 40000, 0, true}, SessionGroup{5, 20000, 3, true},
                                         SessionGroup{8, 30000, 0, true}, SessionGroup{4, 20000, 5, false},
                                         SessionGroup{4, 30001, 6, true, 1}),
                         SessionGroup::name);

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

// Rank 2 does not take its part of the scatter before rank 1, which has its own, has been rid of its result: that only the
// root's thread can do, as the root itself is still in the scatter.
TEST(Session, GathersBesideTheScatterBeforeIt) {
  std::array<std::atomic<bool>, 6> gathered{};
  ThreadGroup(3).run([&](Transport& transport) {
    Session session(transport, quick(), {});
    constexpr std::size_t n = 30000;
    for (int iteration = 0; iteration < 6; ++iteration) {
      auto& rank_1_is_rid = gathered.at(static_cast<std::size_t>(iteration));
      const auto all = session.rank() == 0 ? whole(iteration, 3, n) : std::vector<int>{};
      std::vector<int> mine(n);
      std::vector<int> back(all.size());
      const bool expected = iteration >= 2;  // the session has seen what follows what
      for (int ms = 0; session.rank() == 2 && expected && !rank_1_is_rid && ms < 10000; ++ms) pause_ms(1);
      session.scatter<int>(all, mine, 0, "lin");
      ASSERT_EQ(mine, block(iteration, session.rank(), n));
      if (session.rank() == 2 && expected) {
        EXPECT_TRUE(rank_1_is_rid);
      }
      session.gather<int>(mine, back, 0, "bcredit");
      if (session.rank() == 1) rank_1_is_rid = true;
      if (session.rank() == 0) {
        ASSERT_EQ(back, all);
      }
    }
  });
}

/// Counts how often it is applied, by all ranks together.
struct CountedSum {
  static inline std::atomic<std::int64_t> count{0};
  int operator()(int a, int b) const {
    ++count;
    return a + b;
  }
};

// P = 4, binomial: rank 3's part goes to rank 2, which adds its own; ranks 1 and 2 send to the root, whose background adds
// these up before the root comes. Two of the three sums are there then, the third is the root's own.
TEST(Session, BroadcastsThroughARankThatHasNotCome) {
  for (const char* algorithm : {"bchain", "bcirculant", "bbnom", "bscatter-allgather"}) {
    std::atomic<int> done = 0;
    std::atomic<bool> waited_in_vain = false;
    ThreadGroup(5).run([&](Transport& transport) {
      Session session(transport, quick(), {});
      const int me = session.rank();
      const auto bcast = [&](int call) {
        std::vector<int> data = me == 0 ? block(call, 0, 5000) : std::vector<int>(5000);
        session.bcast<int>(data, 0, algorithm);
        ASSERT_EQ(data, block(call, 0, 5000)) << algorithm;
      };
      for (int call = 0; call < 3; ++call) bcast(call);
      // Rank 1 hands on to others, and comes only when these have all there is.
      const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (me == 1 && done < 4 && !waited_in_vain) {
        pause_ms(1);
        waited_in_vain = std::chrono::steady_clock::now() > give_up;
      }
      const auto before = session.statistics().begun_early;
      bcast(3);
      if (me == 1) {
        EXPECT_EQ(session.statistics().begun_early, before + 1) << algorithm;
      }
      ++done;
      session.close();
    });
    EXPECT_FALSE(waited_in_vain) << algorithm;
  }
}

TEST(Session, ReducesAmongTheOthersBeforeALateRootComes) {
  CountedSum::count = 0;
  std::atomic<bool> in_time{true};
  ThreadGroup(4).run([&](Transport& transport) {
    Session session(transport, quick(), {});
    constexpr std::int64_t n = 20000;
    constexpr int kCalls = 5;
    for (int iteration = 0; iteration < kCalls; ++iteration) {
      const auto mine = block(iteration, session.rank(), n);
      std::vector<int> sum(session.rank() == 0 ? n : 0);
      if (session.rank() == 0 && iteration >= 2) {  // expected from its second time on
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (CountedSum::count < (3 * iteration + 2) * n && std::chrono::steady_clock::now() < give_up)
          pause_ms(1);
        if (CountedSum::count < (3 * iteration + 2) * n) in_time = false;
      }
      session.reduce<int>(mine, sum, CountedSum{}, 0, "bbnom");
      if (session.rank() == 0) {
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(sum[i], 4 * mine[i] + 6 * 1009) << "iteration " << iteration;
        }
        EXPECT_GE(session.statistics().begun_early, std::max(0, iteration - 1));
      }
    }
  });
  EXPECT_TRUE(in_time) << "the root's background did not combine";
  EXPECT_EQ(CountedSum::count, 5 * 3 * 20000);
}

TEST(Session, BeginsNoReductionEarlyWithAnotherOperation) {
  ThreadGroup(3).run([](Transport& transport) {
    Session session(transport, quick(), {});
    for (int iteration = 0; iteration < 12; ++iteration) {
      pause_ms(session.rank() == 0 ? 5 : 0);
      const std::vector<int> mine(1000, session.rank() + 2);
      std::vector<int> result(session.rank() == 0 ? 1000 : 0);
      const int scale = 1 + iteration % 2;
      const auto weighted = [scale](int a, int b) { return std::max(scale * a, scale * b) / scale; };
      switch (iteration % 4) {
        case 0:
          session.reduce<int>(mine, result, std::plus<>{}, 0, "bchain");
          break;
        case 1:
          session.reduce<int>(mine, result, std::multiplies<>{}, 0, "bchain");
          break;
        case 2:
          session.reduce<int>(mine, result, weighted, 0, "bchain");  // has state: no copy, nothing early
          break;
        default:  // the sum where the product was expected, now and then
          if (iteration < 8) {
            session.reduce<int>(mine, result, std::plus<>{}, 0, "bchain");
          } else {
            session.reduce<int>(mine, result, std::multiplies<>{}, 0, "bchain");
          }
      }
      const bool adds = iteration % 4 == 0 || iteration == 3 || iteration == 7;
      if (session.rank() == 0) {
        EXPECT_EQ(result, std::vector<int>(1000, iteration % 4 == 2 ? 4 : adds ? 9 : 24)) << iteration;
      }
    }
  });
}

TEST(Session, PlansByTheArrivalsOnceTheyArePredicted) {
  for (const char* algorithm : {"sbn", "sls"}) {
    std::array<std::int64_t, 4> planned{};
    ThreadGroup(4).run([&](Transport& transport) {
      Session session(transport, quick(), {});
      constexpr std::size_t n = 30000;  // beyond an eager message, so that the order matters
      for (int iteration = 0; iteration < 8; ++iteration) {
        process(session, 20 + 5 * session.rank());
        std::vector<int> all(session.rank() == 0 ? 4 * n : 0);
        session.gather<int>(block(iteration, session.rank(), n), all, 0, algorithm);
      }
      planned.at(static_cast<std::size_t>(session.rank())) = session.statistics().planned;
    });
    EXPECT_GE(planned[0], 4) << algorithm;
    for (std::size_t leaf = 1; leaf < planned.size(); ++leaf) {
      if (find_algorithm(Operation::gather, algorithm).plans_root_alone) {
        EXPECT_EQ(planned.at(leaf), 0) << algorithm << ": only the root has an order";
      } else {
        EXPECT_EQ(planned.at(leaf), planned[0]) << algorithm << ": the ranks saw different decisions";
      }
    }
  }
}

// What "auto" does about predictions depends on how far off they are, which differs between ranks: all must decide alike.
TEST(Session, AutoPlansAReductionOnAllRanksOrOnNone) {
  constexpr int kRanks = 4;
  constexpr int kCalls = 24;
  for (const double alpha_ns : {1e3, 1e6, 1e12}) {  // what a round lasts, about: 2 of them may be the error
    std::array<std::array<std::int64_t, kCalls>, kRanks> planned{};
    std::barrier together(kRanks);  // without it the ranks would be in phases of different calls
    ThreadGroup(kRanks).run([&](Transport& transport) {
      Options options = quick();
      options.link = {.alpha_ns = alpha_ns, .beta_ns_per_byte = 0, .gamma_ns_per_byte = 0};
      Session session(transport, options, {});
      const int me = session.rank();
      constexpr std::size_t n = 40000;
      for (int call = 0; call < kCalls; ++call) {
        together.arrive_and_wait();
        process(session, 10 * me + (call * 5) % 4);
        const auto mine = block(call, me, n);
        std::vector<int> sum(me == 0 ? n : 0);
        session.reduce<int>(mine, sum, std::plus<>{}, 0);
        const SessionStatistics now = session.statistics();
        planned[static_cast<std::size_t>(me)][static_cast<std::size_t>(call)] = now.planned;
        EXPECT_LE(now.distrusted, 6) << "after four in a row, one each after silences of 4, 8 and 16 calls";
        if (me == 0) {
          const auto all = whole(call, kRanks, n);
          for (std::size_t i = 0; i < n; i += 1001) {
            ASSERT_EQ(sum[i], all[i] + all[n + i] + all[2 * n + i] + all[3 * n + i]);
          }
        }
      }
    });
    for (const auto& rank : planned) EXPECT_EQ(rank, planned[0]) << "alpha " << alpha_ns;
    if (alpha_ns > 1e9) {
      EXPECT_GT(planned[0].back(), 0) << "the ranks always come in the same order, and no round is too short";
    }
  }
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

/// Nobody is woken up for what nobody wants to know. The rank itself is told all the same.
TEST(Session, AnnouncesNoPhaseBeforeACallThatIsNotPlannedByArrivals) {
  ThreadGroup(3).run([](Transport& transport) {
    MessageCounter counter(transport, [max_tag = transport.max_tag()](const auto& message) {
      return message.is_sent && message.tag == service_tag(max_tag, Service::arrival_report);
    });
    Session session(counter, quick(), {});
    std::vector<int> data(30000);
    std::vector<int> sum(session.rank() == 0 ? data.size() : 0);
    const auto reports_of = [&](int calls, const auto& call) {
      const int before = counter.messages;
      for (int i = 0; i < calls; ++i) {
        process(session, 3);
        call();
        EXPECT_TRUE(session.statistics().predicted_ns) << i;
      }
      return counter.messages - before;
    };
    const auto broadcast = [&] { session.bcast<int>(data, 0, "circulant"); };
    const auto reduce = [&] { session.reduce<int>(data, sum, std::plus<>{}, 0, "papbi"); };
    const bool is_decider = session.rank() == 0;
    const int unknown = reports_of(2, broadcast);
    EXPECT_EQ(unknown > 0, !is_decider) << "what comes next is not known yet";
    EXPECT_EQ(reports_of(4, broadcast), 0);
    (void)reports_of(2, reduce);
    EXPECT_EQ(reports_of(4, reduce) >= 4, !is_decider);
    session.close();
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

TEST(Session, ChecksTheArgumentsOfCallsThatMayHaveBegunEarly) {
  ThreadGroup(3).run([](Transport& transport) {
    Options options = quick();
    options.check_arguments = true;
    Session session(transport, options, {});
    for (int iteration = 0; iteration < 6; ++iteration) {
      process(session, (session.rank() + iteration) % 3 * 4, iteration % 2 == 0);
      std::vector<int> all(session.rank() == 0 ? 3 * 20000 : 0);
      session.gather<int>(block(iteration, session.rank(), 20000), all, 0, "bsls");
      if (session.rank() == 0) {
        ASSERT_EQ(all, whole(iteration, 3, 20000));
      }
    }
  });
}

/// Waits for what other threads count up; false after a time that only a fault can take.
bool reaches(const std::atomic<int>& count, int goal) {
  for (int ms = 0; count < goal; ++ms) {
    if (ms > 20000) return false;
    pause_ms(1);
  }
  return true;
}

TEST(PersistentCall, GivesTheResultsOfPlainCalls) {
  for (const SessionGroup& c : {SessionGroup{1, 10, 0, true}, SessionGroup{4, 20000, 3, true},
                                SessionGroup{5, 500, 0, true}, SessionGroup{3, 20000, 1, false}}) {
    SCOPED_TRACE(std::to_string(c.ranks) + " ranks");
    ThreadGroup(c.ranks, c.seed, {}, c.piped_from_bytes).run([&](Transport& transport) {
      Session session(transport, quick(), {.root = 0, .background = c.background});
      const int me = session.rank();
      std::vector<int> mine(c.elements);
      std::vector<int> all(me == 0 ? c.elements * static_cast<std::size_t>(c.ranks) : 0);
      int iteration = 0;
      for (const std::string& algorithm : names(Operation::gather)) {
        PersistentCall gather = session.gather_init<int>(mine, all, 0, algorithm);
        for (int repeat = 0; repeat < 3; ++repeat, ++iteration) {
          gather.start();
          process(session, (me * 5 + repeat) % 3);
          std::ranges::copy(block(iteration, me, c.elements), mine.begin());
          gather.wait();
          if (me == 0) {
            ASSERT_EQ(all, whole(iteration, c.ranks, c.elements)) << algorithm;
          }
          if (repeat == 1) session.barrier();
        }
      }
      for (const std::string& algorithm : names(Operation::scatter)) {
        PersistentCall scatter = session.scatter_init<int>(all, mine, 0, algorithm);
        for (int repeat = 0; repeat < 3; ++repeat, ++iteration) {
          scatter.start();
          process(session, (me * 7 + repeat) % 3, me != 1);
          if (me == 0) std::ranges::copy(whole(iteration, c.ranks, c.elements), all.begin());
          scatter.wait();
          ASSERT_EQ(mine, block(iteration, me, c.elements)) << algorithm;
          // A plain call of the same kind between those of the handle.
          std::vector<int> other(c.elements);
          session.scatter<int>(all, other, 0, algorithm);
          ASSERT_EQ(other, mine) << algorithm;
        }
        scatter.call();
      }
    });
  }
}

TEST(PersistentCall, PutsEarlyGathersIntoTheRootsBuffer) {
  for (const char* algorithm : {"bcredit", "bsls", "blin"}) {
    SCOPED_TRACE(algorithm);
    constexpr std::size_t n = 30000;
    std::atomic<int> leaves_done{0};
    ThreadGroup(4).run([&](Transport& transport) {
      Session session(transport, quick(), {});
      const int me = session.rank();
      std::vector<int> mine = block(7, me, n);
      std::vector<int> all(me == 0 ? 4 * n : 0);
      PersistentCall gather = session.gather_init<int>(mine, all, 0, algorithm);
      gather.start();  // the first call: there is no history that could announce it
      session.processing_start();
      session.edge(0.5);
      if (me != 0) {
        gather.wait();
        ++leaves_done;
        return session.close();
      }
      const std::vector<int> expected = whole(7, 4, n);
      // What the leaves have sent is there before the root comes.
      ASSERT_TRUE(reaches(leaves_done, 3));
      EXPECT_TRUE(std::equal(all.begin() + n, all.end(), expected.begin() + n));
      gather.wait();
      EXPECT_EQ(all, expected);
      EXPECT_EQ(session.last_call().bytes_staged, 0U);
      EXPECT_EQ(session.statistics().begun_early, 1);
      session.close();
    });
  }
}

TEST(PersistentCall, PutsEarlyScattersIntoTheLeavesBuffers) {
  for (const char* algorithm : {"blin", "bsln", "bwin"}) {
    SCOPED_TRACE(algorithm);
    constexpr std::size_t n = 30000;
    std::atomic<int> root_done{0};
    ThreadGroup(4, 5).run([&](Transport& transport) {
      Session session(transport, quick(), {});
      const int me = session.rank();
      std::vector<int> mine(n);
      const std::vector<int> all = me == 0 ? whole(9, 4, n) : std::vector<int>{};
      PersistentCall scatter = session.scatter_init<int>(all, mine, 0, algorithm);
      scatter.start();
      if (me != 0) {
        ASSERT_TRUE(reaches(root_done, 1));
        EXPECT_EQ(mine, block(9, me, n)) << "before this rank has come";
      }
      scatter.wait();
      ++root_done;
      EXPECT_EQ(mine, block(9, me, n));
      EXPECT_EQ(session.last_call().bytes_staged, 0U);
      EXPECT_EQ(session.statistics().begun_early, me == 0 ? 0 : 1);
      session.close();
    });
  }
}

TEST(PersistentCall, PlainCallsStageWhatComesEarly) {
  ThreadGroup(2).run([](Transport& transport) {
    Session session(transport, quick(), {});
    std::vector<int> all(session.rank() == 0 ? 2 * 30000 : 0);
    std::uint64_t staged = 0;
    for (int iteration = 0; iteration < 5; ++iteration) {
      process(session, session.rank() == 0 ? 30 : 1);
      session.gather<int>(block(iteration, session.rank(), 30000), all, 0, "bcredit");
      staged += session.last_call().bytes_staged;
    }
    EXPECT_EQ(staged > 0, session.rank() == 0);
  });
}

TEST(PersistentCall, CanBeDroppedAfterItsStart) {
  ThreadGroup(3).run([](Transport& transport) {
    Session session(transport, quick(), {});
    constexpr std::size_t n = 20000;
    for (int iteration = 0; iteration < 20; ++iteration) {
      for (const char* algorithm : {"bsls", "bcredit", "bsbn", "blin"}) {
        {
          const std::vector<int> mine(n);
          std::vector<int> all(session.rank() == 0 ? 3 * n : 0);
          PersistentCall gather = session.gather_init<int>(mine, all, 0, algorithm);
          gather.start();
          if (iteration % 4 == 0) process(session, 2);
        }  // its buffers are gone
        std::vector<int> back(session.rank() == 0 ? 3 * n : 0);
        session.gather<int>(block(iteration, session.rank(), n), back, 0, algorithm);
        if (session.rank() == 0) {
          ASSERT_EQ(back, whole(iteration, 3, n)) << algorithm;
        }
      }
    }
  });
}

TEST(PersistentCall, OutlivesItsSession) {
  ThreadGroup(2).run([](Transport& transport) {
    const std::vector<int> mine(100);
    std::vector<int> all(transport.rank() == 0 ? 200 : 0);
    std::optional<PersistentCall> started;
    std::optional<PersistentCall> idle;
    {
      Session session(transport, quick(), {});
      started = session.gather_init<int>(mine, all, 0, "bcredit");
      idle = session.gather_init<int>(mine, all, 0);
      started->start();
    }
    EXPECT_THROW(started->wait(), StateError);
    EXPECT_THROW(idle->start(), StateError);
  });
}

TEST(PersistentCall, RefusesCallsOutOfTurnAndNonsense) {
  ThreadGroup(2).run([](Transport& transport) {
    Session session(transport, quick(), {});
    const std::vector<int> mine(100, session.rank());
    std::vector<int> all(session.rank() == 0 ? 200 : 0);
    std::vector<int> small(50);
    EXPECT_THROW((void)session.gather_init<int>(mine, all, 2), std::invalid_argument);
    EXPECT_THROW((void)session.gather_init<int>(mine, all, 0, "magic"), std::invalid_argument);
    if (session.rank() == 0) {
      EXPECT_THROW((void)session.gather_init<int>(mine, small, 0), std::invalid_argument);
    }
    PersistentCall gather = session.gather_init<int>(mine, all, 0, "bcredit");
    PersistentCall other = session.gather_init<int>(mine, all, 0, "bsls");
    EXPECT_THROW(gather.wait(), StateError);
    gather.start();
    EXPECT_THROW(gather.start(), StateError);
    EXPECT_THROW(other.start(), StateError);
    EXPECT_THROW(other.wait(), StateError);
    EXPECT_THROW(session.gather<int>(mine, all, 0), StateError);
    PersistentCall moved = std::move(gather);
    EXPECT_THROW(gather.start(), StateError);  // NOLINT(bugprone-use-after-move): that is what is tested
    moved.wait();
    EXPECT_THROW(moved.wait(), StateError);
    other.call();
    if (session.rank() == 0) {
      EXPECT_EQ(all[150], 1);
    }
    session.close();
    EXPECT_THROW(moved.start(), StateError);
  });
}

}  // namespace
}  // namespace papfft::comm
