// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <latch>
#include <map>
#include <random>

#include "comm/arrival/arrival_exchange.hpp"
#include "comm/arrival/arrival_predictor.hpp"
#include "comm/transport/threads/thread_group.hpp"

namespace papfft::comm {
namespace {

using namespace std::chrono_literals;

constexpr int kExchangeTag = 8;

struct ExchangeCase {
  int ranks;
  Rank decider;
  std::uint32_t seed;
  bool threads;  // one background thread per rank; else all is stepped from the calls
};

/// What one rank needs; in a test every rank's thread has one.
struct Party {
  Party(Transport& transport_in, Rank decider, bool threads,
        const ArrivalExchange::Settings& settings = {.lead = 200us, .lazy_poll = 300us})
      : transport(transport_in), exchange(transport_in, decider, monotonic_clock(), settings, kExchangeTag) {
    background.add(exchange);
    if (threads) background.start();
  }
  Decision call(std::int64_t iteration, Basis basis) {
    exchange.report({.iteration = iteration, .arrival_ns = monotonic_clock()(), .basis = basis});
    background.notify();
    return decided(iteration);
  }
  Decision decided(std::int64_t iteration) {
    while (true) {
      background.rethrow();
      if (auto decision = exchange.decision(iteration)) return *decision;
      if (!exchange.step()) std::this_thread::sleep_for(20us);
    }
  }
  void predict(std::int64_t iteration, std::int64_t arrival_ns, Basis basis) {
    exchange.report({.iteration = iteration, .arrival_ns = arrival_ns, .basis = basis});
    if (background.has_thread()) {
      background.notify();
    } else {
      exchange.step();
    }
  }
  void close() {
    background.remove(exchange);
    exchange.close();
    background.stop();
    background.rethrow();
  }
  Transport& transport;
  ArrivalExchange exchange;
  Background background;
};

/// What every rank was told about every call.
class Record {
 public:
  void add(Rank rank, const Decision& decision) {
    const std::lock_guard lock(mutex_);
    told_[decision.iteration][rank] = decision;
  }
  /// All ranks have been told the same. @return how many decisions had a vector.
  int expect_agreement(int ranks) const {
    int vectors = 0;
    for (const auto& [iteration, by_rank] : told_) {
      EXPECT_EQ(by_rank.size(), static_cast<std::size_t>(ranks)) << "iteration " << iteration;
      for (const auto& [rank, decision] : by_rank) {
        EXPECT_EQ(decision, by_rank.begin()->second) << "iteration " << iteration << ", rank " << rank;
      }
      vectors += by_rank.begin()->second.oblivious() ? 0 : 1;
    }
    return vectors;
  }
  [[nodiscard]] std::size_t size() const { return told_.size(); }

 private:
  std::mutex mutex_;
  std::map<std::int64_t, std::map<Rank, Decision>> told_;
};

class ExchangeOnThreads : public testing::TestWithParam<ExchangeCase> {
 protected:
  void run(const std::function<void(Party&, Rank)>& body) {
    const ExchangeCase& c = GetParam();
    ThreadGroup(c.ranks, c.seed).run([&](Transport& transport) {
      Party party(transport, c.decider, c.threads);
      body(party, transport.rank());
      party.close();
    });
  }
};

TEST_P(ExchangeOnThreads, AllPredictionsMakeAVector) {
  const int ranks = GetParam().ranks;
  std::vector<std::int64_t> expected;
  for (Rank r = 0; r < ranks; ++r) expected.push_back(1'000'000 - 1000 * r);
  run([&](Party& party, Rank r) {
    for (int i = 0; i < 20; ++i) {
      party.predict(i, expected[static_cast<std::size_t>(r)], Basis::edge);
      EXPECT_EQ(party.decided(i), (Decision{i, expected})) << "rank " << r;
      (void)party.call(i, Basis::waiting);  // comes after the decision and changes nothing
    }
  });
}

TEST_P(ExchangeOnThreads, ARankThatNeverReportsAnEdgeMakesItOblivious) {
  if (GetParam().ranks == 1) GTEST_SKIP() << "needs somebody to be missing";
  const Rank silent = (GetParam().decider + 1) % GetParam().ranks;
  Record record;
  std::latch all_but_one_known(GetParam().ranks - 1);
  run([&](Party& party, Rank r) {
    if (r != silent) {
      party.predict(0, 5, Basis::edge);
      record.add(r, party.call(0, Basis::waiting));
      all_but_one_known.count_down();
    } else {
      // It does nothing at all until the others know what to do: nobody waits for it.
      all_but_one_known.wait();
      record.add(r, party.call(0, Basis::waiting));
    }
  });
  EXPECT_EQ(record.expect_agreement(GetParam().ranks), 0);
}

TEST_P(ExchangeOnThreads, NobodyWaitsForASlowDeciderThatHasAThread) {
  if (!GetParam().threads) GTEST_SKIP() << "arrival_use() then says none";
  Record record;
  std::latch others_know(GetParam().ranks - 1);
  run([&](Party& party, Rank r) {
    if (r == GetParam().decider) {
      others_know.wait();  // computes, ten times as long as the others, and calls nothing
    }
    record.add(r, party.call(0, Basis::waiting));
    if (r != GetParam().decider) others_know.count_down();
  });
  EXPECT_EQ(record.expect_agreement(GetParam().ranks), GetParam().ranks == 1 ? 1 : 0);
}

TEST_P(ExchangeOnThreads, PatientRanksLetTheDeciderWaitForPredictions) {
  // All others have arrived at a scatter; the root decides on its own arrival, with all they said.
  Record record;
  std::latch arrived(GetParam().ranks - 1);
  run([&](Party& party, Rank r) {
    if (r == GetParam().decider) {
      arrived.wait();
    } else {
      party.exchange.report({.iteration = 0, .arrival_ns = 100 + r, .basis = Basis::arrived});
      (void)party.exchange.step();
      arrived.count_down();
      record.add(r, party.decided(0));
      return;
    }
    record.add(r, party.call(0, Basis::arrived));
  });
  const int vectors = record.expect_agreement(GetParam().ranks);
  // Without jitter and threads, all reports are there when the decider looks.
  if (GetParam().seed == 0 && !GetParam().threads) {
    EXPECT_EQ(vectors, 1);
  }
}

/// Everything that can go wrong, at random: missing, early, late, repeated and absurd predictions, calls that do
/// without a decision, ranks that are slow.
TEST_P(ExchangeOnThreads, AgreesUnderAllFaults) {
  constexpr int kCalls = 60;
  const ExchangeCase& c = GetParam();
  Record record;
  std::atomic<int> asked{0};
  run([&](Party& party, Rank r) {
    std::mt19937 own(c.seed * 31 + static_cast<std::uint32_t>(r));
    std::mt19937 common(c.seed);  // decides what all ranks know alike: the kind of call
    for (int i = 0; i < kCalls; ++i) {
      const auto use = common() % 4;  // 0: none
      const bool slow = own() % 20 == 0;
      for (std::uint32_t k = own() % 4; k > 0; --k) {
        const std::int64_t arrival = own() % 5 == 0
                                         ? std::numeric_limits<std::int64_t>::max() / 2
                                         : monotonic_clock()() + static_cast<std::int64_t>(own() % 1'000'000);
        party.predict(i, arrival, own() % 2 == 0 ? Basis::history : Basis::edge);
      }
      if (own() % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 200));
      if (slow) std::this_thread::sleep_for(3ms);
      if (use == 0) {
        if (own() % 2 == 0) party.predict(i - (i > 3 ? 2 : 0), 7, Basis::edge);  // a stale report
        continue;
      }
      if (r == 0) ++asked;
      record.add(r, party.call(i, use == 1 ? Basis::arrived : Basis::waiting));
    }
  });
  EXPECT_EQ(record.size(), static_cast<std::size_t>(asked));
  const int vectors = record.expect_agreement(c.ranks);
  EXPECT_LE(vectors, asked);
}

INSTANTIATE_TEST_SUITE_P(Groups, ExchangeOnThreads,
                         testing::Values(ExchangeCase{1, 0, 1, false}, ExchangeCase{1, 0, 1, true},
                                         ExchangeCase{2, 0, 0, false}, ExchangeCase{2, 1, 3, true},
                                         ExchangeCase{3, 2, 4, false}, ExchangeCase{4, 0, 0, true},
                                         ExchangeCase{4, 1, 5, true}, ExchangeCase{7, 3, 6, false},
                                         ExchangeCase{7, 0, 7, true}, ExchangeCase{8, 5, 8, true}),
                         [](const auto& c) {
                           return "P" + std::to_string(c.param.ranks) + "decider" +
                                  std::to_string(c.param.decider) + "seed" + std::to_string(c.param.seed) +
                                  (c.param.threads ? "threads" : "calls");
                         });

TEST(ArrivalExchange, AWeakerOrOlderReportChangesNothing) {
  ThreadGroup(1).run([](Transport& transport) {
    Party party(transport, 0, false);
    party.exchange.report({.iteration = 3, .arrival_ns = 100, .basis = Basis::arrived});
    party.exchange.report({.iteration = 3, .arrival_ns = 999, .basis = Basis::edge});
    party.exchange.report({.iteration = 2, .arrival_ns = 999, .basis = Basis::waiting});
    EXPECT_EQ(party.decided(3), (Decision{3, {100}, kNoError}));
    EXPECT_THROW(party.exchange.report({.iteration = -1, .arrival_ns = 0, .basis = Basis::edge}),
                 std::invalid_argument);
    party.close();
  });
}

// Rank 1 has no part in call 0, and is decided about in call 1 before rank 0 comes to call 0.
TEST(ArrivalExchange, WhoAsksAloneIsNotHeldUpByARankThatRanAhead) {
  std::latch decided(1);
  ThreadGroup(2).run([&](Transport& transport) {
    Party party(transport, 0, false);
    if (transport.rank() == 1) {
      EXPECT_EQ(party.call(1, Basis::waiting), (Decision{1, {}}));
      decided.count_down();
    } else {
      while (!decided.try_wait()) {
        if (!party.exchange.step()) std::this_thread::sleep_for(20us);
      }
      party.exchange.report({.iteration = 0, .arrival_ns = 5, .basis = Basis::alone});
      (void)party.exchange.step();
      EXPECT_EQ(party.exchange.decision(0), (Decision{0, {}}));
      EXPECT_EQ(party.exchange.decision(1), (Decision{1, {}}));
    }
    party.close();
  });
}

TEST(ArrivalExchange, CanBeLeftInTheMiddle) {
  ThreadGroup(3, 9).run([](Transport& transport) {
    Party party(transport, 0, true);
    party.exchange.report({.iteration = 0, .arrival_ns = 1, .basis = Basis::edge});
  });
}

TEST(ArrivalPredictor, PredictsFromEdgesThenFromHistory) {
  ThreadGroup(1).run([](Transport& transport) {
    std::int64_t now = 1000;
    ClockSync clock(
        transport, [&] { return now; }, 1);
    ArrivalExchange exchange(
        transport, 0, [&] { return now; }, {.lead = 10ns, .lazy_poll = 1ms}, kExchangeTag);
    Background background;
    ArrivalPredictor predictor(exchange, clock, background);
    background.add(predictor);
    background.add(exchange);
    predictor.edge(0.5);  // before any start: ignored
    predictor.processing_start();
    background.step();
    EXPECT_EQ(predictor.prediction(), std::nullopt);
    now = 1500;
    EXPECT_THROW(predictor.edge(1.5), std::invalid_argument);
    predictor.edge(0.5);
    background.step();
    EXPECT_EQ(predictor.prediction(), (DurationEstimator::Prediction{1000, Estimator::edge}));
    EXPECT_EQ(exchange.decision(0), (Decision{0, {2000}})) << "nothing to compare it with";
    now = 2100;
    predictor.processing_end();
    predictor.edge(0.9);  // after the end: ignored
    background.step();
    predictor.arrive(ArrivalUse::patient);
    predictor.leave();
    EXPECT_EQ(predictor.iteration(), 1);

    now = 5000;
    predictor.processing_start();
    background.step();
    EXPECT_EQ(predictor.prediction()->duration_ns, 1100);
    EXPECT_EQ(exchange.decision(1), std::nullopt) << "an edge may still come";
    now = 6095;  // the lead before the predicted arrival
    background.step();
    EXPECT_EQ(exchange.decision(1), (Decision{1, {6100}}));
    predictor.arrive(ArrivalUse::none);
    predictor.leave(0, false);
    EXPECT_EQ(predictor.iteration(), 2);

    now = 9000;
    predictor.processing_start();
    predictor.edge(0.5);
    EXPECT_FALSE(background.step()) << "nobody asks for it";
    EXPECT_TRUE(predictor.predicted_arrival_ns());
    now = 10100;
    background.step();
    EXPECT_EQ(exchange.decision(2), std::nullopt);
    predictor.arrive(ArrivalUse::patient);
    background.step();
    EXPECT_EQ(exchange.decision(2)->arrival_ns, std::vector<std::int64_t>{10100})
        << "it was asked for after all";
    predictor.leave();
  });
}

TEST(ArrivalPredictor, KeepsPositionsApartAndTellsHowGoodItWas) {
  ThreadGroup(1).run([](Transport& transport) {
    std::int64_t now = 0;
    ClockSync clock(
        transport, [&] { return now; }, 1);
    ArrivalExchange exchange(
        transport, 0, [&] { return now; }, {.lead = 10ns, .lazy_poll = 1ms}, kExchangeTag);
    Background background;
    ArrivalPredictor predictor(exchange, clock, background);
    background.add(predictor);
    background.add(exchange);
    for (int i = 0; i < 12; ++i) {
      const int position = i % 2;
      const std::int64_t duration_ns = position == 0 ? 1000 : 50000;
      predictor.leave(position);
      predictor.processing_start();
      background.step();
      if (i >= 2) {
        ASSERT_TRUE(predictor.prediction()) << i;
        EXPECT_EQ(predictor.prediction()->duration_ns, duration_ns) << i;
        now += duration_ns - 10;
        background.step();
        const auto decision = exchange.decision(predictor.iteration());
        ASSERT_TRUE(decision) << i;
        // The first phase at a position was not predicted; then three must have been compared.
        EXPECT_EQ(decision->error,
                  i < 8 ? PredictionError{} : (PredictionError{.error_ns = 0, .together_ns = 0}))
            << i;
        now += 10;
      } else {
        now += duration_ns;
      }
      predictor.arrive(ArrivalUse::none);
    }
    EXPECT_THROW(predictor.leave(kPositions), std::invalid_argument);
    EXPECT_THROW(exchange.report({.iteration = 99, .position = -1}), std::invalid_argument);
  });
}

TEST(ArrivalPredictor, EdgesFromManyThreadsOnManyRanks) {
  constexpr int kRanks = 3;
  Record record;
  ThreadGroup(kRanks, 12).run([&](Transport& transport) {
    const Rank r = transport.rank();
    ClockSync clock(transport, skewed_clock(monotonic_clock(), r * 1'000'000, 0), {.period = 5ms}, 1);
    clock.synchronise();
    ArrivalExchange exchange(
        transport, 1, [&] { return clock.now_ns(); }, {}, kExchangeTag);
    Background background;
    ArrivalPredictor predictor(exchange, clock, background);
    background.add(clock);
    background.add(predictor);
    background.add(exchange);
    background.start();
    for (int i = 0; i < 10; ++i) {
      predictor.processing_start();
      std::vector<std::thread> workers;
      for (int t = 1; t <= 3; ++t) {
        workers.emplace_back([&, t] {
          std::this_thread::sleep_for(std::chrono::microseconds(300 * t * (r + 1)));
          predictor.edge(t / 4.0);
        });
      }
      for (std::thread& worker : workers) worker.join();
      predictor.processing_end();
      predictor.arrive(ArrivalUse::urgent);
      std::optional<Decision> decision;
      while (!(decision = exchange.decision(predictor.iteration()))) {
        if (!exchange.step()) std::this_thread::sleep_for(20us);
        background.rethrow();
      }
      record.add(r, *decision);
      predictor.leave();
    }
    background.stop();
    exchange.close();
    clock.close();
  });
  record.expect_agreement(kRanks);
  EXPECT_EQ(record.size(), 10U);
}

}  // namespace
}  // namespace papfft::comm
