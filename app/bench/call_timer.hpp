// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "app/bench/bench_common.hpp"
#include "app/bench/collective_data.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

/// Times single calls for which all ranks come together, or as late as they are told.
class CallTimer {
 public:
  /// @param clock  whose time is the same on all ranks
  CallTimer(const OwnComm& comm, const comm::MpiSession& clock) : comm_(comm), clock_(clock) {}

  /// Collective: new data, barriers, the call, the check. @param delay  this rank comes so much later to the call
  /// @return from when the first rank was there to the last exit, in s, delays included, the same on all ranks; nothing: the algorithm
  /// refused the number of ranks or gave wrong data. A rank's own time would not do: ranks leave a barrier up to half a short call apart.
  [[nodiscard]] std::optional<double> time_of(comm::Communicator& by, CollectiveData& data,
                                              const std::string& algorithm,
                                              std::chrono::nanoseconds delay = {});

  /// What all of that has taken so far, in s on the slowest ranks; the same on all.
  [[nodiscard]] double spent_s() const { return spent_s_; }

 private:
  const OwnComm& comm_;
  const comm::MpiSession& clock_;
  Work waiting_{"sleep"};  // which leaves the core to others
  std::uint64_t calls_ = 0;
  double spent_s_ = 0;
};

}  // namespace papfft::app
