// SPDX-License-Identifier: MIT
// Stock MPI in ways that know hosts: peers for benchmarks where hosts have several ranks.
#pragma once
#include <mpi.h>

#include <exception>
#include <memory>

#include "comm/schedule/core/hosts.hpp"
#include "papfft/collectives.hpp"

namespace papfft::app {

class StockPeer {
 public:
  StockPeer() = default;
  virtual ~StockPeer() = default;
  StockPeer(const StockPeer&) = delete;
  StockPeer& operator=(const StockPeer&) = delete;

  /// Collective. @param arguments  as Collectives::prepared() makes them; a reduction's reducer is one of MPI's operations
  /// @throws comm::TransportError; std::invalid_argument  more data than MPI's own calls can count
  virtual void call(const comm::CallArguments& arguments) = 0;
};

/// A communicator that this object frees.
class StockComm {
 public:
  /// @param comm  whose errors are returned from now on
  explicit StockComm(MPI_Comm comm) : comm_(comm) { MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN); }
  ~StockComm() {
    if (std::uncaught_exceptions() == 0)
      MPI_Comm_free(&comm_);  // collective: after a failure it might wait for ever
  }
  StockComm(const StockComm&) = delete;
  StockComm& operator=(const StockComm&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_;
};

/// Open MPI's coll/han: one algorithm inside each host, another one among hosts, in a pipeline of segments. Its priority cannot
/// be changed while a program runs. But a communicator may be made with a list of the components that it prefers.
/// @throws std::invalid_argument  coll/han would not serve this operation on these hosts: says why. Not collective
void require_han(comm::Operation operation, const comm::Hosts& hosts);
/// Collective over `comm`. @throws comm::TransportError
[[nodiscard]] std::unique_ptr<StockPeer> make_han(MPI_Comm comm);

/// The full-lane mock-ups of Träff and Hunold (CLUSTER 2020), made of stock MPI's calls. Lane l is the l-th rank of each host. A
/// broadcast, for example, is a scatter inside the root's host, a broadcast on each lane of that lane's share, and an allgather
/// inside each host. So each rank of a host moves its share over the host's link. With one rank per host, or on one host,
/// it is stock MPI's own call.
/// @throws std::invalid_argument  hosts have different numbers of ranks, or no mock-up gives the operation's result. Not collective
void require_lanes(comm::Operation operation, const comm::Hosts& hosts);
/// Collective over `comm`. @param hosts  of its ranks; see require_lanes. @throws std::invalid_argument, if they differ in size; comm::TransportError
[[nodiscard]] std::unique_ptr<StockPeer> make_lanes(MPI_Comm comm, const comm::Hosts& hosts);

}  // namespace papfft::app
