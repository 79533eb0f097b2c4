// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "papfft/operation.hpp"

namespace papfft::comm {

using Rank = int;  ///< Rank in the communicator, 0 .. P-1.

/// Half-open range [first, last) of slots; a slot is the unit of data that a schedule moves.
struct BlockRange {
  int first = 0;
  int last = 0;
  [[nodiscard]] int count() const { return last - first; }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

enum class OpKind : std::uint8_t {
  send,          ///< slots `blocks` to `peer`; an empty range is a zero-byte message (synchronisation)
  recv,          ///< from `peer` into slots `blocks`, replacing what they held
  recv_combine,  ///< from `peer`, combined with what slots `blocks` hold
  copy,          ///< local: slots from, from+1, ... into slots `blocks`
  combine        ///< local: slots from, from+1, ... combined into slots `blocks`
};

[[nodiscard]] std::string_view to_string(OpKind kind);
[[nodiscard]] inline bool is_receive(OpKind k) { return k == OpKind::recv || k == OpKind::recv_combine; }
[[nodiscard]] inline bool is_local(OpKind k) { return k == OpKind::copy || k == OpKind::combine; }
[[nodiscard]] inline bool combines(OpKind k) { return k == OpKind::recv_combine || k == OpKind::combine; }

/// Credits bound how many ops of one kind a rank has under way, where their order is known only at run time: the order in which
/// ranks really arrive. Any op may be marked. An op marked `take` needs one of the rank's credits to start. The credit comes back
/// when the matching op marked `give` ends: the n-th give with a peer matches the n-th take with this peer. Where several takes
/// could start, those of the peer go first whose first take could start first.
///
/// Example: a root grants leaves the right to send. The grant takes a credit, the receive of what it granted gives it back. So no more
/// than `credits` answers are under way at a time, from whoever came first.
enum class Credit : std::uint8_t { none, take, give };

/// One step of one rank. The k-th send from a to b in a's program meets the k-th receive from a in b's.
struct Op {
  OpKind kind = OpKind::send;
  /// Operand order of a combining op: false = held (+) incoming, true = incoming (+) held.
  bool incoming_first = false;
  Credit credit = Credit::none;
  /// An empty send that tells its peer that this rank has arrived. So the send needs the arrival although it may read nothing of the
  /// caller's. Whoever gives credits to the ranks that come first needs this message from each of them.
  bool announces = false;
  /// The peer shares this rank's host: the message crosses no link, and has a window of its own.
  bool inside = false;
  Rank peer = -1;          ///< -1 for local ops
  BlockRange blocks = {};  ///< slots of this rank
  BlockRange about = {};   ///< of an empty message: the slots that it is for; see Shape::names_what_it_grants
  int from = -1;           ///< local ops: the first source slot
  int round = 0;           ///< for printing and the port check; the executor ignores it
  friend bool operator==(const Op&, const Op&) = default;
};

/// Whether an op adds its message to what its slots hold whenever the message comes. Such ops on the same slots need no order among
/// themselves: a rank combines one message at a time. Where the slots hold nothing yet, the first message to come is what they hold.
/// Only credits leave the order of messages open, so only their answers do this.
[[nodiscard]] inline bool joins_as_it_comes(const Op& op) {
  return op.kind == OpKind::recv_combine && op.credit == Credit::give;
}

/// An op of a schedule.
struct OpRef {
  Rank rank = 0;
  int op = 0;
  friend bool operator==(const OpRef&, const OpRef&) = default;
};

/// What one rank does: ops in priority order, each with the earlier ops that must have ended before it starts.
class Program {
 public:
  /// Appends an op. `after` holds indices of earlier ops, ascending. @return the op's index.
  int append(const Op& op, std::span<const int> after);
  [[nodiscard]] int size() const { return static_cast<int>(ops_.size()); }
  [[nodiscard]] const Op& operator[](int i) const { return ops_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<const Op> ops() const { return ops_; }
  [[nodiscard]] std::span<const int> after(int i) const;
  friend bool operator==(const Program&, const Program&) = default;

 private:
  std::vector<Op> ops_;
  std::vector<int> edges_;
  std::vector<int> edge_end_;  // edges of op i: [edge_end_[i-1], edge_end_[i])
};

/// All that a schedule says beside its programs: what it is for and how slots map to data.
struct Shape {
  Operation operation = Operation::scatter;
  int ranks = 1;
  Rank root = 0;  ///< of rooted operations, else 0
  /// Blocks per rank (scatter, gather, allgather, reduce_scatter), per pair of ranks (alltoall) or in the vector (bcast, reduce,
  /// allreduce).
  int segments = 1;
  /// Where data is per rank: slots v*segments .. are those of rank holder[v]. Empty: holder[v] = v.
  /// Where it is per pair of ranks, each rank has slots of its own: v*segments .. are what it has for rank holder[v], and
  /// (P+v)*segments .. what it gets from rank holder[v]. So a rank's slots grow with P, not with P^2.
  std::vector<Rank> holder = {};
  /// Private slots blocks() .. blocks()+scratch.size()-1: scratch[i] is the slot whose size scratch slot i has. Where data is per
  /// pair of ranks, a scratch slot may hold the same segment of any pair's block, on its way through this rank.
  std::vector<int> scratch = {};
  /// The schedule keeps to one send and one receive per rank and round, but for those inside a host, and sender and receiver
  /// agree on the round.
  bool single_port = false;
  /// See Credit: how many each rank has; 0 if nothing is marked. Any number from 1 must do, so the executor may adapt it.
  int credits = 0;
  /// With credits: every announcement and every take, and the receive of it, is an empty message that says what it is for
  /// (Op::about). So nothing is said about slots that are empty, which both ends know.
  bool names_what_it_grants = false;
  /// Contributions are combined in rank order 0, 1, ..., so that the operation need not be commutative.
  bool ordered = false;

  [[nodiscard]] bool per_rank() const { return moves_per_rank(operation); }
  [[nodiscard]] bool per_pair() const { return traits(operation).is_per_pair(); }
  /// Stretches of `segments` slots: one per rank; two per rank, if data is per pair; or one for the vector.
  [[nodiscard]] int parts() const { return per_pair() ? 2 * ranks : per_rank() ? ranks : 1; }
  /// Slots that are not scratch.
  [[nodiscard]] int blocks() const { return parts() * segments; }
  [[nodiscard]] int slots() const { return blocks() + static_cast<int>(scratch.size()); }
  /// Logical block in a slot of `rank`: rank r's s-th segment is r*segments + s; that of what a has for b is
  /// (a*P + b)*segments + s; the vector's s-th is s. kAnyBlock: of a scratch slot through which blocks pass.
  [[nodiscard]] int block_of(Rank rank, int slot) const;
  static constexpr int kAnyBlock = -1;
  /// Which segment of its block a slot holds, 0 .. segments-1.
  [[nodiscard]] int segment_of(int slot) const {
    return (slot < blocks() ? slot : scratch[static_cast<std::size_t>(slot - blocks())]) % segments;
  }
  [[nodiscard]] Rank holder_of(int position) const {
    return holder.empty() ? position : holder[static_cast<std::size_t>(position)];
  }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// A collective on P ranks as data: no buffers, no communicator, no clock.
struct Schedule {
  Shape shape = {};
  std::vector<Program> programs = {};  ///< one per rank
};

/// One rank's part of a schedule: what the executor runs.
struct RankSchedule {
  Shape shape = {};
  Rank rank = 0;
  Program program;
};

}  // namespace papfft::comm
