// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "comm/choose/ranking.hpp"
#include "comm/engine/call_planner.hpp"

namespace papfft::comm {

class CallEngine;

/// Where the links of the machine were measured, but not calls like these: compares the ways of a call by simulation, once for each
/// operation and size, after its calls have taken much longer than that takes. Rank 0 simulates, within a budget of time, and tells
/// the others, so that all go the same way. Where the time runs out, it tries again when the calls have taken four times as long.
class SimulatedWays {
 public:
  /// @param engine  must outlive this object
  explicit SimulatedWays(CallEngine& engine) : engine_(engine) {}

  /// From now on, with these links; a group needs those of the levels that it has. The same on all ranks.
  void use(const MachineProfile& machine);
  /// A call is about to begin that is waited for, the same on all ranks. @return the planner knows better now: plan it anew
  [[nodiscard]] bool improve(const PlannedCall& plan);
  /// What "auto" chooses has changed, on all ranks.
  void clear() { kinds_.clear(); }

 private:
  /// Calls of one operation that have about the same size.
  struct Kind {
    double modelled_ns = 0;    // that the calls have taken so far, by the model of the link
    double next_try_ns = 1e8;  // infinite once the simulation has ended
  };
  using Key = std::pair<Operation, unsigned>;  // and the number of bits of the size

  /// @return empty if the time ran out
  [[nodiscard]] std::string chosen(const PlannedCall& plan, std::size_t bytes, double modelled_ns) const;

  CallEngine& engine_;
  std::optional<MachineLinks> links_;
  std::map<Key, Kind> kinds_;
};

}  // namespace papfft::comm
