// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/arrival/background.hpp"
#include "comm/arrival/decision_board.hpp"
#include "comm/arrival/outbox.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// How all ranks come to the same vector of predicted arrivals, or alike to none; README.md has the protocol and why
/// nobody waits longer in it than in the collective itself.
///
/// Every rank reports to one decider (the root that is expected); the decider decides once per iteration and sends the
/// decision to all. An iteration is the number of a collective call, 0, 1, ..., the same on all ranks. A rank
///   1. may report predictions about its next call, any number of times;
///   2. on the call itself, asks arrival_use(), on the same arguments as everybody. Unless that says `none`, it reports
///      its arrival (as `arrived` if patient, `waiting` if urgent, `alone` if alone) and steps until decision() answers. Where the root's
///      part of the schedule alone depends on the arrivals, the others report and go on, and hear of no decision.
/// Owns a channel and two tags of the transport. All functions may be called by any thread and none but close() blocks.
class ArrivalExchange final : public BackgroundTask {
 public:
  struct Settings {
    /// A full set of predictions is decided so long before the first predicted arrival.
    std::chrono::nanoseconds lead = std::chrono::milliseconds(3);
    /// How often messages are looked for when none is expected soon.
    std::chrono::nanoseconds lazy_poll = std::chrono::milliseconds(3);
  };

  /// @param reference_now  the synchronised clock, ns; called by any thread. Only the decider looks at it.
  /// @param first_tag      this and the next tag are used.
  /// @throws std::invalid_argument if the decider is none of the ranks.
  ArrivalExchange(Transport& transport, Rank decider, std::function<std::int64_t()> reference_now,
                  const Settings& settings, int first_tag);
  ~ArrivalExchange() override;

  /// What this rank knows about its arrival at a call; the next step() sends it. Of what has not been sent yet only the
  /// newest goes. A report is dropped if it comes after one about a later call or, about the same, on a better basis.
  /// @throws std::invalid_argument if iteration < 0, or the position is none of kPositions.
  void report(const ArrivalReport& report);

  /// The decision about a call, once known here; oblivious, if a later call is decided already. This and report() forget decisions about
  /// earlier calls.
  [[nodiscard]] std::optional<Decision> decision(std::int64_t iteration);

  /// @throws TransportError (so may close()).
  bool step() override;
  [[nodiscard]] Clock::time_point due() const override;

  /// Collective; waits until no message is under way. No report and no step() after it.
  void close();

 private:
  struct Inbox {  // from one rank
    ArrivalReport report;
    int ticket = -1;
    bool gone = false;
  };

  void forget_before(std::int64_t iteration);
  bool step_locked();
  bool poll();
  void expect_report(Rank from);
  void expect_decision();
  void take_decision();
  bool send_newest();
  bool decide();
  void send_to_all(const Decision& decision);

  Transport& transport_;
  Rank decider_;
  std::function<std::int64_t()> now_;
  Settings settings_;
  int report_tag_;
  int decision_tag_;

  mutable std::mutex mutex_;
  std::optional<ArrivalReport> newest_;
  bool is_newest_unsent_ = false;
  std::deque<Decision> decisions_;  // known here and not forgotten, ascending
  std::int64_t last_known_ = -1;    // iteration of the newest of them
  Outbox outbox_;
  std::vector<int> ended_;
  // The decider:
  DecisionBoard board_;
  std::vector<Inbox> inboxes_;
  std::vector<Rank> heard_;  // in the poll under way
  // Others:
  std::vector<std::int64_t>
      decision_message_;  // iteration, 1 if oblivious, error_ns, together_ns, arrival_ns[P]
  int decision_ticket_ = -1;
  bool decider_gone_ = false;

  std::unique_ptr<Channel> channel_;  // last, so that it goes before the buffers that it may still write to
};

}  // namespace papfft::comm
