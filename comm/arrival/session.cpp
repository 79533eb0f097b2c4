// SPDX-License-Identifier: MIT
#include "papfft/session.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

#include "comm/arrival/session_calls.hpp"

namespace papfft::comm {

Session::Session(Transport& transport, const Options& options, const SessionOptions& session)
    : Collectives(transport, options),
      calls_(std::make_unique<SessionCalls>(engine(), session,
                                            [this](const CallArguments& a) { stock_call(a); })) {}

Session::~Session() {
  if (calls_->is_closed() || std::uncaught_exceptions() > 0) {
    abandon();
    return;
  }
  try {
    close();
  } catch (const std::exception&) {  // the group is broken; whoever uses it next is told
  }
}

void Session::close() { calls_->close(); }
void Session::abandon() noexcept { calls_->abandon(); }

void Session::processing_start() { calls_->predictor().processing_start(); }
void Session::edge(double fraction) {
  if (!(fraction > 0 && fraction <= 1))
    throw std::invalid_argument("edge: the fraction must be above 0 and at most 1");
  calls_->predictor().edge(fraction);
}
void Session::processing_end() { calls_->predictor().processing_end(); }

void Session::use_algorithm(Operation operation, std::string_view algorithm) {
  calls_->use_algorithm(operation, algorithm);
}

void Session::call(const CallArguments& arguments) { calls_->call(arguments); }

Pending Session::start(const CallArguments& arguments, std::shared_ptr<const void> keep) {
  return calls_->start(arguments, std::move(keep));
}

PersistentCall Session::persistent(const CallArguments& arguments, std::shared_ptr<const void> keep) {
  return PersistentCall(calls_->persistent(arguments, std::move(keep)));
}

std::int64_t Session::now_ns() const { return calls_->now_ns(); }
SessionStatistics Session::statistics() const { return calls_->statistics(); }

PersistentCall::PersistentCall(std::unique_ptr<PersistentBody> body) : body_(std::move(body)) {}
PersistentCall::PersistentCall(PersistentCall&&) noexcept = default;
PersistentCall& PersistentCall::operator=(PersistentCall&&) noexcept = default;
PersistentCall::~PersistentCall() = default;

const PersistentBody& PersistentCall::body() const {
  if (body_ == nullptr) throw StateError("a persistent call that has been moved from");
  return *body_;
}

void PersistentCall::start() { body().session("start").start(body()); }
void PersistentCall::wait() { body().session("wait").wait(body()); }

void PersistentCall::call() {
  start();
  wait();
}

}  // namespace papfft::comm
