// SPDX-License-Identifier: MIT
#include "comm/engine/wait.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace papfft::comm {

namespace {
using namespace std::chrono_literals;
constexpr std::chrono::nanoseconds kFirstNap = 10us;
constexpr std::chrono::nanoseconds kSpinAlone = 200us;  // about the latency of a 1 Gb/s network with TCP
}  // namespace

Waiter::Waiter(WaitPolicy policy, std::chrono::microseconds longest_nap, bool crowded)
    : policy_(policy),
      spin_for_(policy == WaitPolicy::automatic && !crowded ? kSpinAlone : 0ns),
      longest_nap_(longest_nap),
      next_nap_(std::min(kFirstNap, longest_nap_)),
      since_(Clock::now()) {}

void Waiter::progressed() {
  since_ = Clock::now();
  next_nap_ = std::min(kFirstNap, longest_nap_);
}

void Waiter::pause() {
  switch (policy_) {
    case WaitPolicy::spin:
      return;
    case WaitPolicy::yield:
      std::this_thread::yield();
      return;
    case WaitPolicy::nap:
    case WaitPolicy::automatic:
      break;
  }
  if (spin_for_ > 0ns && idle_for() < spin_for_) return;
  std::this_thread::sleep_for(next_nap_);
  next_nap_ = std::min(2 * next_nap_, longest_nap_);
}

std::chrono::nanoseconds Waiter::idle_for() const { return Clock::now() - since_; }

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace papfft::comm
