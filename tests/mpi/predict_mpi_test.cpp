// SPDX-License-Identifier: MIT
// Clock and arrival exchange over MPI. All ranks of this test run on one machine, hence share one true clock.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>

#include "comm/arrival/arrival_predictor.hpp"
#include "comm/mpi/mpi_transport.hpp"

namespace papfft::comm {
namespace {

using namespace std::chrono_literals;

std::int64_t error_ns(const ClockSync& sync, const ClockSource& truth) {
  const std::int64_t before = truth();
  const std::int64_t said = sync.now_ns();
  const std::int64_t after = truth();
  return said < before ? before - said : std::max<std::int64_t>(0, said - after);
}

class PredictMpi : public testing::TestWithParam<std::int64_t> {
 protected:
  MpiTransport transport{MPI_COMM_WORLD};
};

TEST_P(PredictMpi, FindsTheClocksOffset) {
  const ClockSource truth = monotonic_clock();
  const ClockSource local = transport.rank() == 0 ? truth : skewed_clock(truth, GetParam(), 0);
  ClockSync sync(transport, local, {.first_burst = 40, .burst = 5, .period = 50ms}, 0);
  sync.synchronise();
  EXPECT_LE(error_ns(sync, truth), sync.uncertainty_ns());
  EXPECT_LE(std::abs(sync.to_reference(0) + (transport.rank() == 0 ? 0 : GetParam())),
            sync.uncertainty_ns() + 1000);
  RecordProperty("uncertainty_ns",
                 static_cast<int>(std::min<std::int64_t>(sync.uncertainty_ns(), 1'000'000'000)));
  Background background;
  background.add(sync);
  if (transport.threads_allowed()) background.start();
  // A fixed time, not a count of bursts: every rank goes on whatever the others do.
  for (const auto end = std::chrono::steady_clock::now() + 300ms; std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(1ms);
    background.step();
    background.rethrow();
    EXPECT_LE(error_ns(sync, truth), sync.uncertainty_ns());
  }
  background.remove(sync);
  sync.close();
  if (std::getenv("PAPFFT_TEST_VERBOSE") != nullptr) {
    std::printf("rank %d: uncertainty %ld ns, error %ld ns, %d bursts, thread's CPU %.2f %%\n",
                transport.rank(), static_cast<long>(sync.uncertainty_ns()),
                static_cast<long>(error_ns(sync, truth)), sync.bursts(), 100 * background.cpu_share());
  }
}

INSTANTIATE_TEST_SUITE_P(Offsets, PredictMpi, testing::Values(0, 5'000'000, -86'400'000'000'000));

TEST(PredictMpiExchange, AllRanksGetTheSameDecisions) {
  MpiTransport transport(MPI_COMM_WORLD);
  const Rank r = transport.rank();
  const int p = transport.size();
  const Rank decider = p - 1;
  ClockSync clock(transport, monotonic_clock(), 0);
  clock.synchronise();
  ArrivalExchange exchange(
      transport, decider, [&] { return clock.now_ns(); }, {}, 1);
  Background background;
  ArrivalPredictor predictor(exchange, clock, background);
  background.add(clock);
  background.add(predictor);
  background.add(exchange);
  if (transport.threads_allowed()) background.start();
  int vectors = 0;
  for (int i = 0; i < 20; ++i) {
    const auto half = std::chrono::milliseconds(1 + (r * 7 + i * 3) % 5);
    predictor.processing_start();
    std::this_thread::sleep_for(half);
    if (i % 4 != 3 || r != 0) predictor.edge(0.5);
    std::this_thread::sleep_for(half);
    predictor.processing_end();
    predictor.arrive(i % 2 == 0 ? ArrivalUse::patient : ArrivalUse::urgent);
    std::optional<Decision> decision;
    while (!(decision = exchange.decision(i))) {
      background.rethrow();
      if (!exchange.step()) std::this_thread::sleep_for(50us);
    }
    predictor.leave();
    vectors += decision->oblivious() ? 0 : 1;
    std::vector<std::int64_t> mine = decision->arrival_ns;
    mine.resize(static_cast<std::size_t>(p), -1);
    std::vector<std::int64_t> first = mine;
    MPI_Bcast(first.data(), p, MPI_INT64_T, 0, MPI_COMM_WORLD);
    EXPECT_EQ(mine, first) << "iteration " << i;
  }
  if (std::getenv("PAPFFT_TEST_VERBOSE") != nullptr && r == 0)
    std::printf("%d of 20 with a vector\n", vectors);
  background.stop();
  exchange.close();
  clock.close();
}

}  // namespace
}  // namespace papfft::comm
