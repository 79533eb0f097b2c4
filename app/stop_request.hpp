// SPDX-License-Identifier: MIT
#pragma once
#include <csignal>

namespace papfft::app {

/// While one lives, SIGUSR1 asks this process to stop in good order instead of ending it. mpirun passes the signal on to all
/// ranks; the root acts on it. One at a time.
class StopRequest {
 public:
  StopRequest() {
    asked_ = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { asked_ = 1; };
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, &before_);
  }
  ~StopRequest() { sigaction(SIGUSR1, &before_, nullptr); }
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  [[nodiscard]] bool asked() const { return asked_ != 0; }

 private:
  static inline volatile std::sig_atomic_t asked_ = 0;
  struct sigaction before_ {};
};

}  // namespace papfft::app
