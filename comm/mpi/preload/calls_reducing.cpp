// SPDX-License-Identifier: MIT
// MPI_Reduce, MPI_Allreduce and MPI_Reduce_scatter(_block).
#include <mpi.h>

#include <string_view>

#include "comm/mpi/preload/calls.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/runtime.hpp"
#include "comm/mpi/preload/way.hpp"

namespace papfft::comm::preload {

namespace {

/// @param recvbuf  of a rank that gets a result
Reason check_vectors(const Way& way, const void* sendbuf, const void* recvbuf, MPI_Datatype type, MPI_Op op) {
  if (!is_in_place(sendbuf) && !is_buffer(sendbuf, type)) return Reason::invalid;
  if (is_in_place(recvbuf) || !is_buffer(recvbuf, type)) return Reason::invalid;
  return reason_to_pass(op, type, way.is_started());
}

/// The same, where MPI refuses one buffer for both.
Reason check_apart(const Way& way, const void* sendbuf, const void* recvbuf, MPI_Datatype type, MPI_Op op) {
  if (sendbuf == recvbuf && sendbuf != MPI_BOTTOM) return Reason::invalid;
  return check_vectors(way, sendbuf, recvbuf, type, op);
}

}  // namespace

int reduce(Way& way, const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm) {
  if (!Runtime::is_watching() || comm == MPI_COMM_NULL || root < 0) return way.pass();
  const auto check = [&] {
    const int rank = rank_in(comm);
    if (root >= size_of(comm)) return Reason::invalid;
    if (rank == root) return check_apart(way, sendbuf, recvbuf, type, op);
    if (is_in_place(sendbuf) || !is_buffer(sendbuf, type)) return Reason::invalid;
    return reason_to_pass(op, type, way.is_started());
  };
  return Runtime::get().carry_out(
      {Operation::reduce, comm, signature_bytes(count, type), root}, check,
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_reduce(ours, sendbuf, recvbuf, count, type, op, root, algorithm);
      },
      way);
}

int allreduce(Way& way, const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  if (!Runtime::is_watching() || comm == MPI_COMM_NULL) return way.pass();
  return Runtime::get().carry_out(
      {Operation::allreduce, comm, signature_bytes(count, type)},
      [&] { return check_apart(way, sendbuf, recvbuf, type, op); },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_allreduce(ours, sendbuf, recvbuf, count, type, op, algorithm);
      },
      way);
}

int reduce_scatter_block(Way& way, const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) {
  if (!Runtime::is_watching() || comm == MPI_COMM_NULL) return way.pass();
  return Runtime::get().carry_out(
      {Operation::reduce_scatter, comm, signature_bytes(recvcount, type)},
      [&] { return check_vectors(way, sendbuf, recvbuf, type, op); },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_reduce_scatter_block(ours, sendbuf, recvbuf, recvcount, type, op, algorithm);
      },
      way);
}

/// All ranks know all sizes. A rank may get nothing, and needs no buffer then.
int reduce_scatter(Way& way, const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int size = size_of(comm);
  if (size == 0) return way.pass();
  const auto ranks = static_cast<std::size_t>(size);
  recvcounts = way.hold_counts(recvcounts, size);
  const auto check = [&] {
    const bool gets_nothing = recvcounts[rank_in(comm)] == 0 && !is_in_place(sendbuf);
    return check_vectors(way, sendbuf, gets_nothing ? sendbuf : recvbuf, type, op);
  };
  return Runtime::get().carry_out(
      {Operation::reduce_scatter, comm, signature_bytes(recvcounts, size, type) / ranks}, check,
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_reduce_scatter(ours, sendbuf, recvbuf, recvcounts, type, op, algorithm);
      },
      way);
}

}  // namespace papfft::comm::preload
