// SPDX-License-Identifier: MIT
#include "comm/engine/pending_calls.hpp"

#include <algorithm>
#include <utility>

#include "comm/engine/steady_calls.hpp"
#include "comm/engine/steady_clock.hpp"

namespace papfft::comm {

PendingCall::PendingCall(const std::shared_ptr<SteadyCall>& home, Role role,
                         std::unique_ptr<Execution> execution)
    : home_(home), plan_(home->plan), role_(role), execution_(std::move(execution)) {}

bool PendingCall::is_busy() const {
  return role_ == Role::source ? execution_->has_more_to_send() : execution_->receives_left() > kReceivesLeft;
}

bool PendingCall::step(Clock::time_point now, Turn* older) {
  if (!begun_) {
    if (older != nullptr && older->are_busy && now - older->moved_at < kLongestRest) return false;
    begun_ = true;
    moved_at_ = now;
  }
  const bool any = execution_->step();
  if (any) moved_at_ = now;
  if (older != nullptr) {
    older->moved_at = std::max(older->moved_at, moved_at_);
    older->are_busy = older->are_busy || is_busy();
  }
  if (execution_->done()) end();
  return any;
}

void PendingCall::end() {
  if (data_.copies != nullptr) data_.copies->unpack();
  if (observer_ != nullptr) {
    record_.exit_ns = steady_now_ns();
    observer_->call_ended(record_);
  }
  done_ = true;
}

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
  const std::string others =
      calls_.size() > 1 ? ", the first of " + std::to_string(calls_.size()) + " pending calls" : "";
  return calls_.front()->waits_for() + others;
}

bool PendingCalls::step() {
  if (count_ == 0) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  if (error_) std::rethrow_exception(error_);
  bool any = false;
  try {
    any = step_all();
  } catch (...) {
    error_ = std::current_exception();
    throw;
  }
  std::erase_if(calls_, [](const auto& call) { return call->done(); });
  count_ = calls_.size();
  if (any) ++progress_;
  return any;
}

bool PendingCalls::step_all() {
  const auto now = PendingCall::Clock::now();
  PendingCall::Turn sources;
  PendingCall::Turn sinks;
  const auto older = [&](PendingCall::Role role) {
    if (role == PendingCall::Role::source) return &sources;
    return role == PendingCall::Role::sink ? &sinks : nullptr;
  };
  bool any = false;
  for (const auto& call : calls_) any = call->step(now, older(call->role())) || any;
  return any;
}

}  // namespace papfft::comm
