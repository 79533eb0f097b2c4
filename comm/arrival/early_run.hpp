// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "comm/arrival/background.hpp"
#include "comm/arrival/decision_board.hpp"
#include "comm/engine/execution.hpp"

namespace papfft::comm {

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
  static constexpr auto kActive = std::chrono::milliseconds(4);  // after a message others are likely
  static constexpr auto kLazy = std::chrono::milliseconds(1);    // some have come, the others will
  static constexpr auto kQuiet = std::chrono::milliseconds(3);   // nobody has come yet
  Make make_;
  Ask decision_;
  mutable std::mutex mutex_;
  std::unique_ptr<Execution> execution_;
  bool any_ = false;
  std::atomic<bool> hurries_ = false;
  Clock::time_point active_until_{};
};

}  // namespace papfft::comm
