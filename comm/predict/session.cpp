// SPDX-License-Identifier: MIT
#include "papfft/session.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>

#include "comm/exec/collectives_impl.hpp"
#include "comm/predict/arrival_exchange.hpp"
#include "comm/predict/arrival_predictor.hpp"
#include "comm/predict/background.hpp"
#include "comm/predict/clock_sync.hpp"

namespace papfft::comm {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEagerBytes =
    65536;  // Open MPI's limit over TCP; what matters is that all ranks use the same

/// Tags of the upper half, beside the watchdog's (max_tag).
int clock_tag(const Transport& t) { return t.max_tag() - 1; }
int exchange_tag(const Transport& t) { return t.max_tag() - 3; }

}  // namespace

/// The expected next call, run as far as it goes before its caller comes.
class EarlyRun final : public BackgroundTask {
 public:
  /// @param make  makes the execution from the predicted arrivals (or none)
  /// @param decision  asked until it answers; empty: not planned by arrivals, so it begins at once
  using Make = std::function<std::unique_ptr<Execution>(std::vector<std::int64_t>)>;
  using Ask = std::function<std::optional<Decision>()>;
  EarlyRun(Make make, Ask decision) : make_(std::move(make)), decision_(std::move(decision)) {}

  bool step() override {
    const std::lock_guard lock(mutex_);
    if (execution_ == nullptr) {
      std::optional<Decision> decision = decision_ ? decision_() : Decision{};
      if (!decision) return false;
      execution_ = make_(std::move(decision->arrival_ns));
    }
    const bool any = execution_->step();
    if (any) {
      any_ = true;
      active_until_ = Clock::now() + kActive;
    }
    return any;
  }

  [[nodiscard]] Clock::time_point due() const override {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    return now < active_until_ ? now : now + kLazy;
  }

  /// Once it is no longer stepped. @return nullptr if it has not begun.
  [[nodiscard]] std::unique_ptr<Execution> take() { return std::move(execution_); }
  [[nodiscard]] bool any() const { return any_; }

 private:
  static constexpr auto kActive = milliseconds(10);  // after a message others are likely
  static constexpr auto kLazy = milliseconds(1);
  Make make_;
  Ask decision_;
  mutable std::mutex mutex_;
  std::unique_ptr<Execution> execution_;
  bool any_ = false;
  Clock::time_point active_until_{};
};

struct Session::State {
  State(Transport& transport, const SessionOptions& options_in)
      : options(options_in),
        clock(transport,
              options.clock_offset.count() == 0
                  ? monotonic_clock()
                  : skewed_clock(monotonic_clock(), options.clock_offset.count(), 0),
              clock_tag(transport)),
        exchange(
            transport, options.root, [this] { return clock.now_ns(); }, ArrivalExchange::Settings{},
            exchange_tag(transport)),
        predictor(exchange, clock, background) {
    algorithms.fill("auto");
  }

  SessionOptions options;
  Background background;
  ClockSync clock;
  ArrivalExchange exchange;
  ArrivalPredictor predictor;
  bool threads_everywhere = false;
  bool closed = false;
  std::array<std::string, kOperationCount> algorithms;

  /// What came after each call the last time.
  std::map<std::string, PlannedCall> successors;
  std::string last_call;
  std::optional<PlannedCall> expected;
  std::unique_ptr<EarlyRun> early;
  SessionStatistics statistics;
};

Session::Session(Transport& transport, const Options& options, const SessionOptions& session)
    : Collectives(transport, options), state_(std::make_unique<State>(transport, session)) {
  State& s = *state_;
  s.clock.synchronise();
  // All must agree whether the decider answers while its caller computes.
  std::uint8_t mine = session.background && transport.threads_allowed() ? 1 : 0;
  std::uint8_t all = 0;
  reduce<std::uint8_t>(
      std::span<const std::uint8_t>(&mine, 1), std::span(&all, 1),
      [](std::uint8_t a, std::uint8_t b) { return std::min(a, b); }, 0);
  bcast<std::uint8_t>(std::span(&all, 1), 0);
  s.threads_everywhere = all != 0;
  impl().background = s.threads_everywhere;
  s.statistics = {};
  s.background.add(s.clock);
  s.background.add(s.predictor);
  s.background.add(s.exchange);
  if (s.threads_everywhere) s.background.start();
}

Session::~Session() {
  if (state_ == nullptr) return;
  if (state_->closed || std::uncaught_exceptions() > 0) {
    state_->background.stop();
    return;
  }
  try {
    close();
  } catch (const std::exception&) {  // the group is broken; whoever uses it next is told
  }
}

void Session::close() {
  State& s = *state_;
  if (s.closed) return;
  s.closed = true;
  s.background.stop();
  s.background.remove(s.exchange);
  s.background.remove(s.predictor);
  s.background.remove(s.clock);
  if (s.early != nullptr) s.background.remove(*s.early);
  s.early.reset();
  s.exchange.close();
  s.clock.close();
}

void Session::abandon() noexcept {
  state_->background.stop();
  state_->closed = true;
}

void Session::processing_start() { state_->predictor.processing_start(); }
void Session::edge(double fraction) {
  if (!(fraction > 0 && fraction <= 1))
    throw std::invalid_argument("edge: the fraction must be above 0 and at most 1");
  state_->predictor.edge(fraction);
}
void Session::processing_end() { state_->predictor.processing_end(); }

void Session::use_algorithm(Operation operation, std::string_view algorithm) {
  (void)choose(operation, algorithm, size(), 0, false);
  state_->algorithms.at(static_cast<std::size_t>(operation)) = algorithm;
}

void Session::call(const CallArguments& given) {
  State& s = *state_;
  Impl& x = impl();
  CallArguments arguments = given;
  const std::string& chosen = s.algorithms.at(static_cast<std::size_t>(given.operation));
  if (arguments.algorithm == "auto") arguments.algorithm = chosen;
  const PlannedCall planned = x.plan(arguments);
  s.background.rethrow();
  s.statistics.arrived_ns = s.clock.now_ns();
  s.statistics.predicted_ns.reset();
  if (x.options.check_arguments) x.check(planned.signature);

  const Algorithm* algorithm = planned.choice.algorithm;
  const auto use_of = [&](const PlannedCall& plan) {
    if (plan.choice.algorithm == nullptr || !plan.choice.algorithm->uses_arrival) return ArrivalUse::none;
    return arrival_use(plan.choice.algorithm->operation, plan.signature.root, s.options.root,
                       s.threads_everywhere, plan.signature.bytes, kEagerBytes);
  };
  const ArrivalUse use = use_of(planned);
  const std::int64_t iteration = s.predictor.iteration();
  if (const auto prediction = s.predictor.predicted_arrival_ns()) s.statistics.predicted_ns = prediction;
  s.predictor.arrive(use);

  std::vector<std::int64_t> arrival_ns;
  if (use != ArrivalUse::none) {
    std::optional<Decision> decision;
    x.wait(
        [&] {
          s.background.step();
          return s.exchange.step();
        },
        [&] { return (decision = s.exchange.decision(iteration)).has_value(); },
        [&] {
          return "rank " + std::to_string(rank()) + " waits for rank " + std::to_string(s.options.root) +
                 " (the decision about arrivals) in call " + std::to_string(x.calls) + ", " +
                 planned.signature.text();
        });
    arrival_ns = std::move(decision->arrival_ns);
    s.statistics.planned += arrival_ns.empty() ? 0 : 1;
  }

  const bool was_expected = s.expected && s.expected->signature == planned.signature;
  std::unique_ptr<Execution> execution;
  if (s.early != nullptr) {
    s.background.remove(*s.early);
    if (was_expected) {
      execution = s.early->take();
      s.statistics.begun_early += s.early->any() ? 1 : 0;
    }
    s.early.reset();
  }
  const std::uint32_t instance = 2 * x.calls++ + (was_expected ? 1 : 0);
  if (algorithm == nullptr) {
    stock_call(arguments);
    x.last = {"mpi", 0};
  } else {
    x.last.algorithm = algorithm->name;
    RankSchedule mine = x.part(planned, std::move(arrival_ns));
    Layout where = x.layout(planned, mine.shape, arguments.send, arguments.recv);
    if (execution == nullptr) {
      execution = std::make_unique<Execution>(std::move(mine), std::move(where), x.transport, instance,
                                              x.window, arguments.reducer, &x.credits);
      execution->arrive();
    } else {
      execution->arrive(std::move(where.input), std::move(where.output));
    }
    x.finish(*execution, planned.signature);
  }
  s.predictor.leave();
  ++s.statistics.calls;

  // What came after this call the last time is expected next.
  const std::string now = planned.signature.text();
  s.successors[s.last_call] = planned;
  s.last_call = now;
  const auto next = s.successors.find(now);
  s.expected = next == s.successors.end() ? std::nullopt : std::optional(next->second);
  if (!s.expected || s.expected->signature.background == 0) return;
  const PlannedCall plan = *s.expected;
  if (is_reduction(plan.choice.algorithm->operation))
    return;  // its operation is the caller's, and not known yet
  const std::uint32_t next_instance = 2 * x.calls + 1;
  EarlyRun::Ask ask;
  if (use_of(plan) != ArrivalUse::none) {
    ask = [&s, next_iteration = s.predictor.iteration()] { return s.exchange.decision(next_iteration); };
  }
  s.early = std::make_unique<EarlyRun>(
      [&x, plan, next_instance](std::vector<std::int64_t> arrivals) {
        RankSchedule mine = x.part(plan, std::move(arrivals));
        Layout sizes = x.layout(plan, mine.shape, {}, {});
        return std::make_unique<Execution>(std::move(mine), std::move(sizes), x.transport, next_instance,
                                           x.window, nullptr, &x.credits);
      },
      std::move(ask));
  s.background.add(*s.early);
  s.background.notify();
}

std::int64_t Session::now_ns() const { return state_->clock.now_ns(); }

SessionStatistics Session::statistics() const {
  SessionStatistics result = state_->statistics;
  result.has_thread = state_->background.has_thread();
  result.thread_share = state_->background.cpu_share();
  result.clock_uncertainty_ns = state_->clock.uncertainty_ns();
  return result;
}

}  // namespace papfft::comm
