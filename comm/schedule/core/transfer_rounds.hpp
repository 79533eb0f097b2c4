// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

struct Request;

/// One message of an operation that is planned in rounds. In a round everything happens at once: a rank sends at most one
/// segment and receives at most one other, and what it receives it can send in the next round at the earliest.
struct Transfer {
  std::int64_t round = 0;  ///< counted from any start; rounds without transfers may be left out
  Rank from =
      0;  ///< sends all that it holds of the segment; in a reduction to a root it holds none of it afterwards
  Rank to = 0;
  int segment = 0;  ///< a slot
  bool combine =
      true;  ///< `to` adds what comes to what it holds. Else it replaces it: what it held it has sent before.
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// Takes a schedule piece by piece: any number of transfers at a time, their rounds never descending. So a planner needs no
/// memory for the whole list, of which each rank keeps its own only.
using TransferSink = std::function<void(std::span<const Transfer>)>;

/// Plans for all ranks: a pure function of the request, the same on each.
using TransferPlanner = void (*)(const Request&, const TransferSink&);

/// The programs of all ranks. Op::round numbers the rounds that have transfers 0, 1, 2, ...
///
/// Free of deadlock with any windows and without buffering: ops are in the order of rounds, one send and one receive each,
/// and depend on earlier rounds only; so when all earlier rounds have ended, those of a round are next in their windows.
[[nodiscard]] Schedule to_schedule(const Request& request, TransferPlanner plan);

/// One rank's part of the same schedule, in memory for its own transfers.
[[nodiscard]] RankSchedule to_rank_schedule(const Request& request, Rank rank, TransferPlanner plan);

}  // namespace papfft::comm
