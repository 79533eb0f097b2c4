// SPDX-License-Identifier: MIT
// The calls of MPI 4 with counts beyond an int (MPI_Bcast_c) that may be ours. Fortran 2008 makes them for counts of that kind. Those with
// arrays of counts are not among them.
#pragma once
#include <mpi.h>

#include <algorithm>
#include <limits>

// Calls DO(name, name in small letters, parameters, arguments, the same arguments for the call that counts in int):
#if MPI_VERSION >= 4
#define PAPFFT_FOR_EACH_LARGE_CALL(DO)                                                                       \
  DO(Bcast, bcast, (void* buffer, MPI_Count count, MPI_Datatype type, int root),                             \
     (buffer, count, type, root), (buffer, as_int(count), type, root))                                       \
  DO(Scatter, scatter, PAPFFT_LARGE_BLOCKS_ROOTED, (PAPFFT_LARGE_GIVEN, root), (PAPFFT_LARGE_AS_INTS, root)) \
  DO(Gather, gather, PAPFFT_LARGE_BLOCKS_ROOTED, (PAPFFT_LARGE_GIVEN, root), (PAPFFT_LARGE_AS_INTS, root))   \
  DO(Allgather, allgather, (PAPFFT_LARGE_BLOCKS), (PAPFFT_LARGE_GIVEN), (PAPFFT_LARGE_AS_INTS))              \
  DO(Alltoall, alltoall, (PAPFFT_LARGE_BLOCKS), (PAPFFT_LARGE_GIVEN), (PAPFFT_LARGE_AS_INTS))                \
  DO(Reduce, reduce, (PAPFFT_LARGE_VECTORS, int root), (sendbuf, recvbuf, count, type, op, root),            \
     (sendbuf, recvbuf, as_int(count), type, op, root))                                                      \
  DO(Allreduce, allreduce, (PAPFFT_LARGE_VECTORS), (sendbuf, recvbuf, count, type, op),                      \
     (sendbuf, recvbuf, as_int(count), type, op))                                                            \
  DO(Reduce_scatter_block, reduce_scatter_block, (PAPFFT_LARGE_VECTORS),                                     \
     (sendbuf, recvbuf, count, type, op), (sendbuf, recvbuf, as_int(count), type, op))
#else
#define PAPFFT_FOR_EACH_LARGE_CALL(DO)
#endif

#define PAPFFT_LARGE_BLOCKS                                                                            \
  const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, \
      MPI_Datatype recvtype
#define PAPFFT_LARGE_BLOCKS_ROOTED (PAPFFT_LARGE_BLOCKS, int root)
#define PAPFFT_LARGE_GIVEN sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define PAPFFT_LARGE_AS_INTS sendbuf, as_int(sendcount), sendtype, recvbuf, as_int(recvcount), recvtype
#define PAPFFT_LARGE_VECTORS const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op

namespace papfft::comm::preload {

/// The most that an int holds stands for more. A call of so many elements is too long to be ours.
[[nodiscard]] inline int as_int(MPI_Count count) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<MPI_Count>(count, Limits::min(), Limits::max()));
}

}  // namespace papfft::comm::preload
