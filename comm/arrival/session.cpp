// SPDX-License-Identifier: MIT
#include "papfft/session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <typeinfo>
#include <utility>

#include "comm/arrival/arrival_exchange.hpp"
#include "comm/arrival/arrival_predictor.hpp"
#include "comm/arrival/background.hpp"
#include "comm/arrival/clock_sync.hpp"
#include "comm/engine/collectives_impl.hpp"

namespace papfft::comm {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEagerBytes =
    65536;  // Open MPI's limit over TCP; what matters is that all ranks use the same

/// Tags of the upper half, beside the watchdog's (max_tag).
int clock_tag(const Transport& t) { return t.max_tag() - 1; }
int exchange_tag(const Transport& t) { return t.max_tag() - 3; }

/// Names do not tell types of two unnamed namespaces apart. @throws std::invalid_argument
void require_same(const Reducer& kept, const Reducer& given) {
  if (typeid(kept) == typeid(given)) return;
  throw std::invalid_argument(std::string("reduce: two operations of one name, ") + typeid(given).name() +
                              ", in the background of one Session");
}

}  // namespace

/// What has been started and not waited for. It keeps away while the caller polls by itself.
class PendingProgress final : public BackgroundTask {
 public:
  explicit PendingProgress(PendingCalls& calls) : calls_(calls) {}
  bool step() override { return calls_.step(); }
  [[nodiscard]] Clock::time_point due() const override {
    if (calls_.empty()) return Clock::time_point::max();
    return calls_.is_watched() ? Clock::now() + kLazy : Clock::now();
  }

 private:
  static constexpr auto kLazy = milliseconds(1);
  PendingCalls& calls_;
};

/// The expected next call, run as far as it goes before its caller comes.
class EarlyRun final : public BackgroundTask {
 public:
  /// @param make  makes the execution from the predicted arrivals (or none)
  /// @param decision  asked until it answers; empty: not planned by arrivals, so it begins at once
  using Make = std::function<std::unique_ptr<Execution>(Decision)>;
  using Ask = std::function<std::optional<Decision>()>;
  EarlyRun(Make make, Ask decision) : make_(std::move(make)), decision_(std::move(decision)) {}

  bool step() override {
    const std::lock_guard lock(mutex_);
    if (execution_ == nullptr) {
      std::optional<Decision> decision = decision_ ? decision_() : Decision{};
      if (!decision) return false;
      execution_ = make_(std::move(*decision));
      any_ = execution_->step();  // posts what can be posted; nobody answers at once
      return any_;
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
    if (hurries_ || now < active_until_) return now;
    return now + (active_until_ == Clock::time_point{} ? kQuiet : kLazy);
  }

  /// Once it is no longer stepped. @return nullptr if it has not begun.
  [[nodiscard]] std::unique_ptr<Execution> take() { return std::move(execution_); }
  [[nodiscard]] bool any() const { return any_; }
  /// The caller does not compute but is in another call, so polling takes nothing from it.
  void hurry(bool hurries) { hurries_ = hurries; }

 private:
  static constexpr auto kActive = milliseconds(4);  // after a message others are likely
  static constexpr auto kLazy = milliseconds(1);    // some have come, the others will
  static constexpr auto kQuiet = milliseconds(3);   // nobody has come yet
  Make make_;
  Ask decision_;
  mutable std::mutex mutex_;
  std::unique_ptr<Execution> execution_;
  bool any_ = false;
  std::atomic<bool> hurries_ = false;
  Clock::time_point active_until_{};
};

/// The call that comes next, as all ranks know.
struct ExpectedCall {
  PlannedCall plan;
  std::uint32_t instance = 0;
  std::unique_ptr<EarlyRun> run;  // or nothing of it can come early
};

struct PersistentCall::Body {
  Body(std::shared_ptr<Session*> session_in, const CallArguments& given)
      : session(std::move(session_in)), algorithm(given.algorithm), arguments(given) {
    arguments.algorithm = algorithm;
  }
  ~Body();
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  /// @throws StateError
  [[nodiscard]] Session& open_session(const char* what) const {
    if (*session == nullptr) throw StateError(std::string(what) + ": the session has been closed");
    return **session;
  }

  std::shared_ptr<Session*> session;  // of nullptr, once it has been closed
  std::string algorithm;
  CallArguments arguments;
};

struct Session::State {
  State(Transport& transport, const SessionOptions& options_in, PendingCalls& pending)
      : options(options_in),
        clock(transport,
              options.clock_offset.count() == 0
                  ? monotonic_clock()
                  : skewed_clock(monotonic_clock(), options.clock_offset.count(), 0),
              clock_tag(transport)),
        exchange(
            transport, options.root, [this] { return clock.now_ns(); }, ArrivalExchange::Settings{},
            exchange_tag(transport)),
        predictor(exchange, clock, background),
        pending_progress(pending) {
    algorithms.fill("auto");
  }

  [[nodiscard]] ArrivalUse use_of(const PlannedCall& plan) const {
    if (plan.choice.algorithm == nullptr || !plan.choice.algorithm->uses_arrival) return ArrivalUse::none;
    return arrival_use(plan.choice.algorithm->operation, plan.signature.root, options.root,
                       threads_everywhere, plan.signature.bytes, kEagerBytes);
  }

  /// What "auto" stands for is known when a call begins.
  [[nodiscard]] CallArguments resolved(CallArguments arguments) const {
    if (arguments.algorithm == "auto") {
      arguments.algorithm = algorithms.at(static_cast<std::size_t>(arguments.operation));
    }
    return arguments;
  }

  /// Afterwards nothing of the expected call is stepped.
  std::optional<ExpectedCall> take_expected() {
    if (expected && expected->run != nullptr) background.remove(*expected->run);
    started = nullptr;
    return std::exchange(expected, std::nullopt);
  }

  SessionOptions options;
  Background background;
  ClockSync clock;
  ArrivalExchange exchange;
  ArrivalPredictor predictor;
  PendingProgress pending_progress;
  bool threads_everywhere = false;
  bool closed = false;
  std::array<std::string, kOperationCount> algorithms;

  /// What came after each call the last time; nothing, if a handle made it: that says itself when it can begin.
  std::map<std::string, std::optional<PlannedCall>> successors;
  std::string last_call;
  std::map<std::string, std::shared_ptr<const Reducer>> reducers;  // by name: copies that outlive their calls
  std::optional<ExpectedCall> expected;
  const PersistentCall::Body* started = nullptr;  // the one that is expected
  std::shared_ptr<Session*> handles_session;      // what the handles know of this session
  SessionStatistics statistics;
  std::int64_t sum_of_errors_ns = 0;
};

Session::Session(Transport& transport, const Options& options, const SessionOptions& session)
    : Collectives(transport, options), state_(std::make_unique<State>(transport, session, impl().pending)) {
  State& s = *state_;
  s.handles_session = std::make_shared<Session*>(this);
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
  s.background.add(s.pending_progress);
  if (s.threads_everywhere) s.background.start();
}

Session::~Session() {
  if (state_->closed || std::uncaught_exceptions() > 0) {
    abandon();
    return;
  }
  try {
    close();
  } catch (const std::exception&) {  // the group is broken; whoever uses it next is told
  }
}

/// After this a handle's buffers are its owner's alone.
void Session::end_handles() {
  *state_->handles_session = nullptr;
  (void)state_->take_expected();
}

void Session::close() {
  State& s = *state_;
  if (s.closed) return;
  s.closed = true;
  s.background.stop();
  end_handles();
  s.background.remove(s.pending_progress);
  s.background.remove(s.exchange);
  s.background.remove(s.predictor);
  s.background.remove(s.clock);
  s.exchange.close();
  s.clock.close();
}

void Session::abandon() noexcept {
  state_->background.stop();
  end_handles();
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
  if (state_->started != nullptr) {
    throw StateError(std::string(to_string(given.operation)) +
                     ": a persistent call has been started, and must be waited for first");
  }
  serve(nullptr, state_->resolved(given));
}

Pending Session::start(const CallArguments& arguments, std::shared_ptr<const void> keep) {
  State& s = *state_;
  s.background.rethrow();
  Pending pending = Collectives::start(s.resolved(arguments), std::move(keep));
  s.background.notify();
  return pending;
}

/// @param started  the handle whose call this is, or nullptr
void Session::serve(const PersistentCall::Body* started, const CallArguments& arguments) {
  State& s = *state_;
  Impl& x = impl();
  const std::int64_t observed_ns = x.observed_now_ns();
  const PlannedCall planned = started != nullptr ? s.expected->plan : x.plan(arguments);
  s.background.rethrow();
  s.statistics.arrived_ns = s.clock.now_ns();
  s.statistics.predicted_ns.reset();
  if (x.options.check_arguments) x.check(planned.signature);

  const ArrivalUse use = s.use_of(planned);
  const std::int64_t iteration = s.predictor.iteration();
  if (const auto prediction = s.predictor.predicted_arrival_ns()) {
    s.statistics.predicted_ns = prediction;
    s.sum_of_errors_ns += std::abs(*prediction - s.statistics.arrived_ns);
    s.statistics.mean_error_ns = s.sum_of_errors_ns / ++s.statistics.predicted;
  }
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
    arrival_ns = x.trusted(planned, std::move(decision->arrival_ns), decision->error_ns);
    s.statistics.planned += arrival_ns.empty() ? 0 : 1;
  }

  const std::optional<ExpectedCall> expected = s.take_expected();
  std::uint32_t instance = instance_of(x.calls++, CallKind::plain);
  std::unique_ptr<Execution> execution;
  if (expected && expected->plan.signature == planned.signature &&
      expected->plan.reducer == planned.reducer) {
    instance = expected->instance;
    if (expected->run != nullptr) {
      execution = expected->run->take();
      const auto kept = s.reducers.find(planned.reducer);
      if (execution != nullptr && arguments.reducer != nullptr && kept != s.reducers.end()) {
        require_same(*kept->second, *arguments.reducer);
      }
      s.statistics.begun_early += expected->run->any() ? 1 : 0;
    }
  }
  s.successors[s.last_call] = started == nullptr ? std::optional(planned) : std::nullopt;
  s.last_call = planned.signature.text() + " " + planned.reducer;
  // What the successor can do without its caller runs beside this call already: a root that still scatters gathers from
  // those that have their part. The successor that is the same operation would find nobody there.
  const bool beside = expect_successor(iteration + 1, arguments.operation);
  const auto hurry = [&](bool hurries) {
    if (s.expected && s.expected->run != nullptr) s.expected->run->hurry(hurries);
  };
  hurry(true);
  s.background.notify();
  std::optional<std::int64_t> early_ns;
  if (planned.choice.algorithm == nullptr) {
    stock_call(arguments);
    x.last = {.algorithm = "mpi"};
  } else {
    x.last.algorithm = planned.choice.algorithm->name;
    x.last.segments = planned.segments;
    if (execution == nullptr) {
      RankSchedule mine = x.part(planned, std::move(arrival_ns));
      Layout where = x.layout(planned, mine.shape, arguments.send, arguments.recv);
      const Window window = select_window(mine.shape, planned.signature.bytes, x.options);
      execution = std::make_unique<Execution>(std::move(mine), std::move(where), x.transport, instance,
                                              window, arguments.reducer, &x.credits);
      execution->observe(x.observer);
      execution->arrive();
    } else {
      early_ns = execution->early_ns();
      // The caller may have come meanwhile, and waited for the decision above.
      if (early_ns && *early_ns >= observed_ns) early_ns.reset();
      Layout where = x.layout(planned, execution->shape(), arguments.send, arguments.recv);
      execution->arrive(std::move(where.input), std::move(where.output));
    }
    x.finish(*execution, planned.signature);
  }
  s.predictor.leave();
  ++s.statistics.calls;
  std::optional<std::int64_t> ahead_ns;
  if (s.statistics.predicted_ns) ahead_ns = *s.statistics.predicted_ns - s.statistics.arrived_ns;
  x.tell_observer(planned, observed_ns, ahead_ns, early_ns);
  if (!planned.reducer.empty() && !s.reducers.contains(planned.reducer)) {
    if (auto copy = arguments.reducer->clone()) s.reducers.emplace(planned.reducer, std::move(copy));
  }

  hurry(false);
  if (!beside) (void)expect_successor(iteration + 1, std::nullopt);
}

/// What came after this call the last time is expected next.
/// @param iteration  of the successor
/// @param but_not    an operation that is not to be begun yet
/// @return whether that is settled
bool Session::expect_successor(std::int64_t iteration, std::optional<Operation> but_not) {
  State& s = *state_;
  const auto next = s.successors.find(s.last_call);
  if (next == s.successors.end() || !next->second) return true;
  if (but_not && static_cast<Operation>(next->second->signature.operation) == *but_not) return false;
  s.expected.emplace(ExpectedCall{
      .plan = *next->second, .instance = instance_of(impl().calls, CallKind::expected), .run = nullptr});
  const auto kept = s.reducers.find(s.expected->plan.reducer);
  begin_early({}, kept == s.reducers.end() ? nullptr : kept->second.get(), iteration);
  return true;
}

/// @param recv       where the caller wants the result of what is expected; without data: not known yet
/// @param reducer    of a reduction; nullptr: not known, or not kept, and then nothing begins
/// @param iteration  of the call
void Session::begin_early(std::span<std::byte> recv, const Reducer* reducer, std::int64_t iteration) {
  State& s = *state_;
  Impl& x = impl();
  const PlannedCall plan = s.expected->plan;
  if (plan.signature.background == 0) return;
  if (is_reduction(plan.choice.algorithm->operation) && reducer == nullptr) return;
  EarlyRun::Ask ask;
  if (s.use_of(plan) != ArrivalUse::none) {
    // The exchange polls when something has been reported from here; a rank without a processing phase never does.
    ask = [&s, iteration] {
      (void)s.exchange.step();
      return s.exchange.decision(iteration);
    };
  }
  s.expected->run = std::make_unique<EarlyRun>(
      [&x, plan, recv, reducer, instance = s.expected->instance, observer = x.observer](Decision decision) {
        RankSchedule mine = x.part(plan, x.trusted(plan, std::move(decision.arrival_ns), decision.error_ns));
        Layout where = x.layout(plan, mine.shape, {}, recv);
        const Window window = select_window(mine.shape, plan.signature.bytes, x.options);
        auto execution = std::make_unique<Execution>(std::move(mine), std::move(where), x.transport, instance,
                                                     window, reducer, &x.credits);
        execution->observe(observer);
        return execution;
      },
      std::move(ask));
  s.background.add(*s.expected->run);
  s.background.notify();
}

PersistentCall Session::persistent(const CallArguments& arguments) {
  (void)impl().plan(arguments);  // a root or an algorithm that makes no sense is refused here
  return PersistentCall(std::make_unique<PersistentCall::Body>(state_->handles_session, arguments));
}

PersistentCall::Body::~Body() {
  if (*session == nullptr) return;
  Session::State& s = *(*session)->state_;
  if (s.started == this) (void)s.take_expected();
}

PersistentCall::PersistentCall(std::unique_ptr<Body> body) : body_(std::move(body)) {}
PersistentCall::PersistentCall(PersistentCall&&) noexcept = default;
PersistentCall& PersistentCall::operator=(PersistentCall&&) noexcept = default;
PersistentCall::~PersistentCall() = default;

PersistentCall::Body& PersistentCall::body() const {
  if (body_ == nullptr) throw StateError("a persistent call that has been moved from");
  return *body_;
}

void PersistentCall::start() {
  const Body& b = body();
  Session& session = b.open_session("start");
  Session::State& s = *session.state_;
  if (s.started == &b) throw StateError("start: the call has been started already");
  if (s.started != nullptr) {
    throw StateError("start: another call has been started, and must be waited for first");
  }
  const PlannedCall plan = session.impl().plan(s.resolved(b.arguments));
  (void)s.take_expected();
  s.started = &b;
  s.expected.emplace(ExpectedCall{
      .plan = plan, .instance = instance_of(session.impl().calls++, CallKind::started), .run = nullptr});
  session.begin_early(b.arguments.recv, b.arguments.reducer, s.predictor.iteration());
}

void PersistentCall::wait() {
  const Body& b = body();
  Session& session = b.open_session("wait");
  if (session.state_->started != &b) throw StateError("wait: the call has not been started");
  session.serve(&b, b.arguments);
}

void PersistentCall::call() {
  start();
  wait();
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
