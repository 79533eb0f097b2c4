// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace papfft::comm {

/// Something that goes on beside the caller's computation, in small steps.
class BackgroundTask {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~BackgroundTask() = default;
  /// Does what can be done now; never blocks. @return true if anything happened.
  virtual bool step() = 0;
  /// When step() should be called next: past = poll it, max() = not until somebody notifies. Asked after a step and
  /// after notify(); an answer holds until an earlier one is given. Called by any thread.
  [[nodiscard]] virtual Clock::time_point due() const = 0;
};

/// Steps tasks beside the caller's computation: in one thread of its own, or, where there must be none (MPI without
/// MPI_THREAD_MULTIPLE), whenever the caller steps it.
///
/// The thread sleeps until the earliest task is due or notify() wakes it, and polls what is due with naps between.
/// It blocks all signals, so that they go to the program's own threads.
class Background {
 public:
  struct Settings {
    std::chrono::nanoseconds shortest_nap = std::chrono::microseconds(50);
    std::chrono::nanoseconds longest_nap = std::chrono::microseconds(200);
    /// For so long at most steps follow each other without a nap, and only while they get on.
    std::chrono::nanoseconds longest_spin = std::chrono::microseconds(100);
    /// A task that is due so soon is stepped with those that are due now: waking up costs more than stepping.
    std::chrono::nanoseconds together = std::chrono::milliseconds(1);
  };

  Background() : Background(Settings{}) {}
  /// No thread yet. @throws std::invalid_argument unless 0 < shortest_nap <= longest_nap and longest_spin >= 0.
  explicit Background(const Settings& settings);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Starts the thread, once. @throws std::system_error.
  void start();
  /// Ends and joins the thread, if any.
  void stop() noexcept;
  [[nodiscard]] bool has_thread() const { return thread_.joinable(); }

  /// `task` must stay alive until remove(). Not to be called from a task's step().
  void add(BackgroundTask& task);
  /// After this returns, the task is no longer being stepped.
  void remove(BackgroundTask& task);

  /// A task has become due earlier than it said. Cheap; callable from any thread, but not from a signal handler.
  void notify() noexcept;

  /// Without a thread: steps all tasks once; with one: does nothing. For the caller's own calls.
  /// @return true if anything happened. @throws what a task throws.
  bool step();

  /// If a task threw in the thread, throws that here. No task is stepped after one has thrown.
  void rethrow() const;

  /// CPU time of the thread over its lifetime so far, 0 .. 1; 0 without a thread.
  [[nodiscard]] double cpu_share() const;

 private:
  using Clock = BackgroundTask::Clock;
  void run() noexcept;
  /// @return whether anything happened, and when the earliest task is due.
  std::pair<bool, Clock::time_point> step_due();

  Settings settings_;
  mutable std::mutex tasks_mutex_;  // held while tasks are stepped
  struct Entry {
    BackgroundTask* task = nullptr;
    Clock::time_point due;  // as it said after its last step, or earlier
  };
  std::vector<Entry> tasks_;
  std::exception_ptr error_;

  std::mutex wake_mutex_;  // held for moments only, so that notify() never waits for a task
  std::condition_variable wake_;
  bool notified_ = false;
  bool stopping_ = false;

  std::atomic<std::int64_t> cpu_ns_{0};
  Clock::time_point started_;
  std::thread thread_;
};

}  // namespace papfft::comm
