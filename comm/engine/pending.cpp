// SPDX-License-Identifier: MIT
#include <exception>
#include <utility>

#include "comm/engine/call_engine.hpp"
#include "papfft/collectives.hpp"

namespace papfft::comm {

Pending::Pending() noexcept = default;
Pending::Pending(CallEngine& engine, std::shared_ptr<PendingCall> call)
    : engine_(&engine), call_(std::move(call)) {}
Pending::Pending(Pending&&) noexcept = default;

Pending& Pending::operator=(Pending&& other) noexcept {
  if (this != &other) {
    end();
    engine_ = other.engine_;
    call_ = std::move(other.call_);
  }
  return *this;
}

Pending::~Pending() { end(); }

void Pending::end() noexcept {
  if (call_ == nullptr) return;
  if (!done() && std::uncaught_exceptions() == 0) {
    try {
      wait();
    } catch (const std::exception&) {  // the group has failed; whoever uses it next is told
    }
  }
  engine_->release(std::exchange(call_, nullptr));
}

bool Pending::done() const noexcept { return call_ == nullptr || call_->done(); }

bool Pending::test() {
  if (!done()) engine_->pending().step();
  return done();
}

void Pending::wait() {
  if (!done()) engine_->wait_for_pending([this] { return done(); });
}

Pending Collectives::start(const CallArguments& arguments, std::shared_ptr<const void> keep) {
  return Pending(*engine_, engine_->start(arguments, std::move(keep)));
}

void Collectives::wait_until(const std::function<bool()>& done, bool idle_is_fine) {
  engine_->wait_for_pending(done, idle_is_fine);
}

}  // namespace papfft::comm
