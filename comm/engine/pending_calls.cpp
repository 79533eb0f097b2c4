// SPDX-License-Identifier: MIT
#include "comm/engine/pending_calls.hpp"

#include <algorithm>
#include <utility>

#include "comm/engine/collectives_impl.hpp"

namespace papfft::comm {

void PendingCalls::add(std::shared_ptr<PendingCall> call) {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  calls_.push_back(std::move(call));
  count_ = calls_.size();
}

void PendingCalls::remove(const PendingCall& call) {
  const std::lock_guard lock(mutex_);
  std::erase_if(calls_, [&](const auto& c) { return c.get() == &call; });
  count_ = calls_.size();
}

std::string PendingCalls::waits_for() const {
  const std::lock_guard lock(mutex_);
  if (calls_.empty()) return "nothing that it has started";
  const PendingCall& oldest = *calls_.front();
  const std::string others =
      calls_.size() > 1 ? ", the first of " + std::to_string(calls_.size()) + " pending calls" : "";
  return oldest.execution->waits_for() + " in pending " + oldest.text + others;
}

bool PendingCalls::step() {
  if (count_ == 0) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (error_) std::rethrow_exception(error_);
  bool any = false;
  try {
    const auto now = std::chrono::steady_clock::now();
    struct {
      bool are_busy = false;
      std::chrono::steady_clock::time_point moved_at = {};
    } older_sources, older_sinks;
    for (const auto& call : calls_) {
      auto* const older = call->is_source ? &older_sources : call->is_sink ? &older_sinks : nullptr;
      if (!call->begun) {
        if (older != nullptr && older->are_busy && now - older->moved_at < kLongestRest) continue;
        call->begun = true;
        call->moved_at = now;
      }
      if (call->execution->step()) {
        any = true;
        call->moved_at = now;
      }
      if (older != nullptr) {
        older->moved_at = std::max(older->moved_at, call->moved_at);
        older->are_busy =
            older->are_busy || (call->is_source ? call->execution->has_more_to_send()
                                                : call->execution->receives_left() > kReceivesLeft);
      }
      if (!call->execution->done()) continue;
      if (call->observer != nullptr) {
        call->record.exit_ns = steady_now_ns();
        call->observer->call_ended(call->record);
      }
      call->done = true;
    }
  } catch (...) {
    error_ = std::current_exception();
    throw;
  }
  std::erase_if(calls_, [](const auto& call) { return call->done.load(); });
  count_ = calls_.size();
  if (any) ++progress_;
  return any;
}

struct Pending::Body {
  Collectives::Impl& group;
  std::shared_ptr<PendingCall> call;
};

Pending::Pending() noexcept = default;
Pending::Pending(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Pending::Pending(Pending&&) noexcept = default;

Pending& Pending::operator=(Pending&& other) noexcept {
  if (this != &other) {
    end();
    body_ = std::move(other.body_);
  }
  return *this;
}

Pending::~Pending() { end(); }

void Pending::end() noexcept {
  if (body_ == nullptr) return;
  if (!done() && std::uncaught_exceptions() == 0) {
    try {
      wait();
    } catch (const std::exception&) {  // the group has failed; whoever uses it next is told
    }
  }
  body_->group.pending.remove(*body_->call);
  body_.reset();
}

bool Pending::done() const noexcept { return body_ == nullptr || body_->call->done; }

bool Pending::test() {
  if (!done()) body_->group.pending.step();
  return done();
}

void Pending::wait() {
  if (done()) return;
  body_->group.wait([] { return false; }, [&] { return done(); },
                    [&] { return body_->group.waits_for_pending(); });
}

Pending Collectives::start(const CallArguments& arguments, std::shared_ptr<const void> keep) {
  Impl& x = *impl_;
  const std::int64_t arrival_ns = x.observed_now_ns();
  const PlannedCall planned = x.plan(arguments, false);
  if (planned.choice.algorithm == nullptr) {
    throw std::invalid_argument(std::string(to_string(arguments.operation)) +
                                ": algorithm 'mpi' cannot be started without waiting; name one of ours");
  }
  auto call = std::make_shared<PendingCall>();
  const OperationTraits& operation = traits(arguments.operation);
  const bool is_root = operation.is_per_rank() && arguments.root == rank();
  call->is_source = is_root && operation.before == Holder::root;
  call->is_sink = is_root && operation.after == Holder::root;
  call->text = planned.signature.text();
  call->keep = std::move(keep);
  RankSchedule mine = x.part(planned, {});
  Layout where = x.layout(planned, mine.shape, arguments.send, arguments.recv);
  Window window = select_window(mine.shape, planned.signature.bytes, x.options);
  if (call->is_source) window.sends = std::min(window.sends, kSendsOfSource);
  std::uint32_t& number = x.pending_calls.at(static_cast<std::size_t>(arguments.operation));
  call->observer = x.observer;
  call->record = {.operation = arguments.operation,
                  .algorithm = planned.choice.algorithm->name,
                  .started = true,
                  .number = number,
                  .root = arguments.root,
                  .bytes = arguments.bytes,
                  .arrival_ns = arrival_ns};
  call->execution = std::make_unique<Execution>(std::move(mine), std::move(where), x.transport,
                                                instance_of_pending(number, arguments.operation), window,
                                                arguments.reducer, &x.pending.credits());
  call->execution->observe(x.observer);
  call->execution->arrive();
  x.pending.add(call);
  ++number;
  x.pending.step();  // the first messages leave now
  return Pending(std::make_unique<Pending::Body>(Pending::Body{x, std::move(call)}));
}

void Collectives::wait_until(const std::function<bool()>& done, bool idle_is_fine) {
  impl_->wait([] { return false; }, done, [&] { return impl_->waits_for_pending(); }, idle_is_fine);
}

}  // namespace papfft::comm
