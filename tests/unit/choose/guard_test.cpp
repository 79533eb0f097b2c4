// SPDX-License-Identifier: MIT
#include "comm/choose/guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace papfft::comm {
namespace {

/// A program that repeats one call, guarded.
class Program {
 public:
  /// Time of a call by the way that "auto" chose, or by the MPI library's.
  using Time = std::function<double(bool is_stock)>;

  void run(int calls, const Time& time) {
    for (int i = 0; i < calls; ++i) call(time);
  }
  void call(const Time& time) {
    const Guard::Turn turn = guard_.turn();
    const double ns = time(turn.is_stock);
    total_ns_ += ns;
    stock_calls_ += turn.is_stock ? 1 : 0;
    trials_ += turn.is_challenger ? 1 : 0;
    EXPECT_FALSE(turn.is_challenger && !turn.is_timed);
    if (!turn.reports) {
      if (turn.is_timed) (turn.is_challenger ? challenger_ns_ : incumbent_ns_) = ns;
      guard_.call_ended();
      return;
    }
    const std::int64_t changes = guard_.changes();
    guard_.call_ended({std::llround(incumbent_ns_), std::llround(challenger_ns_), overhead_ns});
    const double loss_ns = challenger_ns_ - incumbent_ns_ + static_cast<double>(overhead_ns);
    lost_ns_ += loss_ns;
    most_lost_ns_ = std::max(most_lost_ns_, loss_ns);
    incumbent_ns_ = challenger_ns_ = 0;
    if (guard_.changes() != changes) lost_ns_ = 0;
  }

  [[nodiscard]] const Guard& guard() const { return guard_; }
  [[nodiscard]] double total_ns() const { return total_ns_; }
  /// By the challenger and the guard's own messages, since the last change.
  [[nodiscard]] double lost_ns() const { return lost_ns_; }
  [[nodiscard]] double most_lost_ns() const { return most_lost_ns_; }
  [[nodiscard]] int stock_calls() const { return stock_calls_; }
  [[nodiscard]] int trials() const { return trials_; }

  std::int64_t overhead_ns = 0;

 private:
  Guard guard_;
  double total_ns_ = 0;
  double lost_ns_ = 0;
  double most_lost_ns_ = 0;
  double incumbent_ns_ = 0;
  double challenger_ns_ = 0;
  int stock_calls_ = 0;
  int trials_ = 0;
};

Program::Time steady(double ours_ns, double stock_ns) {
  return [=](bool is_stock) { return is_stock ? stock_ns : ours_ns; };
}

/// The same with noise that is now and then long.
Program::Time noisy(double ours_ns, double stock_ns, double spread, std::uint64_t seed) {
  return [=, random = std::mt19937_64(seed)](bool is_stock) mutable {
    const double stall = random() % 50 == 0 ? 10 : 1;
    return (is_stock ? stock_ns : ours_ns) * std::exp(std::normal_distribution(0.0, spread)(random)) * stall;
  };
}

TEST(Guard, LeavesTheFirstCallsToWhatAutoChose) {
  Program program;
  program.run(2, steady(1e6, 1e6));
  EXPECT_EQ(program.stock_calls(), 0);
  EXPECT_TRUE(program.guard().turn().is_timed);
}

TEST(Guard, TakesTurnsWithinAPairAndBetweenPairs) {
  Program program;
  program.run(2, steady(1e6, 1e6));
  int first = 0;
  for (int pair = 0; pair < 100; ++pair) {
    while (!program.guard().turn().is_timed) program.call(steady(1e6, 1e6));
    const bool is_first = program.guard().turn().is_challenger;
    first += is_first ? 1 : 0;
    program.call(steady(1e6, 1e6));
    EXPECT_TRUE(program.guard().turn().is_timed);
    EXPECT_NE(program.guard().turn().is_challenger, is_first);
    program.call(steady(1e6, 1e6));
    EXPECT_TRUE(program.guard().turn().reports);
  }
  EXPECT_EQ(first, 50);
}

TEST(Guard, DropsALoserAfterTenPairs) {
  Program program;
  const auto time = steady(1.1e6, 1e6);
  while (program.guard().pairs() < 9) program.call(time);
  EXPECT_FALSE(program.guard().is_stock_in_use());
  program.run(3, time);
  EXPECT_EQ(program.guard().pairs(), 10);
  EXPECT_TRUE(program.guard().is_stock_in_use());
}

TEST(Guard, NineWinsOfTenPairsMayBeChanceAndTenOfElevenAreNot) {
  Program program;
  const auto time = [&](bool is_stock) {
    const bool loses = program.guard().pairs() == 4;
    return is_stock ? (loses ? 1.3e6 : 1e6) : 1.1e6;
  };
  while (program.guard().pairs() < 10) program.call(time);
  EXPECT_EQ(program.guard().changes(), 0);
  while (program.guard().pairs() < 11) program.call(time);
  EXPECT_EQ(program.guard().changes(), 1);
}

TEST(Guard, DropsAWayThatIsMuchSlowerSooner) {
  const auto pairs_until_change = [](double gain) {
    Program program;
    while (program.guard().changes() == 0) program.call(steady(gain * 1e6, 1e6));
    return program.guard().pairs();
  };
  EXPECT_EQ(pairs_until_change(20), 3);
  EXPECT_EQ(pairs_until_change(2.1), 3);
  EXPECT_EQ(pairs_until_change(1.9), 4);
  EXPECT_EQ(pairs_until_change(1.53), 5);
  EXPECT_EQ(pairs_until_change(1.28), 9);
}

TEST(Guard, BringsAJobOf300CallsNearTheBetterWay) {
  for (const double slowdown : {1.06, 1.2, 1.5, 2.0, 2.9}) {
    Program program;
    program.run(300, steady(slowdown * 1e6, 1e6));
    EXPECT_LE(program.total_ns(), 300 * 1e6 * 1.055) << slowdown;
    Program other;
    other.run(300, steady(1e6, slowdown * 1e6));
    EXPECT_LE(other.total_ns(), 300 * 1e6 * 1.015) << slowdown;
    EXPECT_EQ(other.guard().changes(), 0);
  }
}

TEST(Guard, IsSlowToTryAgainWhatLostAndForgetsNobody) {
  Program program;
  program.run(10, steady(1e6, 4e6));
  EXPECT_EQ(program.stock_calls(), 2);
  program.run(400, steady(1e6, 4e6));
  EXPECT_EQ(program.stock_calls(), 2);
  program.run(400, steady(1e6, 4e6));
  EXPECT_EQ(program.stock_calls(), 3);
  program.run(10'000, steady(1e6, 4e6));
  EXPECT_GT(program.stock_calls(), 10);
  EXPECT_LT(program.stock_calls(), 25);
}

TEST(Guard, FollowsAProgramWhoseCallsChange) {
  for (const double slowdown : {1.3, 2.0, 4.0}) {
    Program program;
    program.run(20'000, steady(1e6, slowdown * 1e6));
    EXPECT_FALSE(program.guard().is_stock_in_use());
    program.run(8'000, steady(slowdown * 1e6, 1e6));
    EXPECT_TRUE(program.guard().is_stock_in_use()) << slowdown;
    program.run(20'000, steady(1e6, slowdown * 1e6));
    EXPECT_FALSE(program.guard().is_stock_in_use()) << "what was dropped comes back, " << slowdown;
    EXPECT_EQ(program.guard().changes(), 2);
  }
}

TEST(Guard, IsNotMisledByASlowFirstCall) {
  Program program;
  const auto time = steady(2e6, 1e6);
  program.run(2, time);
  program.run(2, steady(2e6, 50e6));
  program.run(20, time);
  EXPECT_TRUE(program.guard().is_stock_in_use());
}

TEST(Guard, DoesNotGoToAndFroBetweenEqualWays) {
  std::int64_t changes = 0;
  std::int64_t pairs = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Program program;
    program.run(20'000, noisy(1e6, 1e6, 0.3, seed));
    changes += program.guard().changes();
    pairs += program.guard().pairs();
    EXPECT_LE(program.guard().changes(), 4) << seed;
  }
  EXPECT_LE(changes, 20) << "in 400,000 calls";
  EXPECT_LE(pairs, 400'000 / 50) << "the intervals grow";
  EXPECT_GE(pairs, 20 * 10);
}

TEST(Guard, FindsTheBetterWayThroughNoise) {
  int right = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Program program;
    program.run(2'000, noisy(1.5e6, 1e6, 0.2, seed));
    right += program.guard().is_stock_in_use() ? 1 : 0;
    Program other;
    other.run(2'000, noisy(1e6, 1.5e6, 0.2, seed));
    right += other.guard().is_stock_in_use() ? 0 : 1;
  }
  EXPECT_GE(right, 78) << "of 80";
}

/// For any two ways: the trials' loss is within the budget but for what two pairs lose.
TEST(Guard, KeepsToItsBudget) {
  std::mt19937_64 random(7);
  for (int program_number = 0; program_number < 200; ++program_number) {
    SCOPED_TRACE(program_number);
    Program program;
    const double ratio = std::exp(std::uniform_real_distribution(-0.2, 3.0)(random));
    program.overhead_ns = static_cast<std::int64_t>(random() % 30'000);
    const double spread = std::uniform_real_distribution(0.0, 0.2)(random);
    const Program::Time time = [&](bool is_stock) {
      return 1e6 * (is_stock ? ratio : 1) * std::uniform_real_distribution(1 - spread, 1 + spread)(random);
    };
    for (int call = 0; call < 3'000; ++call) {
      program.call(time);
      ASSERT_LE(program.lost_ns(), 1.3 * Guard::kBudget * program.total_ns() + 2 * program.most_lost_ns())
          << "after " << call << " calls, stock takes " << ratio << " times as long";
    }
  }
}

TEST(Guard, TriesSeldomWhereItsOwnMessagesCostMuch) {
  Program program;
  program.overhead_ns = 1'000'000;  // as much as a call
  program.run(10'000, steady(1e6, 1e6));
  EXPECT_LE(program.guard().pairs(), 60);
  EXPECT_GE(program.guard().pairs(), 8);
}

}  // namespace
}  // namespace papfft::comm
