// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/engine/call_guard.hpp"
#include "comm/engine/call_planner.hpp"
#include "comm/engine/call_watch.hpp"
#include "comm/engine/credit_window.hpp"
#include "comm/engine/execution.hpp"
#include "comm/engine/pending_calls.hpp"
#include "comm/engine/simulated_ways.hpp"
#include "comm/engine/steady_calls.hpp"
#include "comm/engine/steady_clock.hpp"
#include "comm/engine/wait.hpp"
#include "comm/engine/watchdog.hpp"
#include "comm/transport/tags.hpp"
#include "comm/transport/transport.hpp"
#include "papfft/collectives.hpp"
#include "papfft/errors.hpp"
#include "papfft/observer.hpp"

namespace papfft::comm {

/// The caller's side of a call, for the observer. Times by steady_clock.
struct CallerTimes {
  std::int64_t arrival_ns = 0;
  std::optional<std::int64_t> ahead_ns = {};  ///< by how much it was expected later than it came
  std::optional<std::int64_t> early_ns = {};  ///< when the first message began, if before it came
};

/// What an execution needs beside its plan.
struct CallSetup {
  std::uint32_t instance = 0;
  std::vector<std::int64_t> arrival_ns = {};  ///< that the schedule is planned by, or empty
  std::span<const std::byte> send = {};       ///< without data: not known yet
  std::span<std::byte> recv = {};
  const Reducer* reducer = nullptr;  ///< of a reduction; must outlive the execution
  CreditWindow* credits = nullptr;   ///< nullptr: those of the calls that are waited for
  int most_sends = 0;                ///< under way at a time; 0: as the planner says
  Observer* observer = nullptr;      ///< of messages
};

/// The calls of one group, from their plans to their ends: makes executions, numbers them, waits for them, moves on beside
/// them what has been started, and tells the observer. Collectives, Session, Pending and Farm are its clients.
class CallEngine {
 public:
  /// @param transport  must outlive this object
  CallEngine(Transport& transport, const Options& options);
  CallEngine(const CallEngine&) = delete;
  CallEngine& operator=(const CallEngine&) = delete;

  [[nodiscard]] Transport& transport() const { return transport_; }
  [[nodiscard]] Rank rank() const { return transport_.rank(); }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const CallPlanner& planner() const { return planner_; }
  [[nodiscard]] CallPlanner& planner() { return planner_; }
  [[nodiscard]] PendingCalls& pending() { return pending_; }
  [[nodiscard]] CallGuard& guard() { return guard_; }
  [[nodiscard]] const CallStatistics& last() const { return last_; }
  void use_link(const LinkModel& link) {
    options_.link = link;
    is_link_known_ = true;
    forget();
  }
  /// Collective. @param budget  short messages and one burst of long ones are measured in any case, and more only if it fits into this time
  /// @throws as Collectives::measure_link
  [[nodiscard]] LinkModel measure_link(const LinkProbe& probe,
                                       std::chrono::nanoseconds budget = std::chrono::nanoseconds::max());
  /// Collective: measures the link between hosts, if there is one and the options allow that, and chooses by it from now on.
  void learn_link();
  /// Before a call, the same on all ranks: the link is learned once the calls have moved so much that it pays.
  void learn_link_for(const CallArguments& call) {
    if (is_link_known_ || call.algorithm == "mpi" || traits(call.operation).sizes_are_own) return;
    called_bytes_ += call.bytes;
    if (called_bytes_ >= kWorthAProbe) learn_link();
  }
  void offer_stock() {
    planner_.offer_stock();
    forget();
  }
  /// Collective. From now on a thread watches the MPI library's calls, into which nobody can look, so that "auto" may leave calls to the
  /// library although Options::stuck_after is set. Does nothing if that is not set, or if MPI allows no threads.
  /// @param alarm  called by that thread if a call has lasted longer, with what a stuck call of ours would throw; must end the process
  void watch_stock(std::function<void(const StuckError&)> alarm);
  /// Watches, while the result lives, a call of the MPI library's by this plan; of ours, nothing.
  [[nodiscard]] CallWatch::Call watched(const PlannedCall& plan) {
    in_stock_ = &plan;
    return CallWatch::Call(plan.is_stock() && stock_watch_ ? &*stock_watch_ : nullptr);
  }
  /// As CallPlanner's. A link that the table knows need not be learned. Whoever fixes alpha or beta knows better.
  void use_decisions(DecisionTable decisions, bool tuned_stock) {
    if (const auto& level = decisions.machine().between; level && options_.learn_link) use_link(level->link);
    simulated_ways_.use(decisions.machine());
    planner_.use_decisions(std::move(decisions), tuned_stock);
    forget();
  }
  void observe(Observer* observer) { observer_ = observer; }
  [[nodiscard]] Observer* observer() const { return observer_; }

  /// For the next call. @return what execution() wants
  [[nodiscard]] std::uint32_t take_instance(CallKind kind) { return instance_of(calls_++, kind); }
  /// For the call after that; it will have the number without taking it.
  [[nodiscard]] std::uint32_t next_instance(CallKind kind) const { return instance_of(calls_, kind); }

  /// A planned call that has not begun: its part of the schedule, layout, window, execution. Not observed.
  [[nodiscard]] Execution execution(const PlannedCall& plan, CallSetup setup);
  /// The same on the heap, observed by the setup's observer.
  [[nodiscard]] std::unique_ptr<Execution> new_execution(const PlannedCall& plan, CallSetup setup);

  /// The caller has come: packs its input, where that is to be copied, and brings the own block of an allgather to its place in the
  /// result. From there the block can be sent together with its neighbours.
  [[nodiscard]] CallArguments at_home(CallArguments arguments) const;

  /// The same call as before, or one that is planned now. @throws as CallPlanner::plan
  [[nodiscard]] std::shared_ptr<SteadyCall> steady(const CallArguments& arguments) {
    return steady_.find(planner_, arguments, true);
  }
  /// The call of that plan, or nullptr if it is no longer kept.
  [[nodiscard]] std::shared_ptr<SteadyCall> steady(const PlannedCall& plan) const {
    return steady_.holder_of(plan);
  }
  /// Before a steady call, the same on all ranks: what "auto" knows better now. Collective now and then.
  /// @return the call is to be asked for anew
  [[nodiscard]] bool improve(const SteadyCall& call) {
    if (!simulated_ways_.improve(*call.plan)) return false;
    guard_.forget(*call.plan);
    steady_.clear();
    return true;
  }
  /// A call of ours from its beginning to its end, arrivals unknown. @throws as finish()
  void run(SteadyCall& call, const CallArguments& arguments, std::uint32_t instance);
  /// A planned call of ours from its beginning to its end, arrivals unknown. @throws as finish()
  void run(const PlannedCall& plan, std::span<const std::byte> send, std::span<std::byte> recv,
           const Reducer* reducer);
  /// The same for a call whose messages belong to the layer: on bytes, by a fixed algorithm.
  void run_own(Operation operation, std::span<const std::byte> send, std::span<std::byte> recv,
               std::size_t bytes, const char* algorithm, Rank root = 0);
  /// Steps an execution that has arrived until it is done. @throws StuckError and what step() throws
  void finish(Execution& execution, const PlannedCall& plan);
  /// Collective; returns when all ranks have called it. @return  all said yes; the same on all ranks. @throws as finish()
  [[nodiscard]] bool all_say(bool yes);
  /// The statistics of last() begin with a call of ours, or are those of one of the MPI library.
  void note_call(const PlannedCall& plan);

  /// @throws MismatchError on every rank, if the ranks do not make the same call
  /// @param reducer  or nullptr. Those without a name are not told apart
  void require_agreement(CallSignature mine, const Reducer* reducer);

  /// Begins a call that goes on beside its caller. @throws as Collectives::start
  [[nodiscard]] std::shared_ptr<PendingCall> start(const CallArguments& arguments,
                                                   std::shared_ptr<const void> keep);
  /// Begins an allreduce of the layer's own, beside its caller. The n-th of a rank belongs to the n-th of the others.
  [[nodiscard]] std::shared_ptr<PendingCall> start_report(std::span<std::byte> data, const Reducer& reducer,
                                                          std::shared_ptr<const void> keep);
  /// Nobody waits any more for a call that was started. It is kept for the next one like it, if it is done.
  void release(std::shared_ptr<PendingCall> call);
  /// This rank has started calls.
  [[nodiscard]] bool has_started() const {
    return std::ranges::any_of(started_, [](std::uint32_t calls) { return calls > 0; });
  }
  /// Until done(); moves on what has been started.
  /// @param idle_is_fine  never stuck
  void wait_for_pending(const std::function<bool()>& done, bool idle_is_fine = false);

  /// Calls step(), which says whether anything happened, until done(). Moves pending calls on, too.
  /// @param what          tells whom this rank waits for
  /// @param idle_is_fine  never stuck
  /// @throws StuckError   after a time without progress
  template <typename Step, typename Done, typename What>
  void wait(Step step, Done done, What what, bool idle_is_fine = false) {
    Waiter waiter(options_.wait, options_.longest_nap, crowded_, transport_.polls_yield());
    const PendingCalls::Watch watch(pending_);
    std::uint64_t before = pending_.progress();
    while (!done()) {
      const bool any = step();
      pending_.step();
      const std::uint64_t now = pending_.progress();  // also by another thread
      if (std::exchange(before, now) != now || any) {
        waiter.progressed();
        continue;
      }
      waiter.pause();
      if (!idle_is_fine && watchdog_.is_on() && watchdog_.is_too_long(waiter.idle_for())) {
        watchdog_.report(what());
      }
    }
  }

  /// "rank 2 waits for ", as the text of a rank that is stuck begins.
  [[nodiscard]] std::string waits() const { return "rank " + std::to_string(rank()) + " waits for "; }
  /// " in call 17, gather lin, ...": how it ends. What the caller knows is the call whose arguments are checked.
  [[nodiscard]] std::string in_call(const PlannedCall& plan) const {
    if (checked_ != nullptr) return " in the check of " + checked_->text();
    return " in call " + std::to_string(calls_) + ", " + plan.signature.text();
  }

  /// Now; without an observer, nobody asks the clock.
  [[nodiscard]] std::int64_t observed_now_ns() const { return observer_ != nullptr ? steady_now_ns() : 0; }
  /// A call has just ended.
  void tell_observer(const PlannedCall& plan, const CallerTimes& times);

 private:
  /// What "auto" means has changed.
  void forget() {
    steady_.clear();
    guard_.clear();
    simulated_ways_.clear();
  }
  /// Begins a call and adds it to those that are moved on. @param record  for the setup's observer; nullptr: not told
  [[nodiscard]] std::shared_ptr<PendingCall> started(const std::shared_ptr<SteadyCall>& call, CallSetup setup,
                                                     PendingCall::Role role, PendingCall::Data data,
                                                     const CallRecord* record);
  /// Of started calls of one kind, kept to be restarted.
  static constexpr std::size_t kMostEnded = 8;
  /// Bytes of calls that take some milliseconds themselves.
  static constexpr std::size_t kWorthAProbe = std::size_t{1} << 20U;

  Transport& transport_;
  Options options_;
  CallPlanner planner_;
  SteadyCalls steady_;
  Watchdog watchdog_;
  CreditWindow credits_;
  PendingCalls pending_;
  CallGuard guard_{*this};
  SimulatedWays simulated_ways_{*this};
  bool crowded_;  // more ranks than cores on this host
  bool is_link_known_ = false;
  std::size_t called_bytes_ = 0;  // until it is known
  Observer* observer_ = nullptr;
  CallStatistics last_;
  std::string last_stock_;                  // its algorithm, of the MPI library
  const PlannedCall* in_stock_ = nullptr;   // that is under way there
  const CallSignature* checked_ = nullptr;  // while the ranks compare it
  std::uint32_t calls_ = 0;
  std::uint32_t reports_ = 0;
  std::uint64_t observed_ = 0;                            // calls
  std::array<std::uint32_t, kOperationCount> started_{};  // calls of each operation
  std::optional<CallWatch> stock_watch_;                  // the last member: its thread looks at the others
};

}  // namespace papfft::comm
