// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "comm/exec/mpi_buffer.hpp"
#include "comm/transport/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {

namespace {

std::size_t whole_count(int count, const char* call) {
  if (count < 0) throw std::invalid_argument(std::string(call) + ": a negative count");
  return static_cast<std::size_t>(count);
}

bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

/// A buffer whose memory is its packed bytes. @throws std::invalid_argument  the datatype has gaps
template <typename Byte, typename Void>
std::span<Byte> dense_bytes(Void* buffer, std::size_t count, MPI_Datatype type) {
  if (!is_dense(type)) {
    throw std::invalid_argument(
        "a persistent call takes datatypes without gaps, since nothing shall be copied");
  }
  return {static_cast<Byte*>(buffer), count * packed_bytes(type)};
}

}  // namespace

detail::OwnedTransport::OwnedTransport(MPI_Comm comm) : transport(std::make_unique<MpiTransport>(comm)) {}
detail::OwnedTransport::~OwnedTransport() = default;
detail::OwnedTransport::OwnedTransport(OwnedTransport&&) noexcept = default;

Transport& detail::as_transport(MpiTransport& transport) { return transport; }
MPI_Comm detail::native(const MpiTransport& transport) { return transport.native(); }

void detail::mpi_scatter(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                         std::string_view algorithm) {
  if (comm.rank() != root) {
    PackedBuffer recv(recvbuf, whole_count(recvcount, "scatter"), recvtype, false);
    comm.scatter_bytes({}, recv.bytes(), 1, root, algorithm);
    recv.unpack();
    return;
  }
  const std::size_t count = whole_count(sendcount, "scatter");
  PackedBuffer send(sendbuf, count * static_cast<std::size_t>(comm.size()), sendtype, true);
  if (in_place(recvbuf)) {  // the root's block stays where it is
    const std::size_t block = count * packed_bytes(sendtype);
    comm.scatter_bytes(send.bytes(), send.bytes().subspan(static_cast<std::size_t>(root) * block, block), 1,
                       root, algorithm);
    return;
  }
  PackedBuffer recv(recvbuf, whole_count(recvcount, "scatter"), recvtype, false);
  comm.scatter_bytes(send.bytes(), recv.bytes(), 1, root, algorithm);
  recv.unpack();
}

void detail::mpi_gather(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                        void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                        std::string_view algorithm) {
  if (comm.rank() != root) {
    PackedBuffer send(sendbuf, whole_count(sendcount, "gather"), sendtype, true);
    comm.gather_bytes(send.bytes(), {}, 1, root, algorithm);
    return;
  }
  const std::size_t count = whole_count(recvcount, "gather");
  PackedBuffer recv(recvbuf, count * static_cast<std::size_t>(comm.size()), recvtype, in_place(sendbuf));
  if (in_place(sendbuf)) {
    const std::size_t block = count * packed_bytes(recvtype);
    comm.gather_bytes(recv.bytes().subspan(static_cast<std::size_t>(root) * block, block), recv.bytes(), 1,
                      root, algorithm);
  } else {
    PackedBuffer send(sendbuf, whole_count(sendcount, "gather"), sendtype, true);
    comm.gather_bytes(send.bytes(), recv.bytes(), 1, root, algorithm);
  }
  recv.unpack();
}

PersistentCall detail::mpi_scatter_init(Session& session, const void* sendbuf, int sendcount,
                                        MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                        MPI_Datatype recvtype, int root, std::string_view algorithm) {
  const auto init = [&](std::span<const std::byte> send, std::span<std::byte> recv) {
    return session.scatter_init<std::byte>(send, recv, root, algorithm);
  };
  const auto mine = [&] {
    return dense_bytes<std::byte>(recvbuf, whole_count(recvcount, "scatter"), recvtype);
  };
  if (session.rank() != root) return init({}, mine());
  const std::size_t count = whole_count(sendcount, "scatter");
  const auto ranks = static_cast<std::size_t>(session.size());
  const auto whole = dense_bytes<const std::byte>(sendbuf, count * ranks, sendtype);
  if (!in_place(recvbuf)) return init(whole, mine());
  // The root's block stays where it is: it is copied onto itself, that is, not at all.
  const std::size_t block = whole.size() / ranks;
  auto* own = const_cast<std::byte*>(whole.data()) + static_cast<std::size_t>(root) * block;
  return init(whole, {own, block});
}

PersistentCall detail::mpi_gather_init(Session& session, const void* sendbuf, int sendcount,
                                       MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                       MPI_Datatype recvtype, int root, std::string_view algorithm) {
  const auto init = [&](std::span<const std::byte> send, std::span<std::byte> recv) {
    return session.gather_init<std::byte>(send, recv, root, algorithm);
  };
  const auto mine = [&] {
    return dense_bytes<const std::byte>(sendbuf, whole_count(sendcount, "gather"), sendtype);
  };
  if (session.rank() != root) return init(mine(), {});
  const std::size_t count = whole_count(recvcount, "gather");
  const auto ranks = static_cast<std::size_t>(session.size());
  const auto whole = dense_bytes<std::byte>(recvbuf, count * ranks, recvtype);
  if (!in_place(sendbuf)) return init(mine(), whole);
  const std::size_t block = whole.size() / ranks;
  return init(whole.subspan(static_cast<std::size_t>(root) * block, block), whole);
}

void detail::mpi_bcast(Collectives& comm, void* buffer, int count, MPI_Datatype type, int root,
                       std::string_view algorithm) {
  PackedBuffer data(buffer, whole_count(count, "bcast"), type, comm.rank() == root);
  comm.bcast_bytes(data.bytes(), 1, root, algorithm);
  if (comm.rank() != root) data.unpack();
}

void detail::mpi_reduce(Collectives& comm, const void* sendbuf, void* recvbuf, int count, MPI_Datatype type,
                        MPI_Op op, int root, std::string_view algorithm) {
  const std::size_t n = packed_bytes(type) == 0 ? 0 : whole_count(count, "reduce");
  const MpiReducer reducer(op, type);
  if (in_place(sendbuf) && comm.rank() != root) {
    throw std::invalid_argument("reduce: MPI_IN_PLACE is for the root alone");
  }
  const void* input = in_place(sendbuf) ? recvbuf : sendbuf;
  const std::size_t bytes = n * reducer.element_bytes();
  if (is_dense(type)) {
    comm.reduce_bytes({static_cast<const std::byte*>(input), bytes},
                      {static_cast<std::byte*>(recvbuf), comm.rank() == root ? bytes : 0}, reducer, root,
                      algorithm);
    return;
  }
  // A user's operation sees elements laid out as its datatype says, so they are moved with their gaps; the caller's
  // own gaps stay untouched, since the result comes back through MPI.
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  check_mpi(MPI_Type_get_true_extent(type, &lower, &extent), "MPI_Type_get_true_extent");
  if (lower < 0 || static_cast<std::size_t>(lower + extent) > reducer.element_bytes()) {
    throw std::invalid_argument("reduce: a datatype that reaches outside its extent");
  }
  std::vector<std::byte> apart(bytes);
  PackedBuffer packed(input, n, type, true);
  PackedBuffer spread(apart.data(), n, type, false);
  std::copy_n(packed.bytes().data(), packed.bytes().size(), spread.bytes().data());
  spread.unpack();
  comm.reduce_bytes(apart, comm.rank() == root ? std::span(apart) : std::span<std::byte>(), reducer, root,
                    algorithm);
  if (comm.rank() != root) return;
  PackedBuffer result(apart.data(), n, type, true);
  PackedBuffer back(recvbuf, n, type, false);
  std::copy_n(result.bytes().data(), result.bytes().size(), back.bytes().data());
  back.unpack();
}

void detail::mpi_stock_call(MPI_Comm comm, const CallArguments& a) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (a.bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::invalid_argument("algorithm 'mpi': MPI's own collectives take at most 2 GiB");
  }
  const int bytes = static_cast<int>(a.bytes);
  // MPI forbids the same memory on both sides; a block in its place is MPI_IN_PLACE.
  const auto* send_begin = static_cast<const void*>(a.send.data());
  const auto own = static_cast<std::size_t>(a.root) * a.bytes;
  switch (a.operation) {
    case Operation::scatter: {
      const bool in_place_root = rank == a.root && a.recv.data() == a.send.data() + own;
      check_mpi(MPI_Scatter(send_begin, bytes, MPI_BYTE, in_place_root ? MPI_IN_PLACE : a.recv.data(), bytes,
                            MPI_BYTE, a.root, comm),
                "MPI_Scatter");
      return;
    }
    case Operation::gather: {
      const bool in_place_root = rank == a.root && a.send.data() == a.recv.data() + own;
      check_mpi(MPI_Gather(in_place_root ? MPI_IN_PLACE : send_begin, bytes, MPI_BYTE, a.recv.data(), bytes,
                           MPI_BYTE, a.root, comm),
                "MPI_Gather");
      return;
    }
    case Operation::bcast:
      check_mpi(MPI_Bcast(a.recv.data(), bytes, MPI_BYTE, a.root, comm), "MPI_Bcast");
      return;
    case Operation::reduce: {
      const auto* reducer = dynamic_cast<const MpiReducer*>(a.reducer);
      if (reducer == nullptr) throw std::invalid_argument("reduce 'mpi': needs one of MPI's operations");
      const bool in_place_root = rank == a.root && send_begin == a.recv.data();
      check_mpi(
          MPI_Reduce(in_place_root ? MPI_IN_PLACE : send_begin, a.recv.data(),
                     bytes / static_cast<int>(a.element_bytes), reducer->type(), reducer->op(), a.root, comm),
          "MPI_Reduce");
      return;
    }
    default:
      throw std::invalid_argument("algorithm 'mpi': not for " + std::string(to_string(a.operation)));
  }
}

}  // namespace papfft::comm
