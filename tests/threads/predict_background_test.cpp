// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

#include "comm/arrival/background.hpp"

namespace papfft::comm {
namespace {

using namespace std::chrono_literals;

/// Counts its steps; due at once as long as `busy`.
class StepCounter final : public BackgroundTask {
 public:
  bool step() override {
    if (fail) throw std::runtime_error("the task has failed");
    ++steps;
    return progresses;
  }
  [[nodiscard]] Clock::time_point due() const override {
    return busy ? Clock::time_point::min() : Clock::now() + later;
  }
  std::atomic<int> steps{0};
  std::atomic<bool> busy{false};
  std::atomic<bool> fail{false};
  std::atomic<bool> progresses{false};
  std::chrono::nanoseconds later = 24h;
};

template <typename Condition>
void wait_for(Condition condition) {  // the test's own time limit ends it if it never holds
  while (!condition()) std::this_thread::sleep_for(1ms);
}

TEST(Background, SleepsUntilNotified) {
  StepCounter task;  // outlives the thread
  Background background;
  background.add(task);
  background.start();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(task.steps, 0);
  task.busy = true;
  background.notify();
  wait_for([&] { return task.steps > 5; });
}

TEST(Background, ComesBackWhenATaskIsDue) {
  StepCounter task;  // outlives the thread
  Background background;
  task.later = 1ms;  // counted from each question, so that only the remembered answer can come true
  background.add(task);
  background.start();
  wait_for([&] { return task.steps > 3; });
}

TEST(Background, ARemovedTaskIsLeftAlone) {
  Background background;
  background.start();
  for (int i = 0; i < 50; ++i) {
    StepCounter task;  // on the stack: a step after its end would be seen by a sanitizer
    task.busy = true;
    background.add(task);
    wait_for([&] { return task.steps > 0; });
    background.remove(task);
  }
}

TEST(Background, NapsEvenIfATaskAlwaysGetsOn) {
  Background background({.shortest_nap = 1ms, .longest_nap = 1ms, .longest_spin = 0ns});
  StepCounter task;
  task.busy = true;
  task.progresses = true;
  background.add(task);
  const auto begin = std::chrono::steady_clock::now();
  background.start();
  wait_for([&] { return task.steps > 20; });
  background.stop();
  const auto naps = (std::chrono::steady_clock::now() - begin) / 1ms;
  // One step before the first nap and one more for add()'s notification; holds however slow the machine is.
  EXPECT_LE(task.steps, naps + 2);
}

TEST(Background, StopsAndStartsAgain) {
  StepCounter task;  // outlives the thread
  Background background;
  task.busy = true;
  background.add(task);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(background.has_thread());
    background.start();
    background.start();
    EXPECT_TRUE(background.has_thread());
    const int before = task.steps;
    wait_for([&] { return task.steps > before; });
    EXPECT_GE(background.cpu_share(), 0);
    EXPECT_LE(background.cpu_share(), 1);
    background.stop();
    background.stop();
  }
  const int after = task.steps;
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(task.steps, after);
  EXPECT_EQ(background.cpu_share(), 0);
}

TEST(Background, WithoutAThreadTheCallsStepTheTasks) {
  StepCounter task;  // outlives the thread
  Background background;
  background.add(task);
  EXPECT_FALSE(background.step());
  task.progresses = true;
  EXPECT_TRUE(background.step());
  EXPECT_EQ(task.steps, 2);
  background.remove(task);
  EXPECT_FALSE(background.step());
  EXPECT_EQ(task.steps, 2);
}

TEST(Background, WithAThreadTheCallsDoNot) {
  StepCounter task;  // outlives the thread
  Background background;
  background.add(task);
  background.start();
  EXPECT_FALSE(background.step());
  EXPECT_EQ(task.steps, 0);
}

TEST(Background, AnErrorReachesTheCaller) {
  StepCounter failing;
  Background background;
  failing.busy = failing.fail = true;
  background.start();
  EXPECT_NO_THROW(background.rethrow());
  background.add(failing);
  EXPECT_THROW(wait_for([&] {
                 background.rethrow();
                 return false;
               }),
               std::runtime_error);
}

TEST(Background, SignalsGoToTheProgramsThreads) {
  class Mask final : public BackgroundTask {
   public:
    bool step() override {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
      ++steps;
      return false;
    }
    [[nodiscard]] Clock::time_point due() const override { return Clock::time_point::min(); }
    std::atomic<bool> blocked{false};
    std::atomic<int> steps{0};
  } task;
  Background background;
  background.add(task);
  background.start();
  wait_for([&] { return task.steps > 0; });
  background.stop();
  EXPECT_TRUE(task.blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0) << "the caller's mask must be as before";
}

TEST(Background, NotifyFromManyThreads) {
  StepCounter task;  // outlives the thread
  Background background;
  background.add(task);
  background.start();
  task.busy = true;
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t) {
    workers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) background.notify();
    });
  }
  for (std::thread& worker : workers) worker.join();
  wait_for([&] { return task.steps > 0; });
}

TEST(Background, RefusesSettingsThatMakeNoSense) {
  EXPECT_THROW(Background({.shortest_nap = 0ns}), std::invalid_argument);
  EXPECT_THROW(Background({.shortest_nap = 2ms, .longest_nap = 1ms}), std::invalid_argument);
  EXPECT_THROW(Background({.longest_spin = -1ns}), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::comm
