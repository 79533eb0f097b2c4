// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace papfft::comm {

/// How long somebody has waited who looks again and again. While the process was stopped by a signal it has not waited: as it goes on,
/// others may be long waiting for it, and it must not say that it waits for them.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  /// To be called often. @return the time waited
  Clock::duration look();

 private:
  Clock::duration waited_{};
  Clock::time_point last_ = Clock::now();
};

/// Raises an alarm if a call lasts too long that cannot be looked into, such as one of the MPI library's. By a thread of its own.
class CallWatch {
 public:
  /// The time from begins() to the end of this object is watched. Must not outlive its CallWatch.
  class Call {
   public:
    explicit Call(CallWatch* watch = nullptr) : watch_(watch) {
      if (watch_ != nullptr) watch_->begins();
    }
    ~Call() {
      if (watch_ != nullptr) watch_->ends();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    CallWatch* watch_;
  };

  /// @param limit  that no call may last longer than
  /// @param alarm  called by the thread, once for each call that does; the call cannot end while the alarm runs
  CallWatch(std::chrono::nanoseconds limit, std::function<void()> alarm);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  /// A call at a time.
  void begins() noexcept;
  void ends() noexcept;

 private:
  void watch();

  std::chrono::nanoseconds limit_;
  std::function<void()> alarm_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool is_under_way_ = false;
  std::uint64_t calls_ = 0;
  std::thread thread_;
};

}  // namespace papfft::comm
