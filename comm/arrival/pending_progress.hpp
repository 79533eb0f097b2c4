// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>

#include "comm/arrival/background.hpp"
#include "comm/engine/pending_calls.hpp"

namespace papfft::comm {

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
  static constexpr auto kLazy = std::chrono::milliseconds(1);
  PendingCalls& calls_;
};

}  // namespace papfft::comm
