// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "comm/transport/transport.hpp"
#include "papfft/options.hpp"

namespace papfft::comm {

class StuckCouncil;

/// What happens to a rank that makes no progress for Options::stuck_after.
///
/// Stuck ranks tell each other whom they wait for, listen for a while, and throw. One of them speaks, that is, should report
/// and end the job: the lowest of those that became stuck at about the same time. It tells all others so. A rank that becomes
/// stuck later hears that verdict and keeps silent.
class Watchdog {
 public:
  /// @param transport, options  must outlive this object
  Watchdog(Transport& transport, const Options& options);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// If not, nobody need ask for how long a rank has been idle.
  [[nodiscard]] bool is_on() const { return options_.stuck_after.count() > 0; }
  [[nodiscard]] bool is_too_long(std::chrono::nanoseconds idle) const { return idle > options_.stuck_after; }
  /// @param mine  whom this rank waits for. @throws StuckError
  [[noreturn]] void report(const std::string& mine);

 private:
  Transport& transport_;
  const Options& options_;
  std::unique_ptr<StuckCouncil> council_;  // once stuck: what it has said can be heard as long as this lives
};

}  // namespace papfft::comm
