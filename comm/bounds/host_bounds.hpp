// SPDX-License-Identifier: MIT
// What a collective must move at least where several ranks share a host, and how long that takes.
#pragma once
#include <cstdint>

#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Bytes that no algorithm can avoid.
struct LeastTraffic {
  std::int64_t link_bytes = 0;  ///< some host's link carries these one way
  std::int64_t rank_bytes = 0;  ///< some rank sends or receives these, wherever the other end is
};

/// The least traffic of an operation, by its contract. With P ranks on H hosts of c_h ranks each, an m bytes long vector, or
/// blocks of m bytes per rank:
///
/// | operation | link_bytes | rank_bytes |
/// |---|---|---|
/// | bcast, reduce | m | m |
/// | allreduce | 2 (H-1)/H m | 2 (P-1)/P m |
/// | scatter(v), gather(v) | (P - c of the root's host) m | (P-1) m |
/// | allgather, allgatherv, reduce_scatter | (P - least c) m | (P-1) m |
/// | alltoall, alltoallv | largest c (P - c) m | (P-1) m |
///
/// - bcast: every host without the root must get the vector, and so must every rank but the root.
/// - reduce: a reversed bcast. Every host, and every rank, must give a part of the sum that is as long as the vector.
/// - scatter: the root's host must give the blocks of all others, and the root gives all blocks but its own. Gather is the reverse.
/// - allgather: a host must get the blocks of all ranks elsewhere. The smallest host lacks the most. A rank must get all blocks but
///   its own. Reduce_scatter is the reverse.
/// - allreduce: to combine H parts into one takes H-1 messages of m bytes from host to host, and to tell the others takes H-1
///   more. One of H links carries at least an H-th of them each way (Patarasuk and Yuan, 2009). The same holds with ranks in
///   the place of hosts.
///
/// - alltoall: each rank of a host has a block for each rank elsewhere, and a block for each rank but itself.
///
/// If all ranks share one host, no link carries anything. One rank alone moves nothing.
/// @param bytes  of a block (operations with blocks per rank or per pair of ranks) or of the vector, m >= 0
/// @throws std::invalid_argument  a negative size, or no such root
/// @throws std::overflow_error    the bytes do not fit into 63 bits
[[nodiscard]] LeastTraffic least_traffic(Operation operation, const Hosts& hosts, Rank root,
                                         std::int64_t bytes);

/// What messages cost at least, in a unit of the caller's choice, which is that of the bound. None is negative.
struct HostCosts {
  /// For so long a message between hosts occupies their ports beside its bytes. 0 if other messages pass meanwhile.
  std::int64_t alpha = 0;
  std::int64_t beta = 0;          ///< per byte between hosts
  std::int64_t inside_alpha = 0;  ///< the same inside a host
  std::int64_t inside_beta = 0;
  int card_ports = 1;  ///< Machine::card_ports
};

/// The least time to hand a vector on to all of `places`, or to add up one of each, by messages that take alpha + beta x their bytes. A
/// place sends one message at a time and receives one at a time. Messages may hold any bytes of the vector. With q = ceil(log2 places)
/// and m bytes: alpha + m beta for two places; for more
///
///     m beta + (q-1) alpha + the least over k = 1, 2, ... of (m beta / k + (k+1) alpha / 2)
///
/// Cutting a vector finely costs alphas, cutting it coarsely keeps the others waiting. docs/explanation/cost-model-and-bounds.md has the proof.
/// @throws std::overflow_error  more than 63 bits
[[nodiscard]] std::int64_t bound_in_rounds(int places, std::int64_t bytes, std::int64_t alpha,
                                           std::int64_t beta);

/// The least run time of a collective on hosts: the largest of
/// - link_bytes x beta / card_ports: what must cross some host's link, which moves so many messages at a time each way,
/// - rank_bytes x the lesser of beta and inside_beta: what must be copied inside some host, because each byte passes the rank's
///   port either from its own host or from another one. If every rank is alone on its host, that is beta.
/// - of a vector: bound_in_rounds of the hosts, if their cards have one port each way; and of the ranks, with the lesser costs. In an
///   allreduce each byte takes 2 (H-1) messages, so that some card is taken 2 (H-1)/H times as long as one message with the vector takes.
/// Latency and combining are left out. Ranks that arrive apart can only take longer than ranks that arrive together.
/// @throws as least_traffic; std::invalid_argument  a negative cost, no port
[[nodiscard]] std::int64_t bound_on_hosts(Operation operation, const Hosts& hosts, Rank root,
                                          std::int64_t bytes, const HostCosts& costs);

}  // namespace papfft::comm
