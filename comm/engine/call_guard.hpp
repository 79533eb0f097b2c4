// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "comm/choose/guard.hpp"
#include "comm/engine/call_planner.hpp"
#include "papfft/collectives.hpp"

namespace papfft::comm {

class CallEngine;
class PendingCall;

/// Guards the calls of one group: has a Guard for each operation and size, times the calls that it asks for, and tells all ranks of
/// all times. A report is an allreduce of four numbers. It begins with a call and ends with it, so none is under way between calls.
class CallGuard {
 public:
  /// @param engine  must outlive this object
  explicit CallGuard(CallEngine& engine) : engine_(engine) {}
  ~CallGuard();
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

  /// A call begins, the same on all ranks. @return whether the MPI library is to carry it out
  [[nodiscard]] bool begin(const PlannedCall& plan);
  /// It has ended. @throws as CallEngine::finish
  void end();
  /// What begin() would return if that call came next.
  [[nodiscard]] bool is_stock_next(const PlannedCall& plan) const;

  [[nodiscard]] std::vector<GuardedCalls> statistics() const;
  /// What "auto" chooses has changed, on all ranks.
  void clear() { kinds_.clear(); }
  /// The same of calls like this one. Not during one.
  void forget(const PlannedCall& plan) { kinds_.erase(key_of(plan)); }

 private:
  /// Calls of one operation that have about the same size.
  struct Kind {
    Guard guard;
    std::int64_t incumbent_ns = 0;  // on this rank, in the pair's calls
    std::int64_t challenger_ns = 0;
    std::int64_t overhead_ns = 0;  // and in the report before this one
  };
  struct Report;
  using Key = std::pair<Operation, unsigned>;  // and the number of bits of the size

  [[nodiscard]] static Key key_of(const PlannedCall& plan);
  [[nodiscard]] bool guards(const PlannedCall& plan) const;
  void begin_report();
  void end_report();

  CallEngine& engine_;
  bool rests_ = false;  // for good, on all ranks
  std::map<Key, Kind> kinds_;

  // The call under way.
  Kind* current_ = nullptr;  // nullptr: none that is guarded
  std::size_t bytes_ = 0;
  std::int64_t began_ns_ = 0;
  std::shared_ptr<Report> report_;
  std::shared_ptr<PendingCall> pending_;
};

}  // namespace papfft::comm
