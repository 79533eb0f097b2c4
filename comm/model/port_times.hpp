// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "comm/model/simulator.hpp"
#include "comm/progress/slot_sizes.hpp"
#include "comm/schedule/core/hosts.hpp"

namespace papfft::comm {

/// How long a schedule keeps the ports of a machine busy at least, from the programs of some of its ranks. Its simulated run time is no
/// less, whatever the arrivals and the window. This is much cheaper than a simulation, which needs the programs of all ranks.
class PortTimes {
 public:
  /// @param machine  of the simulation; must outlive this object, as `hosts`
  PortTimes(const Machine& machine, const Hosts& hosts) : machine_(machine), hosts_(hosts) {}

  /// A rank's program. Each rank once. What a host's card carries counts as far as the host's ranks have been added.
  /// @param sizes  of the schedule's slots
  void add(Rank rank, const Program& program, const SlotSizes& sizes);

  /// Of the busiest port so far.
  [[nodiscard]] Ticks least() const { return least_; }

 private:
  struct Busy {
    Ticks out = 0;
    Ticks in = 0;
  };
  [[nodiscard]] Ticks time_of(const Busy& busy, int ports) const;

  const Machine& machine_;
  const Hosts& hosts_;
  std::map<int, Busy> cards_ = {};  // by host
  Ticks least_ = 0;
};

}  // namespace papfft::comm
