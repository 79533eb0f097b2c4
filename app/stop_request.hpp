// SPDX-License-Identifier: MIT
#pragma once
#include <unistd.h>

#include <array>
#include <csignal>

#include "app/exit_code.hpp"
#include "app/io/atomic_file.hpp"

namespace papfft::app {

/// While one lives, SIGUSR1, SIGINT and SIGTERM ask this process to stop in good order instead of ending it; a second one of
/// the latter two ends it at once. mpirun passes signals on to all ranks; the root acts on them. One at a time.
class StopRequest {
 public:
  StopRequest() {
    asked_ = 0;
    struct sigaction action {};
    action.sa_handler = [](int signal) {
      if (asked_ != 0 && signal != SIGUSR1) {
        io::unlink_pending_temporaries();
        _exit(128 + signal);
      }
      asked_ = signal;
    };
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~StopRequest() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  [[nodiscard]] bool asked() const { return asked_ != 0; }
  /// By which signal, and the exit code that tells so.
  [[nodiscard]] const char* name() const {
    return asked_ == SIGUSR1 ? "SIGUSR1" : asked_ == SIGINT ? "SIGINT" : "SIGTERM";
  }
  [[nodiscard]] int exit_code() const { return asked_ == SIGUSR1 ? kStopped : 128 + asked_; }

 private:
  static constexpr std::array<int, 3> kSignals = {SIGUSR1, SIGINT, SIGTERM};
  static inline volatile std::sig_atomic_t asked_ = 0;
  std::array<struct sigaction, 3> before_{};
};

}  // namespace papfft::app
