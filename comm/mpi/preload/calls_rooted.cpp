// SPDX-License-Identifier: MIT
// MPI_Bcast, MPI_Scatter(v) and MPI_Gather(v).
#include <mpi.h>

#include <string_view>

#include "comm/mpi/preload/calls.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/runtime.hpp"
#include "comm/mpi/preload/way.hpp"

namespace papfft::comm::preload {

namespace {

/// One side of a scatter or gather: that of a rank which is not the root, or the root's own.
struct Side {
  const void* buffer;
  int count;
  MPI_Datatype type;
};

/// Checks the arguments that count on this rank: all of the root's, and its own block's of any other.
Reason check_blocks(const Side& whole, const Side& own, bool is_root) {
  if (is_root && (is_in_place(whole.buffer) || !is_valid(whole.buffer, whole.type))) return Reason::invalid;
  if (is_in_place(own.buffer)) return invalid_unless(is_root);
  if (!is_valid(own.buffer, own.type)) return Reason::invalid;
  const bool is_alike =
      !is_root || signature_bytes(own.count, own.type) == signature_bytes(whole.count, whole.type);
  return invalid_unless(is_alike);
}

/// Of a scatterv or gatherv. The counts are the root's alone.
Reason check_own_blocks(const void* whole, const int counts[], const int displs[], MPI_Datatype type,
                        const Side& own, int rank, int root, MPI_Comm comm) {
  const int ranks = size_of(comm);
  if (root >= ranks) return Reason::invalid;
  const bool is_root = rank == root;
  if (is_root) {
    if (is_in_place(whole) || !is_usable(type) || counts == nullptr || displs == nullptr)
      return Reason::invalid;
    for (int r = 0; r < ranks; ++r) {
      if (counts[r] < 0) return Reason::invalid;
    }
    if (signature_bytes(counts, ranks, type) > 0 && !is_buffer(whole, type)) return Reason::invalid;
  }
  if (is_in_place(own.buffer)) return invalid_unless(is_root);
  if (own.count < 0 || !is_usable(own.type)) return Reason::invalid;
  if (own.count > 0 && !is_buffer(own.buffer, own.type)) return Reason::invalid;
  return invalid_unless(!is_root ||
                        signature_bytes(own.count, own.type) == signature_bytes(counts[rank], type));
}

}  // namespace

int bcast(Way& way, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!Runtime::is_watching() || comm == MPI_COMM_NULL) return way.pass();
  type = way.hold(type);
  return Runtime::get().carry_out(
      {Operation::bcast, comm, signature_bytes(count, type), root},
      [&] { return invalid_unless(root >= 0 && root < size_of(comm) && is_valid(buffer, type)); },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_bcast(ours, buffer, count, type, root, algorithm);
      },
      way);
}

int scatter(Way& way, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int rank = rank_in(comm);
  if (rank < 0 || root < 0) return way.pass();
  if (rank == root) sendtype = way.hold(sendtype);
  if (!is_in_place(recvbuf)) recvtype = way.hold(recvtype);
  const Side whole{sendbuf, sendcount, sendtype};
  const Side own{recvbuf, recvcount, recvtype};
  const Side& known = rank == root ? whole : own;
  return Runtime::get().carry_out(
      {Operation::scatter, comm, signature_bytes(known.count, known.type), root},
      [&] { return root < size_of(comm) ? check_blocks(whole, own, rank == root) : Reason::invalid; },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_scatter(ours, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                            algorithm);
      },
      way);
}

int gather(Way& way, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
           MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int rank = rank_in(comm);
  if (rank < 0 || root < 0) return way.pass();
  if (rank == root) recvtype = way.hold(recvtype);
  if (!is_in_place(sendbuf)) sendtype = way.hold(sendtype);
  const Side whole{recvbuf, recvcount, recvtype};
  const Side own{sendbuf, sendcount, sendtype};
  const Side& known = rank == root ? whole : own;
  return Runtime::get().carry_out(
      {Operation::gather, comm, signature_bytes(known.count, known.type), root},
      [&] { return root < size_of(comm) ? check_blocks(whole, own, rank == root) : Reason::invalid; },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_gather(ours, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, algorithm);
      },
      way);
}

int scatterv(Way& way, const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int rank = rank_in(comm);
  if (rank < 0 || root < 0) return way.pass();
  if (rank == root) {
    sendtype = way.hold(sendtype);
    sendcounts = way.hold_counts(sendcounts, size_of(comm));
    displs = way.hold_counts(displs, size_of(comm));
  }
  if (!is_in_place(recvbuf)) recvtype = way.hold(recvtype);
  const Side own{recvbuf, recvcount, recvtype};
  const std::size_t own_bytes = is_in_place(recvbuf) ? 0 : signature_bytes(recvcount, recvtype);
  return Runtime::get().carry_out(
      {Operation::scatterv, comm, own_bytes, root},
      [&] { return check_own_blocks(sendbuf, sendcounts, displs, sendtype, own, rank, root, comm); },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_scatterv(ours, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                             algorithm);
      },
      way);
}

int gatherv(Way& way, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!Runtime::is_watching()) return way.pass();
  const int rank = rank_in(comm);
  if (rank < 0 || root < 0) return way.pass();
  if (rank == root) {
    recvtype = way.hold(recvtype);
    recvcounts = way.hold_counts(recvcounts, size_of(comm));
    displs = way.hold_counts(displs, size_of(comm));
  }
  if (!is_in_place(sendbuf)) sendtype = way.hold(sendtype);
  const Side own{sendbuf, sendcount, sendtype};
  const std::size_t own_bytes = is_in_place(sendbuf) ? 0 : signature_bytes(sendcount, sendtype);
  return Runtime::get().carry_out(
      {Operation::gatherv, comm, own_bytes, root},
      [&] { return check_own_blocks(recvbuf, recvcounts, displs, recvtype, own, rank, root, comm); },
      [=](Collectives& ours, std::string_view algorithm) {
        detail::mpi_gatherv(ours, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                            algorithm);
      },
      way);
}

}  // namespace papfft::comm::preload
