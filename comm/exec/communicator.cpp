// SPDX-License-Identifier: MIT
#include <algorithm>
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

}  // namespace

detail::OwnedTransport::OwnedTransport(MPI_Comm comm) : transport(std::make_unique<MpiTransport>(comm)) {}
detail::OwnedTransport::~OwnedTransport() = default;
detail::OwnedTransport::OwnedTransport(OwnedTransport&&) noexcept = default;

Communicator::Communicator(MPI_Comm comm, const Options& options)
    : OwnedTransport(comm), Collectives(*transport, options) {}

void Communicator::scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, std::string_view algorithm) {
  if (rank() != root) {
    PackedBuffer recv(recvbuf, whole_count(recvcount, "scatter"), recvtype, false);
    scatter_bytes({}, recv.bytes(), 1, root, algorithm);
    recv.unpack();
    return;
  }
  const std::size_t count = whole_count(sendcount, "scatter");
  PackedBuffer send(sendbuf, count * static_cast<std::size_t>(size()), sendtype, true);
  if (in_place(recvbuf)) {  // the root's block stays where it is
    const std::size_t block = count * packed_bytes(sendtype);
    scatter_bytes(send.bytes(), send.bytes().subspan(static_cast<std::size_t>(root) * block, block), 1, root,
                  algorithm);
    return;
  }
  PackedBuffer recv(recvbuf, whole_count(recvcount, "scatter"), recvtype, false);
  scatter_bytes(send.bytes(), recv.bytes(), 1, root, algorithm);
  recv.unpack();
}

void Communicator::gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, std::string_view algorithm) {
  if (rank() != root) {
    PackedBuffer send(sendbuf, whole_count(sendcount, "gather"), sendtype, true);
    gather_bytes(send.bytes(), {}, 1, root, algorithm);
    return;
  }
  const std::size_t count = whole_count(recvcount, "gather");
  PackedBuffer recv(recvbuf, count * static_cast<std::size_t>(size()), recvtype, in_place(sendbuf));
  if (in_place(sendbuf)) {
    const std::size_t block = count * packed_bytes(recvtype);
    gather_bytes(recv.bytes().subspan(static_cast<std::size_t>(root) * block, block), recv.bytes(), 1, root,
                 algorithm);
  } else {
    PackedBuffer send(sendbuf, whole_count(sendcount, "gather"), sendtype, true);
    gather_bytes(send.bytes(), recv.bytes(), 1, root, algorithm);
  }
  recv.unpack();
}

void Communicator::bcast(void* buffer, int count, MPI_Datatype type, int root, std::string_view algorithm) {
  PackedBuffer data(buffer, whole_count(count, "bcast"), type, rank() == root);
  bcast_bytes(data.bytes(), 1, root, algorithm);
  if (rank() != root) data.unpack();
}

void Communicator::reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                          int root, std::string_view algorithm) {
  const std::size_t n = whole_count(count, "reduce");
  const MpiReducer reducer(op, type);
  const void* input = in_place(sendbuf) ? recvbuf : sendbuf;
  const std::size_t bytes = n * reducer.element_bytes();
  if (is_dense(type)) {
    reduce_bytes({static_cast<const std::byte*>(input), bytes},
                 {static_cast<std::byte*>(recvbuf), rank() == root ? bytes : 0}, reducer, root, algorithm);
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
  reduce_bytes(apart, rank() == root ? std::span(apart) : std::span<std::byte>(), reducer, root, algorithm);
  if (rank() != root) return;
  PackedBuffer result(apart.data(), n, type, true);
  PackedBuffer back(recvbuf, n, type, false);
  std::copy_n(result.bytes().data(), result.bytes().size(), back.bytes().data());
  back.unpack();
}

}  // namespace papfft::comm
