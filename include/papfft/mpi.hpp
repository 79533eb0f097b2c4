// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <memory>
#include <string_view>

#include "papfft/collectives.hpp"

namespace papfft::comm {

class MpiTransport;

namespace detail {
/// Base from member: the transport must exist before Collectives and outlive it.
struct OwnedTransport {
  explicit OwnedTransport(MPI_Comm comm);
  ~OwnedTransport();
  OwnedTransport(OwnedTransport&&) noexcept;
  OwnedTransport& operator=(OwnedTransport&&) = delete;
  std::unique_ptr<MpiTransport> transport;
};
}  // namespace detail

/// The collectives over MPI, on a private duplicate of a communicator.
///
///     papfft::comm::Communicator comm(MPI_COMM_WORLD);
///     comm.scatter<double>(whole, mine, /*root=*/0);
///     comm.scatter(sendbuf, 10, MPI_DOUBLE, recvbuf, 10, MPI_DOUBLE, 0);
///
/// The calls with MPI's own arguments mean what MPI's mean: MPI_IN_PLACE, derived datatypes, and different datatypes
/// of one signature on different ranks. What is not contiguous is packed. Destroy it before MPI_Finalize.
class Communicator : private detail::OwnedTransport, public Collectives {
 public:
  /// Collective over `comm`. @throws TransportError; std::invalid_argument for an intercommunicator.
  explicit Communicator(MPI_Comm comm, const Options& options = Options::from_environment());

  using Collectives::bcast;
  using Collectives::gather;
  using Collectives::reduce;
  using Collectives::scatter;

  void scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, std::string_view algorithm = "auto");
  void gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
              MPI_Datatype recvtype, int root, std::string_view algorithm = "auto");
  void bcast(void* buffer, int count, MPI_Datatype type, int root, std::string_view algorithm = "auto");
  void reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
              std::string_view algorithm = "auto");
};

}  // namespace papfft::comm
