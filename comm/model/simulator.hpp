// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "comm/progress/progress.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Virtual time in a unit of the caller's choice, the same everywhere (ns; ps where a byte takes less than 1 ns).
using Ticks = std::int64_t;

/// When a rank combines what it has received.
enum class Combining : std::uint8_t {
  /// As the executor: a message lands aside, so it need not wait for what it is combined with; a rank combines one
  /// op at a time while its ports go on.
  overlapped,
  /// A rank that combines neither sends nor receives; the sender is free as soon as the message has arrived
  /// (GRD Sect. II and its greedy algorithms).
  exclusive,
  /// Combining belongs to the message: both ends are busy for alpha + (beta + gamma) m (rounds; GRD Tables I, III).
  in_message
};

/// What a rank may do before it arrives.
enum class Early : std::uint8_t {
  nothing,       ///< all its ops wait
  background,    ///< ops that do not need its arrival (background.hpp) run
  paper_figures  ///< the same, but it receives no empty message: exactly the split of SG Figs 6, 8, 10 and 12
};

/// What a message inside a host costs, in the same terms as Machine.
struct InsideLink {
  Ticks alpha = 0;
  Ticks beta = 0;
  Ticks gamma = 0;
  Ticks latency = 0;
  std::int64_t eager_bytes = -1;
};

/// The Hockney model with one port each way per rank: a message of m bytes takes alpha + beta m, and combining it
/// gamma m. All values >= 0.
///
/// Where several ranks share a host, they share its network card, which has one more port each way, or some: a message between hosts
/// occupies the sender's port, one of its host's, one of the receiver's host's and the receiver's. A message inside a host occupies the
/// ports of its two ranks alone.
struct Machine {
  Ticks alpha = 0;  ///< per message
  Ticks beta = 0;   ///< per byte moved
  Ticks gamma = 0;  ///< per byte combined
  /// A rank, and so a host, sends one message and receives one at the same time; else it takes part in one at a time.
  bool duplex = true;
  bool empty_is_free = false;  ///< messages without data take no time, instead of alpha
  Combining combining = Combining::overlapped;
  /// The host of each rank, by any number; must outlive the run. Empty: each rank has a host of its own.
  std::span<const int> host_of_rank = {};
  InsideLink inside = {};  ///< of messages between two ranks of one host
  /// How many messages a host's card moves at a time each way, each at the full rate of a rank's port: how many ranks it takes to
  /// fill the host's link.
  int card_ports = 1;
  /// The receiver has a message so much later than it has left the ports. The sender does not wait for that. Other messages use the
  /// ports meanwhile. Only with Combining::overlapped.
  Ticks latency = 0;
  /// A message up to this size moves before its receiver has posted the receive, and waits there. -1: none does. Only with
  /// Combining::overlapped.
  std::int64_t eager_bytes = -1;
};

/// How the ranks run their programs.
struct Conduct {
  Window window = {};
  Early early = Early::nothing;
  /// When background work may begin, for all ranks. Absent: with the first arrival.
  std::optional<Ticks> early_from = std::nullopt;
  /// Of all ranks; must outlive the run.
  ProgressObserver* observer = nullptr;
  /// A run that takes longer is given up (Simulation::is_given_up).
  Ticks most_run_time = std::numeric_limits<Ticks>::max();
};

struct OpTimes {
  Ticks posted = -1;  ///< the rank was ready for it; start - posted is spent waiting for the peer or a port
  Ticks start = -1;   ///< the message began to move, or the local op to run
  Ticks end = -1;     ///< of a receive that combines: the end of the combining
};

/// What happened in virtual time.
struct Simulation {
  std::vector<OpTimes> ops;        ///< of all ranks, in program order
  std::vector<std::size_t> first;  ///< rank r's ops are [first[r], first[r+1])
  std::vector<Ticks> exit;         ///< per rank: arrived, and all its ops ended
  Ticks run_time = 0;              ///< max exit - min arrival (SG Eq 1)
  /// It takes longer than Conduct::most_run_time: run_time, or more. Nothing else is known of it.
  bool is_given_up = false;
  Ticks elapsed_sum = 0;  ///< sum of exit - arrival over the ranks: P times SG Eq 2
  /// The chain that ended last, backwards in time; each op began when the next one in the list ended,
  /// or, if that is a message, a latency later. A message
  /// appears as its send, and once more as its receive if that combines.
  std::vector<OpRef> critical_path;
  /// The rank whose arrival the chain began with; -1: it began with the background.
  Rank critical_arrival = 0;

  [[nodiscard]] const OpTimes& at(Rank rank, int op) const {
    return ops[first[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(op)];
  }
  [[nodiscard]] double elapsed_mean() const {
    return static_cast<double>(elapsed_sum) / static_cast<double>(exit.size());
  }
};

/// Runs a schedule in virtual time. Deterministic: integers only, and ties are broken alike every time.
///
/// A rank posts an op as soon as it may start (progress.hpp). A message moves as a rendezvous unless the machine says otherwise: it
/// starts once both ends are posted and both ports are free. Of several that could start at one instant, the one nearer to the beginning of its programs goes first.
/// A message whose slots are all empty takes no time: it is never sent.
///
/// Cost: O(n log n) for n ops and their dependencies; no term in P^2.
///
/// @param slot_bytes  size of each slot, shape.slots() of them.
/// @param arrivals    when each rank calls the operation.
/// @throws std::invalid_argument  if the arguments do not fit the schedule or the machine's hosts, a value is negative, or sends
///         and receives do not meet.
/// @throws std::runtime_error     if the schedule deadlocks in this window, naming an op that waits.
/// @throws std::overflow_error    if a time does not fit into 64 bits.
[[nodiscard]] Simulation simulate(const Schedule& schedule, std::span<const std::int64_t> slot_bytes,
                                  std::span<const Ticks> arrivals, const Machine& machine,
                                  const Conduct& conduct = {});

/// The program of a rank. It is asked for one rank after another, and what it returns is looked at until the next is asked for;
/// then, should the schedule deadlock, for one rank again.
using ProgramSource = std::function<const Program&(Rank)>;

/// The same without all programs in memory at a time, for large groups. @param shape  of the schedule
[[nodiscard]] Simulation simulate(const Shape& shape, const ProgramSource& programs,
                                  std::span<const std::int64_t> slot_bytes, std::span<const Ticks> arrivals,
                                  const Machine& machine, const Conduct& conduct = {});

/// Which ops of a rank wait for its arrival, beside all of them if nothing is early (then the rank begins when it arrives).
[[nodiscard]] std::vector<bool> held_back(const Shape& shape, Rank rank, const Program& program, Early early);

/// Slot sizes from block sizes. @param block_bytes  one per logical block (Shape::block_of), or one for all.
/// All ranks' slots have the same sizes here, so blocks of pairs of ranks have one.
/// @throws std::invalid_argument  if there are neither one nor shape.blocks() of them.
[[nodiscard]] std::vector<std::int64_t> slot_sizes(const Shape& shape,
                                                   std::span<const std::int64_t> block_bytes);

}  // namespace papfft::comm
