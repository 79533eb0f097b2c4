// SPDX-License-Identifier: MIT
// MPI_Allgather(v) and MPI_Alltoall(v, w).
#include <mpi.h>

#include <string_view>

#include "comm/mpi/preload/calls.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/runtime.hpp"
#include "comm/mpi/preload/way.hpp"

namespace papfft::comm::preload {

namespace {

/// Of blocks of one size: what a rank sends for a block is what it gets for one.
Reason check_blocks(const void* sendbuf, int sendcount, MPI_Datatype sendtype, const void* recvbuf,
                    int recvcount, MPI_Datatype recvtype) {
  if (is_in_place(recvbuf) || !is_valid(recvbuf, recvtype)) return Reason::invalid;
  if (is_in_place(sendbuf)) return Reason::none;
  return invalid_unless(is_valid(sendbuf, sendtype) &&
                        signature_bytes(sendcount, sendtype) == signature_bytes(recvcount, recvtype));
}

bool are_counts(const int counts[], const int displs[], int ranks) {
  if (counts == nullptr || displs == nullptr) return false;
  for (int r = 0; r < ranks; ++r) {
    if (counts[r] < 0) return false;
  }
  return true;
}

/// One side of an alltoallv.
Reason check_side(const void* buffer, const int counts[], const int displs[], MPI_Datatype type, int ranks) {
  if (!are_counts(counts, displs, ranks) || !is_usable(type)) return Reason::invalid;
  return invalid_unless(signature_bytes(counts, ranks, type) == 0 || is_buffer(buffer, type));
}
/// The same of an alltoallw. MPI refuses a datatype that is none for an empty block, too.
Reason check_side(const void* buffer, const int counts[], const int displs[], const MPI_Datatype types[],
                  int ranks) {
  if (!are_counts(counts, displs, ranks) || types == nullptr) return Reason::invalid;
  for (int r = 0; r < ranks; ++r) {
    if (!is_usable(types[r])) return Reason::invalid;
    if (signature_bytes(counts[r], types[r]) > 0 && !is_buffer(buffer, types[r])) return Reason::invalid;
  }
  return Reason::none;
}

}  // namespace

int allgather(Way& way, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
              int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (!Runtime::is_watching() || comm == MPI_COMM_NULL) return way.pass();
  recvtype = way.hold(recvtype);
  if (!is_in_place(sendbuf)) sendtype = way.hold(sendtype);
  return Runtime::get().carry_out(
      {Operation::allgather, comm, signature_bytes(recvcount, recvtype)},
      [&] { return check_blocks(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype); },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_allgather(ours, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, algorithm);
      },
      way);
}

int alltoall(Way& way, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (!Runtime::is_watching() || comm == MPI_COMM_NULL) return way.pass();
  recvtype = way.hold(recvtype);
  if (!is_in_place(sendbuf)) sendtype = way.hold(sendtype);
  return Runtime::get().carry_out(
      {Operation::alltoall, comm, signature_bytes(recvcount, recvtype)},
      [&] { return check_blocks(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype); },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_alltoall(ours, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, algorithm);
      },
      way);
}

/// All ranks know all sizes.
int allgatherv(Way& way, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int ranks = size_of(comm);
  if (ranks == 0) return way.pass();
  recvtype = way.hold(recvtype);
  recvcounts = way.hold_counts(recvcounts, ranks);
  displs = way.hold_counts(displs, ranks);
  if (!is_in_place(sendbuf)) sendtype = way.hold(sendtype);
  const auto check = [&] {
    if (is_in_place(recvbuf) || !are_counts(recvcounts, displs, ranks) || !is_valid(recvbuf, recvtype))
      return Reason::invalid;
    if (is_in_place(sendbuf)) return Reason::none;
    const std::size_t own = signature_bytes(sendcount, sendtype);
    return invalid_unless(sendcount >= 0 && is_usable(sendtype) &&
                          (own == 0 || is_buffer(sendbuf, sendtype)) &&
                          own == signature_bytes(recvcounts[rank_in(comm)], recvtype));
  };
  return Runtime::get().carry_out(
      {Operation::allgatherv, comm,
       signature_bytes(recvcounts, ranks, recvtype) / static_cast<std::size_t>(ranks)},
      check,
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_allgatherv(ours, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               algorithm);
      },
      way);
}

/// A rank knows the sizes of its own blocks.
int alltoallv(Way& way, const void* sendbuf, const int sendcounts[], const int sdispls[],
              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
              MPI_Datatype recvtype, MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int ranks = size_of(comm);
  if (ranks == 0) return way.pass();
  recvtype = way.hold(recvtype);
  recvcounts = way.hold_counts(recvcounts, ranks);
  rdispls = way.hold_counts(rdispls, ranks);
  if (!is_in_place(sendbuf)) {
    sendtype = way.hold(sendtype);
    sendcounts = way.hold_counts(sendcounts, ranks);
    sdispls = way.hold_counts(sdispls, ranks);
  }
  const auto check = [&] {
    if (is_in_place(recvbuf)) return Reason::invalid;
    const Reason received = check_side(recvbuf, recvcounts, rdispls, recvtype, ranks);
    if (received != Reason::none || is_in_place(sendbuf)) return received;
    return check_side(sendbuf, sendcounts, sdispls, sendtype, ranks);
  };
  return Runtime::get().carry_out(
      {Operation::alltoallv, comm,
       signature_bytes(recvcounts, ranks, recvtype) / static_cast<std::size_t>(ranks)},
      check,
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_alltoallv(ours, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                              recvtype, algorithm);
      },
      way);
}

int alltoallw(Way& way, const void* sendbuf, const int sendcounts[], const int sdispls[],
              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
              const MPI_Datatype recvtypes[], MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int ranks = size_of(comm);
  if (ranks == 0) return way.pass();
  recvcounts = way.hold_counts(recvcounts, ranks);
  rdispls = way.hold_counts(rdispls, ranks);
  recvtypes = way.hold_types(recvtypes, ranks);
  if (!is_in_place(sendbuf)) {
    sendcounts = way.hold_counts(sendcounts, ranks);
    sdispls = way.hold_counts(sdispls, ranks);
    sendtypes = way.hold_types(sendtypes, ranks);
  }
  const auto check = [&] {
    if (is_in_place(recvbuf)) return Reason::invalid;
    const Reason received = check_side(recvbuf, recvcounts, rdispls, recvtypes, ranks);
    if (received != Reason::none || is_in_place(sendbuf)) return received;
    return check_side(sendbuf, sendcounts, sdispls, sendtypes, ranks);
  };
  return Runtime::get().carry_out(
      {Operation::alltoallv, comm,
       signature_bytes(recvcounts, recvtypes, ranks) / static_cast<std::size_t>(ranks)},
      check,
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_alltoallw(ours, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                              recvtypes, algorithm);
      },
      way);
}

}  // namespace papfft::comm::preload
