// SPDX-License-Identifier: MIT
#include "comm/engine/wait.hpp"

#include <algorithm>
#include <thread>

namespace papfft::comm {

namespace {
using namespace std::chrono_literals;
constexpr std::chrono::nanoseconds kFirstNap = 10us;
/// Less than a message takes on a fast link: to let another rank run and come back would take longer.
constexpr std::chrono::nanoseconds kSpin = 50us;
/// As long as several segments take on a slow link: whoever waits longer waits for a rank that is late. A nap while messages flow
/// costs more than the core it gives away, even on 48 hosts that share two cores (docs/measurements.md).
constexpr std::chrono::nanoseconds kPatience = 3ms;
}  // namespace

Waiter::Waiter(WaitPolicy policy, std::chrono::microseconds longest_nap, bool crowded, bool polls_yield)
    : policy_(policy),
      yields_(!polls_yield),
      spin_for_(crowded ? 0ns : kSpin),
      longest_nap_(longest_nap),
      next_nap_(std::min(kFirstNap, longest_nap_)) {}

void Waiter::progressed() {
  idle_.reset();
  next_nap_ = std::min(kFirstNap, longest_nap_);
}

std::chrono::nanoseconds Waiter::idle_for() {
  if (!idle_) idle_.emplace();
  return idle_->look();
}

void Waiter::pause() {
  switch (policy_) {
    case WaitPolicy::spin:
      return;
    case WaitPolicy::yield:
      std::this_thread::yield();
      return;
    case WaitPolicy::automatic: {
      const std::chrono::nanoseconds idle = idle_for();
      if (idle < spin_for_) return;
      if (idle >= kPatience) break;
      // MPI_Testsome tells only the next time what it has just completed. To yield in between would hand the core to another rank
      // while a message is here: on 8 ranks that share two cores, short calls took 1.1 to 1.3 times stock MPI's time.
      if (yields_) std::this_thread::yield();
      return;
    }
    case WaitPolicy::nap:
      break;
  }
  std::this_thread::sleep_for(next_nap_);
  next_nap_ = std::min(2 * next_nap_, longest_nap_);
}

}  // namespace papfft::comm
