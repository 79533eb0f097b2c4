// SPDX-License-Identifier: MIT
// Calls with MPI's arguments that go on after they have returned: persistent ones and started ones. Nothing is copied, so the
// buffers must be without gaps.
#include <memory>
#include <stdexcept>

#include "comm/mpi/mpi_buffer.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {

namespace {

/// A buffer whose memory is its packed bytes. @throws std::invalid_argument  a negative count, or a datatype with gaps
template <typename Byte, typename Void>
std::span<Byte> dense_bytes(Void* buffer, int count, MPI_Datatype type, std::size_t times = 1) {
  if (count < 0) throw std::invalid_argument("papfft: a negative count");
  if (!is_dense(type)) {
    throw std::invalid_argument(
        "papfft: a persistent or started call takes datatypes without gaps, since nothing shall be copied");
  }
  return {static_cast<Byte*>(buffer), static_cast<std::size_t>(count) * times * packed_bytes(type)};
}

/// MPI_IN_PLACE is for the root alone.
void refuse_in_place(const void* buffer) {
  if (buffer == MPI_IN_PLACE) throw std::invalid_argument("papfft: MPI_IN_PLACE is for the root alone");
}

template <typename Byte>
std::span<Byte> own_block(const Collectives& comm, std::span<Byte> whole) {
  const std::size_t block = whole.size() / static_cast<std::size_t>(comm.size());
  return whole.subspan(static_cast<std::size_t>(comm.rank()) * block, block);
}

/// MPI's arguments as bytes: make(send, recv).
template <typename Make>
auto scatter_by(const Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, const Make& make) {
  if (comm.rank() != root) {
    refuse_in_place(recvbuf);
    return make(std::span<const std::byte>(), dense_bytes<std::byte>(recvbuf, recvcount, recvtype));
  }
  const auto whole =
      dense_bytes<const std::byte>(sendbuf, sendcount, sendtype, static_cast<std::size_t>(comm.size()));
  if (recvbuf != MPI_IN_PLACE) return make(whole, dense_bytes<std::byte>(recvbuf, recvcount, recvtype));
  // The root's block stays where it is: it is copied onto itself, that is, not at all.
  const auto own = own_block(comm, whole);
  return make(whole, std::span(const_cast<std::byte*>(own.data()), own.size()));
}

template <typename Make>
auto gather_by(const Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
               void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, const Make& make) {
  const auto mine = [&] { return dense_bytes<const std::byte>(sendbuf, sendcount, sendtype); };
  if (comm.rank() != root) {
    refuse_in_place(sendbuf);
    return make(mine(), std::span<std::byte>());
  }
  const auto whole =
      dense_bytes<std::byte>(recvbuf, recvcount, recvtype, static_cast<std::size_t>(comm.size()));
  if (sendbuf != MPI_IN_PLACE) return make(mine(), whole);
  return make(std::span<const std::byte>(own_block(comm, whole)), whole);
}

}  // namespace

PersistentCall detail::mpi_scatter_init(Session& session, const void* sendbuf, int sendcount,
                                        MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                        MPI_Datatype recvtype, int root, std::string_view algorithm) {
  return scatter_by(session, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                    [&](std::span<const std::byte> send, std::span<std::byte> recv) {
                      return session.scatter_init<std::byte>(send, recv, root, algorithm);
                    });
}

PersistentCall detail::mpi_gather_init(Session& session, const void* sendbuf, int sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                       MPI_Datatype recvtype, int root, std::string_view algorithm) {
  return gather_by(session, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                   [&](std::span<const std::byte> send, std::span<std::byte> recv) {
                     return session.gather_init<std::byte>(send, recv, root, algorithm);
                   });
}

Pending detail::mpi_iscatter(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                             std::string_view algorithm) {
  return scatter_by(comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                    [&](std::span<const std::byte> send, std::span<std::byte> recv) {
                      return comm.iscatter<std::byte>(send, recv, root, algorithm);
                    });
}

Pending detail::mpi_igather(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            std::string_view algorithm) {
  return gather_by(comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                   [&](std::span<const std::byte> send, std::span<std::byte> recv) {
                     return comm.igather<std::byte>(send, recv, root, algorithm);
                   });
}

Pending detail::mpi_ibcast(Collectives& comm, void* buffer, int count, MPI_Datatype type, int root,
                           std::string_view algorithm) {
  return comm.ibcast<std::byte>(dense_bytes<std::byte>(buffer, count, type), root, algorithm);
}

Pending detail::mpi_ireduce(Collectives& comm, const void* sendbuf, void* recvbuf, int count,
                            MPI_Datatype type, MPI_Op op, int root, std::string_view algorithm) {
  const bool is_root = comm.rank() == root;
  if (!is_root) refuse_in_place(sendbuf);
  const void* const input = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const auto send = dense_bytes<const std::byte>(input, count, type);
  const auto reducer = std::make_shared<const MpiReducer>(op, type);
  return comm.start({.operation = Operation::reduce,
                     .bytes = send.size(),
                     .element_bytes = reducer->element_bytes(),
                     .root = root,
                     .algorithm = algorithm,
                     .send = send,
                     .recv = is_root ? dense_bytes<std::byte>(recvbuf, count, type) : std::span<std::byte>(),
                     .reducer = reducer.get()},
                    reducer);
}

}  // namespace papfft::comm
