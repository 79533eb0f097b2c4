// SPDX-License-Identifier: MIT
#include "comm/arrival/session_calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "comm/choose/link_limits.hpp"
#include "comm/choose/select.hpp"

namespace papfft::comm {

namespace {

ClockSource local_clock(const SessionOptions& options) {
  if (options.clock_offset.count() == 0) return monotonic_clock();
  return skewed_clock(monotonic_clock(), options.clock_offset.count(), 0);
}

/// What arrival_use() goes by.
std::size_t block_bytes(const PlannedCall& plan) {
  if (!traits(plan.operation()).sizes_are_own) return plan.signature.bytes;
  std::size_t longest = 0;
  for (std::size_t i = 1; i < plan.offsets.size(); ++i)
    longest = std::max(longest, plan.offsets[i] - plan.offsets[i - 1]);
  return longest;
}

}  // namespace

SessionCalls::SessionCalls(CallEngine& engine, const SessionOptions& options, StockCall stock)
    : engine_(engine),
      stock_(std::move(stock)),
      options_(options),
      clock_(engine.transport(), local_clock(options),
             service_tag(engine.transport().max_tag(), Service::clock)),
      exchange_(
          engine.transport(), options.root, [this] { return clock_.now_ns(); }, ArrivalExchange::Settings{},
          service_tag(engine.transport().max_tag(), Service::arrival_report)),
      predictor_(exchange_, clock_, background_),
      pending_progress_(engine.pending()),
      handles_session_(std::make_shared<SessionCalls*>(this)) {
  algorithms_.fill("auto");
  clock_.synchronise();
  engine.learn_link();
  // All must agree whether the decider answers while its caller computes.
  engine_.planner().expect_arrivals();
  threads_everywhere_ = engine.all_say(options.background && engine.transport().threads_allowed());
  engine_.planner().offer_background(threads_everywhere_);
  background_.add(clock_);
  background_.add(predictor_);
  background_.add(exchange_);
  background_.add(pending_progress_);
  if (threads_everywhere_) background_.start();
}

/// After this a handle's buffers are its owner's alone.
void SessionCalls::end_handles() {
  *handles_session_ = nullptr;
  drop_expected();
}

void SessionCalls::close() {
  if (closed_) return;
  closed_ = true;
  background_.stop();
  end_handles();
  background_.remove(pending_progress_);
  background_.remove(exchange_);
  background_.remove(predictor_);
  background_.remove(clock_);
  exchange_.close();
  clock_.close();
}

void SessionCalls::abandon() noexcept {
  background_.stop();
  end_handles();
  closed_ = true;
}

void SessionCalls::use_algorithm(Operation operation, std::string_view algorithm) {
  (void)choose(operation, algorithm, engine_.transport().size(), 0, false);
  algorithms_.at(static_cast<std::size_t>(operation)) = algorithm;
}

/// What "auto" stands for is known when a call begins.
CallArguments SessionCalls::resolved(CallArguments arguments) const {
  if (arguments.algorithm == "auto") {
    arguments.algorithm = algorithms_.at(static_cast<std::size_t>(arguments.operation));
  }
  return arguments;
}

ArrivalUse SessionCalls::possible_use_of(const PlannedCall& plan) const {
  if (plan.is_stock() || !plan.choice.algorithm->uses_arrival) return ArrivalUse::none;
  const ArrivalUse use =
      arrival_use(plan.operation(), plan.signature.root, options_.root, threads_everywhere_,
                  block_bytes(plan), kLinkLimits.longest_segment_bytes());
  const bool forces = use == ArrivalUse::urgent || (use == ArrivalUse::patient && asks(plan));
  return plan.choice.algorithm->plans_root_alone && forces ? ArrivalUse::alone : use;
}

ArrivalUse SessionCalls::use_of(const PlannedCall& plan) const {
  const bool is_silent =
      may_doubt(plan) && doubts_.at(static_cast<std::size_t>(plan.operation())).is_silent();
  return is_silent ? ArrivalUse::none : possible_use_of(plan);
}

bool SessionCalls::may_doubt(const PlannedCall& plan) const {
  return plan.is_automatic() && possible_use_of(plan) != ArrivalUse::none &&
         !plan.choice.algorithm->plans_root_alone;
}

bool SessionCalls::asks(const PlannedCall& plan) const {
  return !plan.choice.algorithm->plans_root_alone || engine_.rank() == plan.signature.root;
}

void SessionCalls::call(const CallArguments& given) {
  if (started_ != nullptr) {
    throw StateError(std::string(to_string(given.operation)) +
                     ": a persistent call has been started, and must be waited for first");
  }
  serve(resolved(given), nullptr);
}

Pending SessionCalls::start(const CallArguments& arguments, std::shared_ptr<const void> keep) {
  background_.rethrow();
  Pending pending(engine_, engine_.start(resolved(arguments), std::move(keep)));
  background_.notify();
  return pending;
}

/// @param handle  whose call this is, or nullptr
void SessionCalls::serve(const CallArguments& given, const PersistentBody* handle) {
  CallerTimes times{.arrival_ns = engine_.observed_now_ns()};
  const CallArguments arguments = engine_.at_home(given);
  const std::shared_ptr<SteadyCall> steady =
      handle != nullptr ? expected_->steady : engine_.steady(arguments);
  const std::shared_ptr<const PlannedCall> chosen = steady->plan;
  const bool is_stock_trial = handle == nullptr && engine_.guard().begin(*chosen);
  const PlannedCall& plan = is_stock_trial ? *steady->stock_plan() : *chosen;
  background_.rethrow();
  note_arrival();
  if (engine_.options().check_arguments) engine_.require_agreement(plan.signature, arguments.reducer);

  const std::int64_t iteration = predictor_.iteration();
  compare_prediction();
  std::vector<std::int64_t> arrival_ns = arrivals_for(plan, iteration);

  Begun begun = take_begun(plan, arguments);
  forecast_.note(chosen, handle != nullptr);
  // What the successor can do without its caller runs beside this call already: a root that still scatters gathers from
  // those that have their part. The successor that is the same operation would find nobody there.
  const bool beside = expect_successor(iteration + 1, arguments.operation);
  hurry(true);
  execute(plan, *steady, arguments, std::move(arrival_ns), begun, times);
  if (arguments.copies != nullptr) arguments.copies->unpack();
  if (handle == nullptr) engine_.guard().end();
  const std::shared_ptr<const PlannedCall> next = forecast_.next();
  predictor_.leave(forecast_.position(), next == nullptr || use_of(*next) != ArrivalUse::none);
  ++statistics_.calls;
  if (statistics_.predicted_ns) times.ahead_ns = *statistics_.predicted_ns - statistics_.arrived_ns;
  engine_.tell_observer(plan, times);
  forecast_.keep(*chosen, arguments.reducer);

  hurry(false);
  if (!beside) (void)expect_successor(iteration + 1, std::nullopt);
}

void SessionCalls::note_arrival() {
  statistics_.arrived_ns = clock_.now_ns();
  statistics_.predicted_ns.reset();
}

void SessionCalls::compare_prediction() {
  const auto prediction = predictor_.predicted_arrival_ns();
  if (!prediction) return;
  statistics_.predicted_ns = prediction;
  sum_of_errors_ns_ += std::abs(*prediction - statistics_.arrived_ns);
  statistics_.mean_error_ns = sum_of_errors_ns_ / ++statistics_.predicted;
}

/// Tells this rank's arrival where the call uses arrivals, and waits for the decision about them where this rank's part depends on it.
/// @return empty: plan without
std::vector<std::int64_t> SessionCalls::arrivals_for(const PlannedCall& plan, std::int64_t iteration) {
  const ArrivalUse use = use_of(plan);
  const bool may_be_doubted = may_doubt(plan);
  ArrivalDoubt& doubt = doubts_.at(static_cast<std::size_t>(plan.operation()));
  if (may_be_doubted && doubt.is_silent()) doubt.pass();
  predictor_.arrive(use);
  if (use == ArrivalUse::none) return {};
  const auto step = [&] {
    background_.step();
    return exchange_.step();
  };
  if (!asks(plan)) {
    (void)step();
    return {};
  }
  std::optional<Decision> decision;
  engine_.wait(
      step, [&] { return (decision = exchange_.decision(iteration)).has_value(); },
      [&] {
        return engine_.waits() + "rank " + std::to_string(options_.root) + " (the decision about arrivals)" +
               engine_.in_call(plan);
      });
  const bool is_known = !decision->oblivious();
  std::vector<std::int64_t> arrival_ns =
      engine_.planner().trusted(plan, std::move(decision->arrival_ns), decision->error);
  if (may_be_doubted && is_known) doubt.decided(!arrival_ns.empty());
  statistics_.planned += arrival_ns.empty() ? 0 : 1;
  statistics_.distrusted += is_known && arrival_ns.empty() ? 1 : 0;
  return arrival_ns;
}

/// Afterwards nothing of the expected call is stepped.
std::optional<SessionCalls::ExpectedCall> SessionCalls::take_expected() {
  if (run_) background_.remove(*run_);
  started_ = nullptr;
  return std::exchange(expected_, std::nullopt);
}

void SessionCalls::drop_expected() {
  (void)take_expected();
  end_early();
}

/// What was not needed is kept for the next time.
void SessionCalls::end_early() {
  run_.reset();
  if (early_.steady != nullptr && early_.spare != nullptr) early_.steady->execution = std::move(early_.spare);
  early_ = {};
}

SessionCalls::Begun SessionCalls::take_begun(const PlannedCall& plan, const CallArguments& arguments) {
  const std::optional<ExpectedCall> expected = take_expected();
  Begun begun{.instance = engine_.take_instance(CallKind::plain)};
  if (expected && expected->plan->signature == plan.signature && expected->plan->reducer == plan.reducer) {
    begun.instance = expected->instance;
    if (run_) {
      begun.execution = run_->take();
      begun.is_restarted = early_.is_restarted;
      begun.is_kept = early_.is_kept;
      statistics_.begun_early += run_->any() ? 1 : 0;
    }
  }
  end_early();
  if (begun.execution != nullptr && arguments.reducer != nullptr) {
    forecast_.require_same(plan.reducer, *arguments.reducer);
  }
  return begun;
}

void SessionCalls::execute(const PlannedCall& plan, SteadyCall& steady, const CallArguments& arguments,
                           std::vector<std::int64_t> arrival_ns, Begun& begun, CallerTimes& times) {
  if (plan.is_stock()) {
    CallArguments stock = arguments;
    stock.algorithm = plan.signature.algorithm.data();
    const CallWatch::Call watched = engine_.watched(plan);
    stock_(stock);
    engine_.note_call(plan);
    return;
  }
  engine_.note_call(plan);
  if (begun.execution == nullptr && arrival_ns.empty()) return engine_.run(steady, arguments, begun.instance);
  if (begun.execution == nullptr) {
    begun.execution = engine_.new_execution(plan, {.instance = begun.instance,
                                                   .arrival_ns = std::move(arrival_ns),
                                                   .send = arguments.send,
                                                   .recv = arguments.recv,
                                                   .reducer = arguments.reducer,
                                                   .observer = engine_.observer()});
    begun.execution->arrive();
  } else {
    times.early_ns = begun.execution->early_ns();
    // The caller may have come meanwhile, and waited for the decision about arrivals.
    if (times.early_ns && *times.early_ns >= times.arrival_ns) times.early_ns.reset();
    if (begun.is_restarted) {
      begun.execution->arrive(arguments.send.data(), arguments.recv.data());
    } else {
      begun.execution->arrive(
          engine_.planner().layout(plan, begun.execution->shape(), arguments.send, arguments.recv));
    }
  }
  engine_.finish(*begun.execution, plan);
  if (begun.is_kept) steady.execution = std::move(begun.execution);
}

/// What came after this call the last time is expected next.
/// @param iteration  of the successor
/// @param but_not    an operation that is not to be begun yet
/// @return whether that is settled
bool SessionCalls::expect_successor(std::int64_t iteration, std::optional<Operation> but_not) {
  const std::shared_ptr<const PlannedCall> next = forecast_.next();
  // Sizes that only their owners know may be others the next time, and nobody could tell.
  if (next == nullptr || traits(next->operation()).sizes_are_own) return true;
  if (but_not && next->operation() == *but_not) return false;
  const bool is_stock = engine_.guard().is_stock_next(*next);
  expected_.emplace(
      ExpectedCall{.plan = is_stock ? std::make_shared<const PlannedCall>(as_stock(*next)) : next,
                   .instance = engine_.next_instance(CallKind::expected),
                   .steady = is_stock ? nullptr : engine_.steady(*next)});
  begin_early({}, forecast_.kept(next->reducer), iteration);
  return true;
}

/// @param recv       where the caller wants the result of what is expected; without data: not known yet
/// @param reducer    of a reduction; nullptr: not known, or not kept, and then nothing begins
/// @param iteration  of the call
void SessionCalls::begin_early(std::span<std::byte> recv, const Reducer* reducer, std::int64_t iteration) {
  const PlannedCall& plan = *expected_->plan;
  if (!plan.is_background()) return;
  if (is_reduction(plan.operation()) && reducer == nullptr) return;
  EarlyRun::Ask ask;
  if (use_of(plan) != ArrivalUse::none && asks(plan)) {
    // The exchange polls when something has been reported from here; a rank without a processing phase never does.
    ask = [this, iteration] {
      (void)exchange_.step();
      return exchange_.decision(iteration);
    };
  }
  early_ = {.plan = expected_->plan,
            .steady = expected_->steady,
            .recv = recv,
            .reducer = reducer,
            .instance = expected_->instance,
            .observer = engine_.observer()};
  if (early_.steady != nullptr) early_.spare = std::move(early_.steady->execution);
  run_.emplace([this](Decision decision) { return make_early(std::move(decision)); }, std::move(ask));
  background_.add(*run_);
}

/// Also by the background thread. Only what is planned by arrival times is made anew each time.
std::unique_ptr<Execution> SessionCalls::make_early(Decision decision) {
  std::vector<std::int64_t> arrival_ns =
      engine_.planner().trusted(*early_.plan, std::move(decision.arrival_ns), decision.error);
  early_.is_kept = arrival_ns.empty();
  early_.is_restarted = early_.is_kept && early_.spare != nullptr;
  if (early_.is_restarted) {
    early_.spare->restart(early_.instance, nullptr, early_.recv.data(), early_.reducer);
    early_.spare->observe(early_.observer);
    return std::move(early_.spare);
  }
  std::unique_ptr<Execution> made = engine_.new_execution(*early_.plan, {.instance = early_.instance,
                                                                         .arrival_ns = std::move(arrival_ns),
                                                                         .recv = early_.recv,
                                                                         .reducer = early_.reducer,
                                                                         .observer = early_.observer});
  if (early_.is_kept) made->keep_for_restart();
  return made;
}

/// Wakes the thread only if it has something to hurry with: each time costs a short call two switches of threads.
void SessionCalls::hurry(bool hurries) {
  if (!run_) return;
  run_->hurry(hurries);
  if (hurries) background_.notify();
}

std::unique_ptr<PersistentBody> SessionCalls::persistent(const CallArguments& arguments,
                                                         std::shared_ptr<const void> keep) {
  (void)engine_.planner().plan(arguments);  // a root or an algorithm that makes no sense is refused here
  return std::make_unique<PersistentBody>(handles_session_, arguments, std::move(keep));
}

void SessionCalls::start(const PersistentBody& handle) {
  if (started_ == &handle) throw StateError("start: the call has been started already");
  if (started_ != nullptr) {
    throw StateError("start: another call has been started, and must be waited for first");
  }
  const CallArguments& arguments = handle.arguments();
  const std::shared_ptr<SteadyCall> steady = engine_.steady(resolved(arguments));
  drop_expected();
  started_ = &handle;
  expected_.emplace(ExpectedCall{
      .plan = steady->plan, .instance = engine_.take_instance(CallKind::persistent), .steady = steady});
  forecast_.keep(*steady->plan, arguments.reducer);
  begin_early(handle.free_recv(), forecast_.kept(steady->plan->reducer), predictor_.iteration());
}

void SessionCalls::wait(const PersistentBody& handle) {
  if (started_ != &handle) throw StateError("wait: the call has not been started");
  serve(handle.arguments(), &handle);
}

void SessionCalls::drop(const PersistentBody& handle) {
  if (started_ == &handle) drop_expected();
}

SessionStatistics SessionCalls::statistics() const {
  SessionStatistics result = statistics_;
  result.has_thread = background_.has_thread();
  result.thread_share = background_.cpu_share();
  result.clock_uncertainty_ns = clock_.uncertainty_ns();
  return result;
}

PersistentBody::PersistentBody(std::shared_ptr<SessionCalls*> session, const CallArguments& given,
                               std::shared_ptr<const void> keep)
    : session_(std::move(session)),
      algorithm_(given.algorithm),
      block_bytes_(given.block_bytes.begin(), given.block_bytes.end()),
      recv_block_bytes_(given.recv_block_bytes.begin(), given.recv_block_bytes.end()),
      keep_(std::move(keep)),
      arguments_(given) {
  arguments_.algorithm = algorithm_;
  arguments_.block_bytes = block_bytes_;
  arguments_.recv_block_bytes = recv_block_bytes_;
}

PersistentBody::~PersistentBody() {
  if (*session_ != nullptr) (*session_)->drop(*this);
}

std::span<std::byte> PersistentBody::free_recv() const {
  const std::span<const std::byte> send = arguments_.send;
  const std::span<const std::byte> recv = arguments_.recv;
  const bool overlap = std::less<>{}(send.data(), recv.data() + recv.size()) &&
                       std::less<>{}(recv.data(), send.data() + send.size());
  return is_reduction(arguments_.operation) && overlap ? std::span<std::byte>() : arguments_.recv;
}

SessionCalls& PersistentBody::session(const char* what) const {
  if (*session_ == nullptr) throw StateError(std::string(what) + ": the session has been closed");
  return **session_;
}

}  // namespace papfft::comm
