// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "app/cli/exit_code.hpp"

namespace papfft::app {

class Job;

/// While one lives, SIGUSR1, SIGINT and SIGTERM, sent to any rank, ask the whole job to stop. The root decides how: in good
/// order while an Orderly lives there, whose owner looks at asked() and ends what it does; else at once, with one line and
/// the exit code, incomplete files removed. A second SIGINT or SIGTERM ends a process at once in any case.
///
/// What must wait for others, or may print, is done by a thread; the signals' handler only wakes it. One at a time.
class StopRequest {
 public:
  StopRequest();
  /// SIGUSR1 is ignored afterwards: a request that comes too late must not spoil what is complete.
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Here or, at the root, on any rank.
  [[nodiscard]] bool asked() const { return signal() != 0; }
  /// By which signal or whom, for messages, and the exit code that tells so.
  [[nodiscard]] const char* name() const;
  /// What a message about it begins with: the launcher also ends the ranks when one of them has failed, whose line is the error then.
  [[nodiscard]] const char* note() const { return is_by_launcher() ? "note: " : ""; }
  [[nodiscard]] int exit_code() const;

  /// See above; matters at the root. A request that comes as it ends is heeded or not.
  class Orderly {
   public:
    /// @param wake  called once by another thread when there is a request, for who cannot look at asked(); may be empty
    /// @param keep  called by that thread shortly before the launcher would kill the job, as it does when a rank has died, which
    ///              the others may wait for in vain. It keeps what is done and says so, and returns whether the job may end; may be empty
    explicit Orderly(StopRequest& stop, std::function<void()> wake = {}, std::function<bool()> keep = {});
    ~Orderly();
    Orderly(const Orderly&) = delete;
    Orderly& operator=(const Orderly&) = delete;

   private:
    StopRequest& stop_;
  };

  /// While one lives, the ranks of a job pass requests on to the root, which asks every 50 ms whether there is one. Without
  /// one, or if MPI does not let a thread do that, another rank that alone gets a signal ends the job with a line of its own.
  /// When it has ended the work is done, and requests come too late.
  class Line {
   public:
    /// Collective. @throws comm::TransportError
    Line(StopRequest& stop, Job& job);
    ~Line();
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    /// The job is about to be aborted: from now on MPI must not be called for this, as it would go on with messages whose
    /// memory is gone.
    void abandon();

   private:
    StopRequest& stop_;
  };

  /// The job ends by itself and has said why: from now on requests come too late. mpirun sends one to the ranks that end last.
  static void come_too_late();

 private:
  [[nodiscard]] bool is_by_launcher() const;
  class Messages;

  [[nodiscard]] int signal() const;
  void watch();
  void keep_in_time(std::chrono::steady_clock::duration since_asked);
  [[noreturn]] void end_at_once() const;
  [[noreturn]] void end() const;

  std::atomic<int> passed_on_ = 0;  // a signal that another rank got, at the root
  std::mutex mutex_;                // of what follows
  std::unique_ptr<Messages> messages_;
  bool is_orderly_ = false;
  std::function<void()> wake_;
  std::function<bool()> keep_;
  bool ends_ = false;  // the thread is to end
  std::thread thread_;
};

/// Whether an exit code says that a job was stopped on request.
[[nodiscard]] inline bool is_stopped(int code) { return code == kStopped || code == 130 || code == 143; }

}  // namespace papfft::app
