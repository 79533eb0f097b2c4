// SPDX-License-Identifier: MIT
// Calls into which nobody can look, and who is told that one lasts too long.
#include "comm/engine/call_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "comm/engine/call_engine.hpp"
#include "comm/engine/wait.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "tests/support/guarded.hpp"

namespace papfft::comm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(CallWatch, RaisesTheAlarmOnceForEachCallThatLastsTooLong) {
  std::atomic<int> alarms{0};
  CallWatch watch(1ms, [&] { ++alarms; });
  for (int call = 1; call <= 3; ++call) {
    const CallWatch::Call watched(&watch);
    while (alarms < call) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(5ms);  // in which a second one could come
    EXPECT_EQ(alarms, call);
  }
}

TEST(Waiter, HasNotBeenIdleWhileTheProcessWasStopped) {
  Waiter waiter(WaitPolicy::nap, 200us, true);
  (void)waiter.idle_for();             // from now on
  std::this_thread::sleep_for(800ms);  // nobody asks meanwhile, as nobody does in a process that was stopped
  EXPECT_LE(waiter.idle_for(), 600ms);
  EXPECT_GT(waiter.idle_for(), 0ms);
  waiter.progressed();
  const auto before = std::chrono::steady_clock::now();
  while (waiter.idle_for() < 20ms) std::this_thread::sleep_for(1ms);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 19ms);
}

TEST(CallWatch, IsSilentWhileNoCallIsUnderWay) {
  std::atomic<int> alarms{0};
  CallWatch watch(1h, [&] { ++alarms; });
  for (int call = 0; call < 1000; ++call) const CallWatch::Call watched(&watch);
  const CallWatch::Call nobody_watches;
  EXPECT_EQ(alarms, 0);
}

/// Its library's calls end when the alarm has been raised.
class StuckInTheLibrary : public Collectives {
 public:
  StuckInTheLibrary(Transport& transport, const Options& options) : Collectives(transport, options) {
    offer_stock_calls();
    use_decisions("papfft-decisions 1\nbcast 400 mpi\n", false);
    engine().watch_stock([this](const StuckError& error) {
      const std::lock_guard lock(mutex_);
      said_.emplace_back(error.waits());
      is_alarmed_ = true;
    });
  }
  [[nodiscard]] const std::vector<std::string>& said() const { return said_; }

 protected:
  void stock_call(const CallArguments& /*arguments*/) override {
    while (!is_alarmed_) std::this_thread::sleep_for(1ms);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_alarmed_{false};
  std::vector<std::string> said_;
};

TEST(WatchedStock, IsToldOfIfItIsStuck) {
  ThreadGroup(2).run([](Transport& transport) {
    Options options;
    options.stuck_after = 50ms;
    StuckInTheLibrary comm(transport, options);
    std::vector<int> data(100);
    comm.bcast<int>(data, 0);
    ASSERT_EQ(comm.said().size(), 1U);
    EXPECT_THAT(comm.said()[0],
                HasSubstr("rank " + std::to_string(comm.rank()) + " waits for the MPI library in call "));
    EXPECT_THAT(comm.said()[0], HasSubstr("bcast mpi, root 0, 400 bytes"));
  });
}

}  // namespace
}  // namespace papfft::comm
