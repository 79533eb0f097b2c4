// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/engine/call_planner.hpp"
#include "comm/engine/credit_window.hpp"
#include "comm/engine/execution.hpp"
#include "papfft/collectives.hpp"
#include "papfft/observer.hpp"

namespace papfft::comm {

/// Calls whose data come from this rank send one after another, few messages at a time: newer ones would take their share
/// of the link, and all would end late together. Calls whose data come to this rank also take turns: a newer one begins when
/// older ones wait for one message each. If more came at once, the few messages of the other direction, whose answers travel
/// with them, would wait in their queue; if none was left, the link would rest for a round trip between two calls.
inline constexpr int kSendsOfSource = 2;
inline constexpr int kReceivesLeft = 1;
/// A newer call does not wait for older ones in which nothing happens for so long: perhaps these wait for a rank that waits
/// for the newer one, and else the link would rest.
inline constexpr std::chrono::milliseconds kLongestRest{100};

struct SteadyCall;

/// One call that was started and not waited for. PendingCalls steps it; the caller asks whether it is done.
class PendingCall {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Role : std::uint8_t {
    source,  ///< this rank sends everybody's data
    sink,    ///< this rank receives everybody's data
    other
  };
  /// What the older calls of one role do, for the newer ones.
  struct Turn {
    bool are_busy = false;
    Clock::time_point moved_at = {};  ///< when anything happened in them last
  };

  /// What the execution works on.
  struct Data {
    std::shared_ptr<const void> keep = {};  ///< lives as long as the execution
    CallCopies* copies = nullptr;           ///< of the caller's buffers, if they are copies
  };

  /// @param home  whose plan it carries out, and where it is kept when it has ended
  /// @param execution  that will be restarted
  PendingCall(const std::shared_ptr<SteadyCall>& home, Role role, std::unique_ptr<Execution> execution);

  /// Whenever it has been made or restarted: its caller has come, and it may be stepped.
  void arrive(Data data) {
    data_ = std::move(data);
    observer_ = nullptr;
    begun_ = false;
    done_ = false;
    execution_->arrive();
  }
  /// Once it is no longer stepped.
  [[nodiscard]] Execution& execution() { return *execution_; }
  /// nullptr: no longer kept.
  [[nodiscard]] std::shared_ptr<SteadyCall> home() const { return home_.lock(); }
  /// Nobody waits for it any more.
  void let_go() { data_ = {}; }

  /// Before the first step. @param record  without its exit
  void observe(Observer& observer, const CallRecord& record) {
    observer_ = &observer;
    record_ = record;
  }

  [[nodiscard]] Role role() const { return role_; }
  /// After that, the execution is no longer touched. Any thread may ask.
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] std::string waits_for() const {
    return execution_->waits_for() + " in pending " + plan_->signature.text();
  }
  /// Unless it is another's turn. @param older  of its role; or nullptr
  /// @return whether anything happened
  bool step(Clock::time_point now, Turn* older);

 private:
  [[nodiscard]] bool is_busy() const;
  void end();

  std::weak_ptr<SteadyCall> home_;
  std::shared_ptr<const PlannedCall> plan_;
  Role role_;
  Data data_;
  std::unique_ptr<Execution> execution_;
  Observer* observer_ = nullptr;
  CallRecord record_ = {};
  bool begun_ = false;  // its turn has come
  Clock::time_point moved_at_ = {};
  std::atomic<bool> done_ = false;
};

/// All of a group, moved on together by any thread that has time: one at a time, the others go away.
class PendingCalls {
 public:
  /// @param credits  how many chunks schedules with credits keep under way; 0: found out
  explicit PendingCalls(int credits) : credits_(credits) {}

  /// For executions that will be added; only they use it.
  [[nodiscard]] CreditWindow& credits() { return credits_; }

  /// @throws what an earlier step threw
  void add(std::shared_ptr<PendingCall> call);
  /// After this returns, the call is no longer stepped.
  void remove(const PendingCall& call);

  /// @return whether anything happened. @throws what a step threw, now or before, in whatever thread
  bool step();

  /// Grows whenever something happens, in whatever thread.
  [[nodiscard]] std::uint64_t progress() const { return progress_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Of this rank: "rank 1 (recv ...) in gather lin, ...". For what is stuck.
  [[nodiscard]] std::string waits_for() const;
  [[nodiscard]] bool is_watched() const { return watchers_ > 0; }

  /// While one lives, its owner calls step() often.
  class Watch {
   public:
    explicit Watch(PendingCalls& calls) : calls_(calls) { ++calls_.watchers_; }
    ~Watch() { --calls_.watchers_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    PendingCalls& calls_;
  };

 private:
  bool step_all();

  mutable std::mutex mutex_;  // held while calls are stepped
  std::vector<std::shared_ptr<PendingCall>> calls_;
  std::exception_ptr error_;
  CreditWindow credits_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::uint64_t> progress_ = 0;
  std::atomic<int> watchers_ = 0;
};

}  // namespace papfft::comm
