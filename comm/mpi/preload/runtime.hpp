// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "comm/engine/steady_clock.hpp"
#include "comm/mpi/preload/communicators.hpp"
#include "comm/mpi/preload/eligibility.hpp"
#include "comm/mpi/preload/inside.hpp"
#include "comm/mpi/preload/observation.hpp"
#include "comm/mpi/preload/settings.hpp"
#include "comm/mpi/preload/started_groups.hpp"
#include "comm/mpi/preload/summary.hpp"
#include "comm/mpi/preload/way.hpp"

namespace papfft::comm::preload {

/// What the library does between MPI_Init and MPI_Finalize. One for the process.
class Runtime {
 public:
  /// Never destroyed: MPI_Finalize may run in an exit handler.
  [[nodiscard]] static Runtime& get();

  /// MPI has just been initialized. Collective over MPI_COMM_WORLD: the library works if all ranks have the same settings.
  /// @param with_threads  the program may call MPI in several threads at a time, if MPI lets it
  void start(bool with_threads);
  /// Of MPI_Init, as the settings want it.
  [[nodiscard]] bool wants_thread_multiple() const { return settings_.thread == Thread::multiple; }
  /// Calls of this thread may be ours, or are counted.
  [[nodiscard]] static bool is_watching() {
    return is_started_.load(std::memory_order_relaxed) && !Inside::is_any();
  }

  /// The same of calls that are only started.
  [[nodiscard]] static bool is_watching_started() {
    return takes_started_.load(std::memory_order_relaxed) && is_watching();
  }
  /// The program frees its communicator. Returns when the calls that it has started there have ended.
  void before_end_of(MPI_Comm comm);
  /// Of the program's that are ours. Only while is_watching_started().
  [[nodiscard]] PersistentCalls& persistent() { return started_groups_->persistent(); }

  /// Carries out a call, or starts it.
  /// @param check  why the call passes by its arguments; asked only if it is long enough
  /// @param serve  makes the call with our Collectives, by an algorithm of that name; a copy of it may live until a call that is
  /// started has ended
  /// @return what MPI returns
  template <typename Check, typename Serve>
  int carry_out(const Call& call, Check check, Serve serve, Way& way);

  /// A call has failed: later ones on its communicator are the MPI library's. @return what the program's error handler leaves to be returned
  int fail(std::string_view call, MPI_Comm comm, const std::exception& error) noexcept;

 private:
  /// Of a block or vector. A call with counts beyond an int may meet one without, whose ranks must come to the same verdict.
  static constexpr std::size_t kLongestBytes =
      MPI_VERSION < 4 ? std::numeric_limits<std::size_t>::max() : std::numeric_limits<int>::max();

  Runtime();
  [[nodiscard]] bool all_agree(bool with_threads);
  void complain() const;
  void begin();
  void report();
  /// Now, if somebody wants to know: a look at the clock costs as much as all else in a call that passes. Else 0.
  [[nodiscard]] std::int64_t observed_now_ns() const { return is_timed_ ? steady_now_ns() : 0; }
  /// Carries out a call that is waited for, if it is ours. @return whether it was; if not, `reason` says why
  template <typename Serve>
  [[nodiscard]] bool is_served(const Call& call, const Serve& serve, Reason& reason);
  /// A call that the group has served has ended, maybe by the MPI library's own algorithm.
  void note_served(const Call& call, const Group& group, std::int64_t from_ns);
  /// @param predicted_ns  of its arrival, from_ns @return how long the call took, in ns
  std::int64_t note_end(const Call& call, const char* algorithm, std::int64_t from_ns,
                        std::optional<std::int64_t> predicted_ns = std::nullopt);

  [[nodiscard]] Reason reason_by_length(const Call& call) const {
    if (call.bytes >= kLongestBytes) return Reason::too_long;
    return reason_to_pass(call.operation, call.bytes, settings_);
  }
  /// @param reason  why the call passes, if it does
  int start_call(const Call& call, Reason reason, std::function<void(Collectives&)> serve, Way& way);
  [[nodiscard]] bool is_left_to_stock(const Call& call, Collectives& ours) const;
  /// The group that serves the call. @return nullptr  none; `reason` says why. Collective when a communicator is seen first.
  [[nodiscard]] Group* group_for(const Call& call, Reason& reason);

  inline static std::atomic<bool> is_started_ = false;
  inline static std::atomic<bool> takes_started_ = false;

  Settings settings_;
  Options options_;
  std::string error_;              // of the settings
  bool all_have_threads_ = false;  // all ranks have been granted MPI_THREAD_MULTIPLE
  bool any_has_threads_ = false;   // of the program's, on some rank
  bool is_timed_ = false;
  std::optional<Communicators> communicators_;
  std::optional<StartedGroups> started_groups_;
  std::optional<Observation> observation_;
  Counters counters_;
  std::int64_t started_ns_ = 0;
  std::optional<detail::AtMpiEnd> at_end_;
};

template <typename Check, typename Serve>
int Runtime::carry_out(const Call& call, Check check, Serve serve, Way& way) {
  const Inside inside;
  const bool is_on = settings_.mode == Mode::on;
  Reason reason = is_on ? reason_by_length(call) : Reason::none;
  if (reason != Reason::none && !observation_) {
    counters_.add_passed(call.operation, call.bytes, reason, 0);
    return way.pass();
  }
  if (is_on && reason == Reason::none) reason = check();
  if (way.is_started()) {
    const std::string_view algorithm = settings_.algorithm_of(call.operation);
    return start_call(
        call, reason, [=](Collectives& ours) { serve(ours, algorithm); }, way);
  }
  if (is_on && reason == Reason::none && is_served(call, serve, reason)) return MPI_SUCCESS;
  const std::int64_t from_ns = observed_now_ns();
  const int code = way.pass();
  counters_.add_passed(call.operation, call.bytes, reason, note_end(call, "mpi", from_ns));
  return code;
}

template <typename Serve>
bool Runtime::is_served(const Call& call, const Serve& serve, Reason& reason) {
  try {
    Group* const group = group_for(call, reason);
    if (group == nullptr) return false;
    const std::int64_t from_ns = observed_now_ns();
    group->arrive();
    serve(*group->ours, settings_.algorithm_of(call.operation));
    group->leave();
    note_served(call, *group, from_ns);
    return true;
  } catch (const std::invalid_argument&) {  // nothing has happened yet, and MPI says better what is wrong
    reason = Reason::invalid;
    return false;
  }
}

}  // namespace papfft::comm::preload
