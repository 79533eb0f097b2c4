// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>

#include "papfft/options.hpp"

namespace papfft::comm {

/// What a thread does while nothing happens. Waiting decides the speed of ranks that share cores: a polling rank
/// takes the time that another needs to send.
class Waiter {
 public:
  /// @param crowded      more ranks than cores on this host: `automatic` then never spins
  /// @param polls_yield  Transport::polls_yield(): `automatic` does not yield once more
  Waiter(WaitPolicy policy, std::chrono::microseconds longest_nap, bool crowded, bool polls_yield = false);

  /// Something happened: the next pause is a short one again.
  void progressed();
  /// Nothing to do now: spins, yields or naps by policy.
  void pause();
  /// Since the last progressed().
  [[nodiscard]] std::chrono::nanoseconds idle_for() const;

 private:
  using Clock = std::chrono::steady_clock;
  WaitPolicy policy_;
  bool yields_;
  std::chrono::nanoseconds spin_for_;
  std::chrono::nanoseconds longest_nap_;
  std::chrono::nanoseconds next_nap_;
  Clock::time_point since_;
};

}  // namespace papfft::comm
