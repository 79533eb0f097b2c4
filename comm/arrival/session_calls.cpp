// SPDX-License-Identifier: MIT
#include "comm/arrival/session_calls.hpp"

#include <cstdlib>
#include <limits>
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
  (void)take_expected();
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

ArrivalUse SessionCalls::use_of(const PlannedCall& plan) const {
  if (plan.is_stock() || !plan.choice.algorithm->uses_arrival) return ArrivalUse::none;
  // Of blocks whose sizes only their owners know, some may be long.
  const std::size_t bytes =
      traits(plan.operation()).sizes_are_own ? std::numeric_limits<std::size_t>::max() : plan.signature.bytes;
  return arrival_use(plan.operation(), plan.signature.root, options_.root, threads_everywhere_, bytes,
                     kLinkLimits.eager_bytes);
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
void SessionCalls::serve(const CallArguments& arguments, const PersistentBody* handle) {
  CallerTimes times{.arrival_ns = engine_.observed_now_ns()};
  const PlannedCall chosen = handle != nullptr ? expected_->plan : engine_.planner().plan(arguments);
  std::optional<PlannedCall> stock;
  if (handle == nullptr && engine_.guard().begin(chosen)) stock = as_stock(chosen);
  const PlannedCall& plan = stock ? *stock : chosen;
  background_.rethrow();
  note_arrival();
  if (engine_.options().check_arguments) engine_.require_agreement(plan.signature);

  const ArrivalUse use = use_of(plan);
  const std::int64_t iteration = predictor_.iteration();
  compare_prediction();
  predictor_.arrive(use);
  std::vector<std::int64_t> arrival_ns = arrivals_for(plan, use, iteration);

  Begun begun = take_begun(plan, arguments);
  forecast_.note(chosen, handle != nullptr);
  // What the successor can do without its caller runs beside this call already: a root that still scatters gathers from
  // those that have their part. The successor that is the same operation would find nobody there.
  const bool beside = expect_successor(iteration + 1, arguments.operation);
  hurry(true);
  background_.notify();
  execute(plan, arguments, std::move(arrival_ns), begun, times);
  if (handle == nullptr) engine_.guard().end();
  predictor_.leave(forecast_.position());
  ++statistics_.calls;
  if (statistics_.predicted_ns) times.ahead_ns = *statistics_.predicted_ns - statistics_.arrived_ns;
  engine_.tell_observer(plan, times);
  forecast_.keep(chosen, arguments.reducer);

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

/// Waits for the decision about the arrivals, where the call uses them. @return empty: plan without
std::vector<std::int64_t> SessionCalls::arrivals_for(const PlannedCall& plan, ArrivalUse use,
                                                     std::int64_t iteration) {
  if (use == ArrivalUse::none) return {};
  std::optional<Decision> decision;
  engine_.wait(
      [&] {
        background_.step();
        return exchange_.step();
      },
      [&] { return (decision = exchange_.decision(iteration)).has_value(); },
      [&] {
        return engine_.waits() + "rank " + std::to_string(options_.root) + " (the decision about arrivals)" +
               engine_.in_call(plan);
      });
  const bool is_known = !decision->oblivious();
  std::vector<std::int64_t> arrival_ns =
      engine_.planner().trusted(plan, std::move(decision->arrival_ns), decision->error);
  statistics_.planned += arrival_ns.empty() ? 0 : 1;
  statistics_.distrusted += is_known && arrival_ns.empty() ? 1 : 0;
  return arrival_ns;
}

/// Afterwards nothing of the expected call is stepped.
std::optional<SessionCalls::ExpectedCall> SessionCalls::take_expected() {
  if (expected_ && expected_->run != nullptr) background_.remove(*expected_->run);
  started_ = nullptr;
  return std::exchange(expected_, std::nullopt);
}

SessionCalls::Begun SessionCalls::take_begun(const PlannedCall& plan, const CallArguments& arguments) {
  const std::optional<ExpectedCall> expected = take_expected();
  Begun begun{.instance = engine_.take_instance(CallKind::plain)};
  if (!expected || !(expected->plan.signature == plan.signature) || expected->plan.reducer != plan.reducer) {
    return begun;
  }
  begun.instance = expected->instance;
  if (expected->run == nullptr) return begun;
  begun.execution = expected->run->take();
  if (begun.execution != nullptr && arguments.reducer != nullptr) {
    forecast_.require_same(plan.reducer, *arguments.reducer);
  }
  statistics_.begun_early += expected->run->any() ? 1 : 0;
  return begun;
}

void SessionCalls::execute(const PlannedCall& plan, const CallArguments& arguments,
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
    Layout where = engine_.planner().layout(plan, begun.execution->shape(), arguments.send, arguments.recv);
    begun.execution->arrive(std::move(where.input), std::move(where.output));
  }
  engine_.finish(*begun.execution, plan);
}

/// What came after this call the last time is expected next.
/// @param iteration  of the successor
/// @param but_not    an operation that is not to be begun yet
/// @return whether that is settled
bool SessionCalls::expect_successor(std::int64_t iteration, std::optional<Operation> but_not) {
  const PlannedCall* const next = forecast_.next();
  // Sizes that only their owners know may be others the next time, and nobody could tell.
  if (next == nullptr || traits(next->operation()).sizes_are_own) return true;
  if (but_not && next->operation() == *but_not) return false;
  expected_.emplace(ExpectedCall{.plan = engine_.guard().is_stock_next(*next) ? as_stock(*next) : *next,
                                 .instance = engine_.next_instance(CallKind::expected)});
  begin_early({}, forecast_.kept(next->reducer), iteration);
  return true;
}

/// @param recv       where the caller wants the result of what is expected; without data: not known yet
/// @param reducer    of a reduction; nullptr: not known, or not kept, and then nothing begins
/// @param iteration  of the call
void SessionCalls::begin_early(std::span<std::byte> recv, const Reducer* reducer, std::int64_t iteration) {
  const PlannedCall& plan = expected_->plan;
  if (!plan.is_background()) return;
  if (is_reduction(plan.operation()) && reducer == nullptr) return;
  EarlyRun::Ask ask;
  if (use_of(plan) != ArrivalUse::none) {
    // The exchange polls when something has been reported from here; a rank without a processing phase never does.
    ask = [this, iteration] {
      (void)exchange_.step();
      return exchange_.decision(iteration);
    };
  }
  expected_->run = std::make_unique<EarlyRun>(
      [&engine = engine_, plan, recv, reducer, instance = expected_->instance,
       observer = engine_.observer()](Decision decision) {
        return engine.new_execution(plan, {.instance = instance,
                                           .arrival_ns = engine.planner().trusted(
                                               plan, std::move(decision.arrival_ns), decision.error),
                                           .recv = recv,
                                           .reducer = reducer,
                                           .observer = observer});
      },
      std::move(ask));
  background_.add(*expected_->run);
  background_.notify();
}

void SessionCalls::hurry(bool hurries) {
  if (expected_ && expected_->run != nullptr) expected_->run->hurry(hurries);
}

std::unique_ptr<PersistentBody> SessionCalls::persistent(const CallArguments& arguments) {
  (void)engine_.planner().plan(arguments);  // a root or an algorithm that makes no sense is refused here
  return std::make_unique<PersistentBody>(handles_session_, arguments);
}

void SessionCalls::start(const PersistentBody& handle) {
  if (started_ == &handle) throw StateError("start: the call has been started already");
  if (started_ != nullptr) {
    throw StateError("start: another call has been started, and must be waited for first");
  }
  const CallArguments& arguments = handle.arguments();
  PlannedCall plan = engine_.planner().plan(resolved(arguments));
  (void)take_expected();
  started_ = &handle;
  expected_.emplace(
      ExpectedCall{.plan = std::move(plan), .instance = engine_.take_instance(CallKind::persistent)});
  begin_early(arguments.recv, arguments.reducer, predictor_.iteration());
}

void SessionCalls::wait(const PersistentBody& handle) {
  if (started_ != &handle) throw StateError("wait: the call has not been started");
  serve(handle.arguments(), &handle);
}

void SessionCalls::drop(const PersistentBody& handle) {
  if (started_ == &handle) (void)take_expected();
}

SessionStatistics SessionCalls::statistics() const {
  SessionStatistics result = statistics_;
  result.has_thread = background_.has_thread();
  result.thread_share = background_.cpu_share();
  result.clock_uncertainty_ns = clock_.uncertainty_ns();
  return result;
}

PersistentBody::PersistentBody(std::shared_ptr<SessionCalls*> session, const CallArguments& given)
    : session_(std::move(session)),
      algorithm_(given.algorithm),
      block_bytes_(given.block_bytes.begin(), given.block_bytes.end()),
      arguments_(given) {
  arguments_.algorithm = algorithm_;
  arguments_.block_bytes = block_bytes_;
}

PersistentBody::~PersistentBody() {
  if (*session_ != nullptr) (*session_)->drop(*this);
}

SessionCalls& PersistentBody::session(const char* what) const {
  if (*session_ == nullptr) throw StateError(std::string(what) + ": the session has been closed");
  return **session_;
}

}  // namespace papfft::comm
