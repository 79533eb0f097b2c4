// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <optional>

#include "comm/engine/call_watch.hpp"
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
  /// Since the first question after the last progressed(), but for the time in which the process was stopped by a signal: a batch system may suspend a whole
  /// job, and no rank is stuck when it goes on. To be asked often.
  [[nodiscard]] std::chrono::nanoseconds idle_for();

 private:
  WaitPolicy policy_;
  bool yields_;
  std::chrono::nanoseconds spin_for_;
  std::chrono::nanoseconds longest_nap_;
  std::chrono::nanoseconds next_nap_;
  std::optional<Patience> idle_ = {};  // a call that need not wait never asks the clock
};

}  // namespace papfft::comm
