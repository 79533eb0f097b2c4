// SPDX-License-Identifier: MIT
#include "comm/arrival/decision_board.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

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

TEST(DecisionBoard, WhoAsksAloneGetsADecisionThatNobodyIsTold) {
  DecisionBoard board(2, 0, kLead);
  board.report(1, {.iteration = 0, .arrival_ns = 1, .basis = Basis::arrived});
  board.report(0, {.iteration = 0, .arrival_ns = 3, .basis = Basis::alone});
  const std::optional<Decision> own = board.decide(3);
  EXPECT_EQ(own, (Decision{0, {3, 1}, kNoError, false}));
  board.report(0, {.iteration = 1, .arrival_ns = 9, .basis = Basis::alone});
  board.report(1, {.iteration = 2, .arrival_ns = 9, .basis = Basis::waiting});
  EXPECT_EQ(board.decide(9), (Decision{1, {}, {}, false}));
  EXPECT_EQ(board.decide(9), (Decision{2, {}, {}, true})) << "what is asked next is told";
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

/// Calls at one position: how often it takes until the board says how good predictions are, and what it says.
class Judging {
 public:
  /// All ranks expect to come at the same time again, and tell of the last time.
  PredictionError call(const std::vector<PastArrival>& past, std::int32_t position = 0,
                       Basis basis = Basis::edge) {
    for (std::size_t r = 0; r < past.size(); ++r) {
      board_.report(static_cast<Rank>(r), {.iteration = iteration_,
                                           .arrival_ns = 5000,
                                           .past = past[r],
                                           .basis = basis,
                                           .position = position});
    }
    ++iteration_;
    return board_.decide(0)->error;
  }

 private:
  DecisionBoard board_{3, 0, kLead};
  std::int64_t iteration_ = 0;
};

TEST(DecisionBoard, JudgesPredictionsByWhatCameTheLastTime) {
  // All 1000 later than predicted, which does not count, and one 30 more; they came 0, 300 and 630 apart.
  const std::vector<PastArrival> past = {{0, 1000}, {300, 1300}, {600, 1630}};
  Judging judging;
  EXPECT_EQ(judging.call({{}, {}, {}}), PredictionError{}) << "there was no last time";
  EXPECT_EQ(judging.call(past), PredictionError{});
  EXPECT_EQ(judging.call(past), PredictionError{});
  EXPECT_EQ(judging.call({past[0], {}, past[2]}), PredictionError{}) << "one rank had no prediction";
  EXPECT_EQ(judging.call(past), (PredictionError{.error_ns = 10, .together_ns = 210}));
  EXPECT_EQ(judging.call({{}, {}, {}}, 0, Basis::waiting), kNoError) << "nothing is predicted";
}

TEST(DecisionBoard, JudgesEachPositionByItself) {
  const std::vector<PastArrival> good = {{0, 0}, {300, 300}, {600, 630}};
  const std::vector<PastArrival> bad = {{0, 600}, {300, 300}, {600, 0}};
  Judging judging;
  for (int i = 0; i < PredictionJudge::kWarmUp; ++i) {
    (void)judging.call(good, 0);
    (void)judging.call(bad, 5);
  }
  EXPECT_EQ(judging.call(good, 0).error_ns, 10);
  EXPECT_EQ(judging.call(bad, 5).error_ns, 400);
  EXPECT_EQ(judging.call(good, 1), PredictionError{});
}

TEST(PredictionJudge, ADisturbedCallOrTwoChangeNothing) {
  PredictionJudge judge;
  const std::vector<std::int64_t> predicted = {0, 100, 200};
  for (int i = 0; i < 3; ++i) judge.compare(predicted, std::vector<std::int64_t>{0, 100, 230});
  EXPECT_EQ(judge.error(), (PredictionError{.error_ns = 10, .together_ns = 76}));
  for (int i = 0; i < 2; ++i) judge.compare(predicted, std::vector<std::int64_t>{90000, 100, 200});
  EXPECT_EQ(judge.error().error_ns, 10);
  judge.compare(predicted, std::vector<std::int64_t>{90000, 100, 200});
  EXPECT_GT(judge.error().error_ns, 10000);
}

TEST(PredictionJudge, TakesAbsurdPredictionsOfManyRanks) {
  constexpr std::int64_t kFar = 1'000'000'000'000'000'000;  // what an edge may say at most
  std::vector<std::int64_t> predicted(100, kFar);
  std::fill_n(predicted.begin(), 50, 0);
  EXPECT_EQ(group_error_ns(predicted, std::vector<std::int64_t>(100)), kFar / 2);
}

TEST(PredictionJudge, RefusesAnotherNumberOfArrivals) {
  EXPECT_THROW((void)group_error_ns({}, {}), std::invalid_argument);
  EXPECT_THROW(PredictionJudge().compare(std::vector<std::int64_t>{1}, std::vector<std::int64_t>{1, 2}),
               std::invalid_argument);
}

TEST(DecisionBoard, OneRankAlone) {
  DecisionBoard board(1, 0, kLead);
  board.report(0, {.iteration = 0, .arrival_ns = 8, .basis = Basis::arrived});
  EXPECT_EQ(board.decide(8), (Decision{0, {8}, kNoError}));
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
    EXPECT_EQ(arrival_use(Operation::scatterv, 2, 2, thread, kEager, kEager), ArrivalUse::none);
    EXPECT_EQ(arrival_use(Operation::scatterv, 2, 2, thread, kLarge, kEager), ArrivalUse::patient);
    EXPECT_EQ(arrival_use(Operation::gatherv, 2, 2, thread, kLarge, kEager), ArrivalUse::urgent);
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
