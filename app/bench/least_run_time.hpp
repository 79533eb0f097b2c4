// SPDX-License-Identifier: MIT
// The least run time that any algorithm could have needed for a collective call: the bound. bound / measured run time is the
// share of the bound that an algorithm reaches, at most 1.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::app {

/// What the data of a call have to pass: the cables between hosts, and the memory within each host.
struct Links {
  std::vector<int> host;        ///< of each rank: the same number means the same host
  double beta_ns_per_byte = 0;  ///< inverse rate of each host's cable, the same in both directions
  double burst_bytes =
      0;  ///< bytes that a cable passes at once after a pause, each way, however low its rate is
  double copy_ns_per_byte = 0;  ///< of one core that copies from memory to memory
  int cores = 1;                ///< of each host, all of which may copy
};

/// One collective call.
struct CallSize {
  comm::Operation operation = comm::Operation::scatter;
  comm::Rank root = 0;
  /// The size of each rank's block; of operations on one vector (bcast, reduce, allreduce) the vector's size alone. Of operations with
  /// a block per pair of ranks, what rank 0 has for each; rank s has for rank t what rank 0 has for rank (s + t) mod P. So all ranks
  /// have and get equally much.
  std::vector<std::size_t> block_bytes;
};

/// From the first arrival to the last exit, at least. All that it uses follows from the operation's contract
/// (schedule/core/contract.hpp):
///
/// - No rank is done before it has arrived.
/// - A block that some rank of a host needs and that ranks of other hosts contribute to must cross the host's cable inwards
///   once, after the last of these contributors has arrived. In the same way it must cross the cables of the contributors'
///   hosts outwards. A cable that may begin at time s has passed m bytes at s + max(0, m - burst) beta or later.
/// - Blocks that are combined and then needed on H hosts cross cables 2 (H - 1) times in all, so some cable carries at least
///   2 (H - 1) / H of each (Patarasuk and Yuan, 2009).
/// - What does not come by the cable is written to the receiver's memory by a core of the receiver's host.
///
/// @throws std::invalid_argument  no rank; not one arrival and host per rank; no such root; not as many blocks as the operation
///                                has
[[nodiscard]] std::int64_t least_run_time_ns(const CallSize& call, std::span<const std::int64_t> arrival_ns,
                                             const Links& links);

}  // namespace papfft::app
