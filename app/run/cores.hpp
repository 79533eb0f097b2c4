// SPDX-License-Identifier: MIT
#pragma once
#include <sched.h>

namespace papfft::app {

class Job;

/// Cores that a thread may run on.
class CoreSet {
 public:
  /// Of the calling thread; every core, if the system does not tell.
  [[nodiscard]] static CoreSet of_this_thread() noexcept;
  /// More than there are: the system takes those that it lets this process have.
  [[nodiscard]] static CoreSet everything() noexcept;

  void add(const CoreSet& other) noexcept { CPU_OR(&set_, &set_, &other.set_); }
  [[nodiscard]] int count() const noexcept { return CPU_COUNT(&set_); }
  /// The calling thread, and the threads that it starts from now on.
  void take() const noexcept { (void)sched_setaffinity(0, sizeof set_, &set_); }

 private:
  CoreSet() noexcept { CPU_ZERO(&set_); }
  cpu_set_t set_;
};

/// Collective: at rank 0 the cores of all ranks on its host, which mpirun may have bound to some each; elsewhere the rank's own.
[[nodiscard]] CoreSet cores_of_host(Job& job);

/// While it lives, the calling thread may run on these cores, as may threads that it starts meanwhile.
class RunOn {
 public:
  explicit RunOn(const CoreSet& cores) noexcept : before_(CoreSet::of_this_thread()) { cores.take(); }
  ~RunOn() { before_.take(); }
  RunOn(const RunOn&) = delete;
  RunOn& operator=(const RunOn&) = delete;

 private:
  CoreSet before_;
};

}  // namespace papfft::app
