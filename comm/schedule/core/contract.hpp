// SPDX-License-Identifier: MIT
#pragma once
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// What an operation promises, per rank and logical block; after the predicates of MSCCL's collectives. It follows from
/// the operation's row in papfft/operation.hpp.
///
/// A block's value is the set of ranks that contributed to it. Moving operations have one contributor: the root
/// (scatter, bcast) or the block's owner (gather, allgather), which of a pair's block (alltoall) is the rank that it comes from.
/// Reductions end with all P, each exactly once.
enum class Held : std::uint8_t {
  nothing,  ///< before: no valid data; after: not promised
  root,     ///< the root's data
  owner,    ///< the data of the rank that the block belongs to, or comes from
  own,      ///< this rank's contribution
  all       ///< every rank's contribution, each once
};

/// What `rank` holds of logical block `block` before the operation: `nothing`, `root`, `owner` or `own`.
[[nodiscard]] Held held_before(const Shape& shape, Rank rank, int block);
/// What `rank` must hold of it afterwards: `nothing`, `root`, `owner` or `all`.
[[nodiscard]] Held held_after(const Shape& shape, Rank rank, int block);

/// The operation that the reversed schedule implements, such as gather for scatter.
/// @throws std::invalid_argument  there is none, as for allreduce
[[nodiscard]] Operation reversed(Operation operation);

}  // namespace papfft::comm
