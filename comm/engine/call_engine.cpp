// SPDX-License-Identifier: MIT
#include "comm/engine/call_engine.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace papfft::comm {

namespace {

struct Verdict {
  std::int32_t rank = -1;  // the first one that differs from rank 0, or -1
  std::int32_t unused = 0;
  std::array<CallSignature, 2> calls{};  // rank 0's and that one's
};

/// A name that does not fit ends with a number that stands for all of it.
template <std::size_t n>
void note_name(std::array<char, n>& field, std::string name) {
  if (name.size() >= n) name = name.substr(0, n / 2) + "#" + std::to_string(std::hash<std::string>()(name));
  name.copy(field.data(), n - 1);
}

/// Tells what is checked as long as this lives.
class Checked {
 public:
  Checked(const CallSignature*& place, const CallSignature& call) : place_(place) { place_ = &call; }
  ~Checked() { place_ = nullptr; }
  Checked(const Checked&) = delete;
  Checked& operator=(const Checked&) = delete;

 private:
  const CallSignature*& place_;
};

PendingCall::Role role_of(const CallArguments& arguments, Rank rank) {
  const OperationTraits& operation = traits(arguments.operation);
  if (!operation.is_per_rank() || arguments.root != rank) return PendingCall::Role::other;
  if (operation.before == Holder::root) return PendingCall::Role::source;
  return operation.after == Holder::root ? PendingCall::Role::sink : PendingCall::Role::other;
}

}  // namespace

CallEngine::CallEngine(Transport& transport, const Options& options)
    : transport_(transport),
      options_(options),
      planner_(transport_, options_),
      watchdog_(transport_, options_),
      credits_(options.credits),
      pending_(options.credits),
      crowded_(transport.is_crowded()) {}

void CallEngine::watch_stock(std::function<void(const StuckError&)> alarm) {
  if (!watchdog_.is_on() || transport_.size() == 1 || !all_say(transport_.threads_allowed())) return;
  stock_watch_.emplace(options_.stuck_after, [this, alarm = std::move(alarm)] {
    const std::string mine = waits() + "the MPI library" + in_call(*in_stock_);
    alarm(StuckError("no progress for " + std::to_string(options_.stuck_after.count()) + " ms: " + mine, true,
                     mine));
  });
  planner_.stock_is_watched();
  forget();
}

Execution CallEngine::execution(const PlannedCall& plan, CallSetup setup) {
  RankSchedule part = planner_.part(plan, std::move(setup.arrival_ns));
  Layout layout = planner_.layout(plan, part.shape, setup.send, setup.recv);
  Window window = planner_.window(plan, part.shape);
  if (setup.most_sends > 0) window.sends = std::min(window.sends, setup.most_sends);
  return Execution(std::move(part), std::move(layout), transport_, setup.instance, window, setup.reducer,
                   setup.credits != nullptr ? setup.credits : &credits_, planner_.answered_from_bytes(plan));
}

std::unique_ptr<Execution> CallEngine::new_execution(const PlannedCall& plan, CallSetup setup) {
  Observer* const observer = setup.observer;
  std::unique_ptr<Execution> made(new Execution(execution(plan, std::move(setup))));  // it cannot be moved
  made->observe(observer);
  return made;
}

CallArguments CallEngine::at_home(CallArguments a) const {
  if (a.copies != nullptr) a.copies->pack();
  const OperationTraits& row = traits(a.operation);
  if (row.before != Holder::owner || row.after != Holder::all) return a;
  const auto self = static_cast<std::size_t>(rank());
  const std::size_t block = a.send.size();
  const auto before = a.block_bytes.first(std::min(self, a.block_bytes.size()));
  const std::size_t offset =
      a.block_bytes.empty() ? self * block : std::accumulate(before.begin(), before.end(), std::size_t{0});
  if (block == 0 || offset + block > a.recv.size()) return a;  // the layout refuses what does not fit
  const auto own = a.recv.subspan(offset, block);
  if (a.send.data() != own.data()) std::memmove(own.data(), a.send.data(), block);
  a.send = own;
  return a;
}

void CallEngine::run(const PlannedCall& plan, std::span<const std::byte> send, std::span<std::byte> recv,
                     const Reducer* reducer) {
  Execution running = execution(
      plan, {.instance = take_instance(CallKind::plain), .send = send, .recv = recv, .reducer = reducer});
  running.observe(observer_);
  running.arrive();
  finish(running, plan);
}

void CallEngine::run(SteadyCall& call, const CallArguments& arguments, std::uint32_t instance) {
  // What fails in the middle is not restarted.
  std::unique_ptr<Execution> running = std::move(call.execution);
  if (running != nullptr) {
    running->restart(instance, arguments.send.data(), arguments.recv.data(), arguments.reducer);
  } else {
    running = new_execution(
        *call.plan,
        {.instance = instance, .send = arguments.send, .recv = arguments.recv, .reducer = arguments.reducer});
    running->keep_for_restart();
  }
  running->observe(observer_);
  running->arrive();
  finish(*running, *call.plan);
  call.execution = std::move(running);
}

void CallEngine::run_own(Operation operation, std::span<const std::byte> send, std::span<std::byte> recv,
                         std::size_t bytes, const char* algorithm, Rank root) {
  run(planner_.plan({.operation = operation, .bytes = bytes, .root = root, .algorithm = algorithm}), send,
      recv, nullptr);
}

bool CallEngine::all_say(bool yes) {
  auto word = static_cast<std::byte>(yes);
  std::vector<std::byte> words(rank() == 0 ? static_cast<std::size_t>(transport_.size()) : 0);
  run_own(Operation::gather, std::span(&word, 1), words, 1, "bnom");
  word = static_cast<std::byte>(std::ranges::count(words, std::byte{0}) == 0);
  run_own(Operation::bcast, std::span(&word, 1), std::span(&word, 1), 1, "bnom");
  return word != std::byte{0};
}

void CallEngine::finish(Execution& execution, const PlannedCall& plan) {
  wait([&] { return execution.step(); }, [&] { return execution.done(); },
       [&] { return waits() + execution.waits_for() + in_call(plan); });
  last_.bytes_sent = execution.bytes_sent();
  last_.bytes_staged = execution.bytes_staged();
}

void CallEngine::note_call(const PlannedCall& plan) {
  if (plan.is_stock()) {
    last_stock_ = plan.signature.algorithm.data();
    last_ = {.algorithm = last_stock_};
  } else {
    last_.algorithm = plan.choice.algorithm->name;
    last_.segments = plan.segments;
  }
  last_.reason = plan.reason;
}

void CallEngine::require_agreement(CallSignature mine, const Reducer* reducer) {
  if (reducer != nullptr) note_name(mine.reducer, reducer->name());
  const Checked checked(checked_, mine);
  std::vector<CallSignature> all(rank() == 0 ? static_cast<std::size_t>(transport_.size()) : 0);
  run_own(Operation::gather, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
          sizeof(CallSignature), "lin");
  Verdict verdict;
  for (std::size_t r = 1; r < all.size() && verdict.rank < 0; ++r) {
    if (!(all[r] == all[0])) verdict = {static_cast<std::int32_t>(r), 0, {all[0], all[r]}};
  }
  const auto bytes = std::as_writable_bytes(std::span(&verdict, 1));
  run_own(Operation::bcast, bytes, bytes, sizeof(Verdict), "bnom");
  if (verdict.rank >= 0) {
    throw MismatchError("the ranks do not agree: rank 0 calls " + verdict.calls[0].text() + "; rank " +
                        std::to_string(verdict.rank) + " calls " + verdict.calls[1].text());
  }
}

std::shared_ptr<PendingCall> CallEngine::start(const CallArguments& arguments,
                                               std::shared_ptr<const void> keep) {
  const std::int64_t arrival_ns = observed_now_ns();
  const std::shared_ptr<SteadyCall> steady = steady_.find(planner_, arguments, false);
  const PlannedCall& plan = *steady->plan;
  if (plan.is_stock()) {
    throw std::invalid_argument(std::string(to_string(arguments.operation)) +
                                ": algorithm 'mpi' cannot be started without waiting; name one of ours");
  }
  const CallArguments given = at_home(arguments);
  const PendingCall::Role role = role_of(arguments, rank());
  std::uint32_t& number = started_.at(static_cast<std::size_t>(arguments.operation));
  const CallRecord record{.operation = arguments.operation,
                          .algorithm = plan.choice.algorithm->name,
                          .started = true,
                          .number = number,
                          .root = arguments.root,
                          .bytes = arguments.bytes,
                          .arrival_ns = arrival_ns};
  std::shared_ptr<PendingCall> call =
      started(steady,
              {.instance = instance_of_pending(number, arguments.operation),
               .send = given.send,
               .recv = given.recv,
               .reducer = given.reducer,
               .credits = &pending_.credits(),
               .most_sends = role == PendingCall::Role::source ? kSendsOfSource : 0,
               .observer = observer_},
              role, {std::move(keep), given.copies}, &record);
  ++number;
  return call;
}

std::shared_ptr<PendingCall> CallEngine::start_report(std::span<std::byte> data, const Reducer& reducer,
                                                      std::shared_ptr<const void> keep) {
  const auto steady = steady_.find(planner_,
                                   {.operation = Operation::allreduce,
                                    .bytes = data.size(),
                                    .element_bytes = reducer.element_bytes(),
                                    .algorithm = "recursive-doubling",
                                    .send = data,
                                    .recv = data,
                                    .reducer = &reducer},
                                   false);
  return started(steady,
                 {.instance = instance_of(reports_++, CallKind::report),
                  .send = data,
                  .recv = data,
                  .reducer = &reducer,
                  .credits = &pending_.credits()},
                 PendingCall::Role::other, {std::move(keep)}, nullptr);
}

std::shared_ptr<PendingCall> CallEngine::started(const std::shared_ptr<SteadyCall>& steady, CallSetup setup,
                                                 PendingCall::Role role, PendingCall::Data data,
                                                 const CallRecord* record) {
  Observer* const observer = setup.observer;
  std::shared_ptr<PendingCall> call;
  if (!steady->ended.empty()) {
    call = std::move(steady->ended.back());
    steady->ended.pop_back();
    call->execution().restart(setup.instance, setup.send.data(), setup.recv.data(), setup.reducer);
  } else {
    std::unique_ptr<Execution> made = new_execution(*steady->plan, std::move(setup));
    made->keep_for_restart();
    call = std::make_shared<PendingCall>(steady, role, std::move(made));
  }
  call->execution().observe(observer);
  call->arrive(std::move(data));
  if (observer != nullptr && record != nullptr) call->observe(*observer, *record);
  pending_.add(call);
  pending_.step();  // the first messages leave now
  return call;
}

void CallEngine::release(std::shared_ptr<PendingCall> call) {
  pending_.remove(*call);
  if (!call->done()) return;
  call->let_go();
  const std::shared_ptr<SteadyCall> home = call->home();
  if (home != nullptr && home->ended.size() < kMostEnded) home->ended.push_back(std::move(call));
}

void CallEngine::wait_for_pending(const std::function<bool()>& done, bool idle_is_fine) {
  wait([] { return false; }, done, [&] { return waits() + pending_.waits_for(); }, idle_is_fine);
}

void CallEngine::tell_observer(const PlannedCall& plan, const CallerTimes& times) {
  if (observer_ == nullptr) return;
  CallRecord record{.operation = plan.operation(),
                    .algorithm = last_.algorithm,
                    .number = observed_++,
                    .root = plan.signature.root,
                    .bytes = plan.bytes,
                    .arrival_ns = times.arrival_ns,
                    .exit_ns = steady_now_ns(),
                    .early_ns = times.early_ns};
  if (times.ahead_ns) record.predicted_ns = times.arrival_ns + *times.ahead_ns;
  observer_->call_ended(record);
}

}  // namespace papfft::comm
