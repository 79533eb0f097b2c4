// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/arrival/arrival_doubt.hpp"
#include "comm/arrival/arrival_exchange.hpp"
#include "comm/arrival/arrival_predictor.hpp"
#include "comm/arrival/background.hpp"
#include "comm/arrival/call_forecast.hpp"
#include "comm/arrival/clock_sync.hpp"
#include "comm/arrival/early_run.hpp"
#include "comm/arrival/pending_progress.hpp"
#include "comm/engine/call_engine.hpp"
#include "papfft/session.hpp"

namespace papfft::comm {

/// A session's calls: plans them by predicted arrivals, and begins the next one before its caller comes. What Session and
/// PersistentCall come down to.
class SessionCalls {
 public:
  using StockCall = std::function<void(const CallArguments&)>;

  /// Collective: synchronises the clocks. @param engine  must outlive this object. @param stock  the MPI library's own calls
  SessionCalls(CallEngine& engine, const SessionOptions& options, StockCall stock);
  SessionCalls(const SessionCalls&) = delete;
  SessionCalls& operator=(const SessionCalls&) = delete;

  /// Collective; ends the background activity, once.
  void close();
  /// The same without a word to the others.
  void abandon() noexcept;
  [[nodiscard]] bool is_closed() const { return closed_; }

  [[nodiscard]] ArrivalPredictor& predictor() { return predictor_; }
  void use_algorithm(Operation operation, std::string_view algorithm);

  /// @throws StateError  a persistent call has been started; else as Collectives
  void call(const CallArguments& arguments);
  [[nodiscard]] Pending start(const CallArguments& arguments, std::shared_ptr<const void> keep);

  [[nodiscard]] std::unique_ptr<PersistentBody> persistent(const CallArguments& arguments,
                                                           std::shared_ptr<const void> keep);
  /// @throws StateError  out of turn
  void start(const PersistentBody& handle);
  void wait(const PersistentBody& handle);
  /// The handle goes away.
  void drop(const PersistentBody& handle);

  [[nodiscard]] std::int64_t now_ns() const { return clock_.now_ns(); }
  [[nodiscard]] SessionStatistics statistics() const;

 private:
  /// The call that comes next, as all ranks know.
  struct ExpectedCall {
    std::shared_ptr<const PlannedCall> plan;
    std::uint32_t instance = 0;
    std::shared_ptr<SteadyCall> steady = nullptr;  // or it is no longer kept; a handle's always is
  };
  /// What there is of a call when its caller comes.
  struct Begun {
    std::uint32_t instance = 0;
    std::unique_ptr<Execution> execution = nullptr;
    bool is_restarted = false;
    bool is_kept = false;  // to be restarted the next time
  };
  /// What the expected call's execution is made of, by whichever thread makes it.
  struct Early {
    std::shared_ptr<const PlannedCall> plan = nullptr;
    std::shared_ptr<SteadyCall> steady = nullptr;
    std::unique_ptr<Execution> spare = nullptr;  // of an earlier run
    std::span<std::byte> recv = {};
    const Reducer* reducer = nullptr;
    std::uint32_t instance = 0;
    Observer* observer = nullptr;
    bool is_restarted = false;
    bool is_kept = false;
  };

  void end_handles();
  [[nodiscard]] CallArguments resolved(CallArguments arguments) const;
  /// How the call would use arrivals, and how it does.
  [[nodiscard]] ArrivalUse possible_use_of(const PlannedCall& plan) const;
  [[nodiscard]] ArrivalUse use_of(const PlannedCall& plan) const;
  /// All ranks ask for the arrivals, and plan without if these are not worth it.
  [[nodiscard]] bool may_doubt(const PlannedCall& plan) const;
  /// This rank's part of the schedule depends on the arrivals.
  [[nodiscard]] bool asks(const PlannedCall& plan) const;
  void serve(const CallArguments& arguments, const PersistentBody* handle);
  void note_arrival();
  void compare_prediction();
  [[nodiscard]] std::vector<std::int64_t> arrivals_for(const PlannedCall& plan, std::int64_t iteration);
  std::optional<ExpectedCall> take_expected();
  void drop_expected();
  void end_early();
  [[nodiscard]] std::unique_ptr<Execution> make_early(Decision decision);
  [[nodiscard]] Begun take_begun(const PlannedCall& plan, const CallArguments& arguments);
  void execute(const PlannedCall& plan, SteadyCall& steady, const CallArguments& arguments,
               std::vector<std::int64_t> arrival_ns, Begun& begun, CallerTimes& times);
  bool expect_successor(std::int64_t iteration, std::optional<Operation> but_not);
  void begin_early(std::span<std::byte> recv, const Reducer* reducer, std::int64_t iteration);
  void hurry(bool hurries);

  CallEngine& engine_;
  StockCall stock_;
  SessionOptions options_;
  Background background_;
  ClockSync clock_;
  ArrivalExchange exchange_;
  ArrivalPredictor predictor_;
  PendingProgress pending_progress_;
  bool threads_everywhere_ = false;
  bool closed_ = false;
  std::array<std::string, kOperationCount> algorithms_;  // what "auto" stands for

  CallForecast forecast_;
  std::array<ArrivalDoubt, kOperationCount> doubts_;
  std::optional<ExpectedCall> expected_;
  Early early_;                                     // what is expected, if something of it can come early
  std::optional<EarlyRun> run_;                     // that
  const PersistentBody* started_ = nullptr;         // the one that is expected
  std::shared_ptr<SessionCalls*> handles_session_;  // what the handles know of this session
  SessionStatistics statistics_;
  std::int64_t sum_of_errors_ns_ = 0;
};

/// A persistent call's arguments, and its session as long as that is open.
class PersistentBody {
 public:
  PersistentBody(std::shared_ptr<SessionCalls*> session, const CallArguments& given,
                 std::shared_ptr<const void> keep);
  ~PersistentBody();
  PersistentBody(const PersistentBody&) = delete;
  PersistentBody& operator=(const PersistentBody&) = delete;

  [[nodiscard]] const CallArguments& arguments() const { return arguments_; }
  /// Where early data may land: nowhere, if the caller writes its input there until it comes.
  [[nodiscard]] std::span<std::byte> free_recv() const;
  /// @param what  for the message. @throws StateError  it has been closed
  [[nodiscard]] SessionCalls& session(const char* what) const;

 private:
  std::shared_ptr<SessionCalls*> session_;  // of nullptr, once it has been closed
  std::string algorithm_;
  std::vector<std::size_t> block_bytes_;
  std::vector<std::size_t> recv_block_bytes_;
  std::shared_ptr<const void> keep_;
  CallArguments arguments_;
};

}  // namespace papfft::comm
