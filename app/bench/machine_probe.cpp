// SPDX-License-Identifier: MIT
#include "app/bench/machine_probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <span>
#include <type_traits>
#include <utility>

#include "comm/choose/link_limits.hpp"
#include "comm/engine/call_engine.hpp"
#include "comm/mpi/decisions_file.hpp"
#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

namespace {

using comm::check_mpi;
using Clock = std::chrono::steady_clock;

constexpr int kDataTag = 1;
constexpr int kWordTag = 2;
constexpr int kRepetitions = 3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Two ranks that exchange messages of MPI's own, one of which measures.
class MessagePair {
 public:
  /// @param measures  this rank; the other one follows
  MessagePair(MPI_Comm comm, int peer, bool measures)
      : comm_(comm), peer_(peer), measures_(measures), out_(kMostBytes), in_(kMostBytes) {}

  /// The longest message that is sent before its receiver asks for it, up to kMostBytes, to some bytes. On the other rank anything.
  std::size_t eager_bytes() {
    if (!measures_) {
      while (follow_eager()) continue;
      return 0;
    }
    std::size_t low = 0;
    std::size_t high = 256;
    while (high <= kMostBytes && leaves_alone(high)) low = std::exchange(high, 2 * high);
    while (high <= kMostBytes && high - low > kEagerStep) {
      const std::size_t middle = low + (high - low) / 2;
      (leaves_alone(middle) ? low : high) = middle;
    }
    tell(kEnd);
    return low;
  }

  /// Whether messages both ways at once take about as long as messages one way. On the other rank anything.
  bool is_duplex() {
    double one_way_s = 1e300;
    double both_ways_s = 1e300;
    for (int i = 0; i < kRepetitions; ++i) {
      one_way_s = std::min(one_way_s, exchange(measures_, !measures_));
      both_ways_s = std::min(both_ways_s, exchange(true, true));
    }
    return both_ways_s < 1.5 * one_way_s;
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 21U;
  static constexpr std::size_t kEagerStep = 64;
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  static constexpr double kPatienceS = 0.01;
  static constexpr int kLongMessages = 4;
  static constexpr std::size_t kLongBytes = std::size_t{1} << 18U;

  /// A message of so many bytes is sent although nobody has asked for it.
  bool leaves_alone(std::size_t bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(out_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, kDataTag, comm_, &request),
              "MPI_Isend");
    int has_left = 0;
    for (const auto start = Clock::now(); has_left == 0 && seconds_since(start) < kPatienceS;)
      check_mpi(MPI_Test(&request, &has_left, MPI_STATUS_IGNORE), "MPI_Test");
    tell(bytes);
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    return has_left != 0;
  }

  void tell(std::uint64_t word) const {
    check_mpi(MPI_Send(&word, 1, MPI_UINT64_T, peer_, kWordTag, comm_), "MPI_Send");
  }

  bool follow_eager() {
    std::uint64_t bytes = 0;
    check_mpi(MPI_Recv(&bytes, 1, MPI_UINT64_T, peer_, kWordTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    if (bytes == kEnd) return false;
    check_mpi(
        MPI_Recv(in_.data(), static_cast<int>(bytes), MPI_BYTE, peer_, kDataTag, comm_, MPI_STATUS_IGNORE),
        "MPI_Recv");
    return true;
  }

  double exchange(bool sends, bool receives) {
    const auto start = Clock::now();
    const int to = sends ? peer_ : MPI_PROC_NULL;
    const int from = receives ? peer_ : MPI_PROC_NULL;
    const auto bytes = static_cast<int>(kLongBytes);
    for (int i = 0; i < kLongMessages; ++i) {
      check_mpi(MPI_Sendrecv(out_.data(), bytes, MPI_BYTE, to, kDataTag, in_.data(), bytes, MPI_BYTE, from,
                             kDataTag, comm_, MPI_STATUS_IGNORE),
                "MPI_Sendrecv");
    }
    // The word that all has come.
    check_mpi(MPI_Sendrecv(nullptr, 0, MPI_BYTE, peer_, kWordTag, nullptr, 0, MPI_BYTE, peer_, kWordTag,
                           comm_, MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
    return seconds_since(start);
  }

  MPI_Comm comm_;
  int peer_;
  bool measures_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
};

/// What both ranks of a pair get to know, sent to all as bytes.
struct Found {
  std::uint64_t eager_bytes = 0;
  std::uint64_t is_duplex = 0;
};

comm::LevelProfile measure_level(comm::Communicator& by, const OwnComm& world, int sender, int receiver) {
  comm::LinkProbe probe{
      .sender = sender, .receiver = receiver, .long_bytes = comm::kLinkLimits.longest_segment_bytes()};
  comm::LevelProfile level{.link = by.measure_link(probe)};
  // A message that waits for the answer to the one before goes two latencies later.
  probe.in_flight = 1;
  level.link.latency_ns = std::max(0.0, (by.measure_link(probe).alpha_ns - level.link.alpha_ns) / 2);
  Found found;
  if (world.rank() == sender || world.rank() == receiver) {
    const bool measures = world.rank() == sender;
    MessagePair pair(world.get(), measures ? receiver : sender, measures);
    found.eager_bytes = pair.eager_bytes();
    found.is_duplex = pair.is_duplex() ? 1 : 0;
  }
  static_assert(std::has_unique_object_representations_v<Found>);
  world.quiet_barrier();
  check_mpi(MPI_Bcast(&found, sizeof(found), MPI_BYTE, sender, world.get()), "MPI_Bcast");
  level.eager_bytes = found.eager_bytes;
  level.is_duplex = found.is_duplex != 0;
  return level;
}

}  // namespace

comm::MachineProfile measure_machine(comm::Communicator& by, const OwnComm& world) {
  const comm::Transport& transport = by.engine().transport();
  const comm::Hosts hosts(transport.size(), transport.host_of_rank());
  comm::MachineProfile machine{.hosts_named = comm::host_name_pattern()};
  machine.cores_per_rank = static_cast<double>(transport.cores_on_host()) / transport.ranks_on_host();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &machine.cores_per_rank, 1, MPI_DOUBLE, MPI_MIN, world.get()),
            "MPI_Allreduce");
  for (int host = 0; host < hosts.count() && !machine.inside; ++host) {
    const std::vector<comm::Rank>& here = hosts.members(host);
    if (here.size() > 1) machine.inside = measure_level(by, world, here[0], here[1]);
  }
  if (hosts.count() > 1) machine.between = measure_level(by, world, hosts.members(0)[0], hosts.members(1)[0]);
  return machine;
}

}  // namespace papfft::app
