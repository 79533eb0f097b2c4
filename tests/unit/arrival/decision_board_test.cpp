// SPDX-License-Identifier: MIT
#include "comm/arrival/decision_board.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace papfft::comm {
namespace {

constexpr std::int64_t kLead = 100;

void predict(DecisionBoard& board, std::int64_t iteration, std::vector<std::int64_t> arrivals, Basis basis) {
  for (std::size_t r = 0; r < arrivals.size(); ++r) {
    board.report(static_cast<Rank>(r), {.iteration = iteration, .arrival_ns = arrivals[r], .basis = basis});
  }
}

TEST(DecisionBoard, DecidesOnceAllAreSure) {
  DecisionBoard board(3, 0, kLead);
  predict(board, 0, {5000, 6000}, Basis::edge);
  EXPECT_EQ(board.decide(0), std::nullopt);
  board.report(2, {.iteration = 0, .arrival_ns = 7000, .basis = Basis::history});
  EXPECT_EQ(board.decide(0), std::nullopt) << "rank 2 may know better soon";
  board.report(2, {.iteration = 0, .arrival_ns = 4000, .basis = Basis::edge});
  EXPECT_EQ(board.decide(0), (Decision{0, {5000, 6000, 4000}}));
  EXPECT_EQ(board.decide(9999), std::nullopt) << "once only";
}

TEST(DecisionBoard, DecidesByHistoryShortlyBeforeTheFirstArrival) {
  DecisionBoard board(2, 0, kLead);
  predict(board, 3, {5000, 6000}, Basis::history);
  EXPECT_EQ(board.due_ns(), 4900);
  EXPECT_EQ(board.decide(4899), std::nullopt);
  EXPECT_EQ(board.decide(4900), (Decision{3, {5000, 6000}}));
  EXPECT_EQ(board.due_ns(), std::nullopt);
}

TEST(DecisionBoard, ARankThatWaitsGetsTheVectorOrNothingAtOnce) {
  DecisionBoard board(3, 0, kLead);
  predict(board, 0, {5000, 6000}, Basis::edge);
  board.report(2, {.iteration = 0, .arrival_ns = 10, .basis = Basis::waiting});
  EXPECT_EQ(board.decide(10), (Decision{0, {5000, 6000, 10}})) << "its arrival completes the vector";
  board.report(1, {.iteration = 1, .arrival_ns = 9000, .basis = Basis::waiting});
  EXPECT_EQ(board.decide(9000), (Decision{1, {}}));
}

TEST(DecisionBoard, OnlyTheDecidersOwnPatientArrivalForces) {
  DecisionBoard board(3, 1, kLead);
  board.report(0, {.iteration = 0, .arrival_ns = 1, .basis = Basis::arrived});
  EXPECT_EQ(board.decide(2), std::nullopt);
  board.report(1, {.iteration = 0, .arrival_ns = 3, .basis = Basis::arrived});
  EXPECT_EQ(board.decide(3), (Decision{0, {}}));
}

TEST(DecisionBoard, DropsWhatComesTooLate) {
  DecisionBoard board(2, 0, kLead);
  board.report(0, {.iteration = 4, .arrival_ns = 1, .basis = Basis::waiting});
  EXPECT_EQ(board.decide(1), (Decision{4, {}}));
  board.report(1, {.iteration = 4, .arrival_ns = 2, .basis = Basis::waiting});
  EXPECT_EQ(board.decide(2), std::nullopt);
  board.report(1, {.iteration = 2, .arrival_ns = 2, .basis = Basis::waiting});
  EXPECT_EQ(board.decide(2), std::nullopt);
}

TEST(DecisionBoard, ReportsOfDifferentCallsMakeNoVector) {
  DecisionBoard board(2, 0, kLead);
  board.report(0, {.iteration = 1, .arrival_ns = 100, .basis = Basis::edge});
  board.report(1, {.iteration = 3, .arrival_ns = 300, .basis = Basis::edge});  // it skipped some
  EXPECT_EQ(board.decide(1000), std::nullopt);
  board.report(0, {.iteration = 3, .arrival_ns = 400, .basis = Basis::edge});
  EXPECT_EQ(board.decide(1000), (Decision{3, {400, 300}}));
}

TEST(DecisionBoard, ForcedCallsAreDecidedInOrder) {
  DecisionBoard board(3, 0, kLead);
  board.report(2, {.iteration = 7, .arrival_ns = 1, .basis = Basis::waiting});
  board.report(1, {.iteration = 5, .arrival_ns = 1, .basis = Basis::waiting});
  EXPECT_EQ(board.decide(1), (Decision{5, {}}));
  EXPECT_EQ(board.decide(1), (Decision{7, {}}));
}

TEST(DecisionBoard, TellsTheMeanError) {
  DecisionBoard board(3, 0, kLead);
  const auto report = [&](Rank rank, std::int64_t iteration, std::int64_t error_ns) {
    board.report(rank,
                 {.iteration = iteration, .arrival_ns = 5000, .error_ns = error_ns, .basis = Basis::edge});
  };
  report(0, 0, 30);
  report(1, 0, 600);
  report(2, 0, 0);
  EXPECT_EQ(board.decide(0), (Decision{0, {5000, 5000, 5000}, 210}));
  report(0, 1, kUnknownErrorNs);
  report(1, 1, kUnknownErrorNs);
  report(2, 1, 20);
  report(1, 1, 40);  // better known by now
  EXPECT_EQ(board.decide(0), (Decision{1, {5000, 5000, 5000}, kUnknownErrorNs}));
}

TEST(DecisionBoard, OneRankAlone) {
  DecisionBoard board(1, 0, kLead);
  board.report(0, {.iteration = 0, .arrival_ns = 8, .basis = Basis::arrived});
  EXPECT_EQ(board.decide(8), (Decision{0, {8}}));
}

TEST(DecisionBoard, RefusesAStrangerAsDecider) {
  EXPECT_THROW(DecisionBoard(3, 3, kLead), std::invalid_argument);
  EXPECT_THROW(DecisionBoard(3, -1, kLead), std::invalid_argument);
}

TEST(ArrivalUse, NobodyWaitsWhoWouldNotHaveWaited) {
  constexpr std::size_t kEager = 65536;
  constexpr std::size_t kLarge = 1 << 20;
  for (const bool thread : {false, true}) {
    EXPECT_EQ(arrival_use(Operation::scatter, 2, 2, thread, 8, kEager), ArrivalUse::patient);
    EXPECT_EQ(arrival_use(Operation::bcast, 2, 2, thread, 8, kEager), ArrivalUse::patient);
    EXPECT_EQ(arrival_use(Operation::scatter, 2, 0, thread, kLarge, kEager), ArrivalUse::none);
    EXPECT_EQ(arrival_use(Operation::gather, 2, 2, thread, kEager, kEager), ArrivalUse::none);
    EXPECT_EQ(arrival_use(Operation::gather, 2, 2, thread, kLarge, kEager), ArrivalUse::urgent);
    EXPECT_EQ(arrival_use(Operation::reduce, 2, 2, thread, 8, kEager), ArrivalUse::none);
  }
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::allgather,
                                    Operation::allgatherv, Operation::reduce_scatter}) {
    EXPECT_EQ(arrival_use(operation, 0, 0, true, kLarge, kEager), ArrivalUse::urgent);
    EXPECT_EQ(arrival_use(operation, 0, 0, false, kLarge, kEager), ArrivalUse::none);
  }
  EXPECT_EQ(arrival_use(Operation::allreduce, 0, 3, true, kLarge, kEager), ArrivalUse::urgent)
      << "without a root, any rank may decide";
}

}  // namespace
}  // namespace papfft::comm
