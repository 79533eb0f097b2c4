/* SPDX-License-Identifier: MIT */
/* MPI's collective operations and their argument lists, once for all forms of the calls: blocking, started and persistent ones, in C
 * (papfft/pat.h) and in C++ (papfft/mpi.hpp). */
#ifndef PAPFFT_MPI_LISTS_H_
#define PAPFFT_MPI_LISTS_H_

/* Calls DO(name, name in small letters, the name of its algorithms' operation, parameters, arguments) for each operation: */
#define PAPFFT_FOR_EACH_MPI_CALL(DO)                                                                         \
  DO(Scatter, scatter, scatter, PAPFFT_BLOCKS, PAPFFT_BLOCKS_GIVEN)                                          \
  DO(Gather, gather, gather, PAPFFT_BLOCKS, PAPFFT_BLOCKS_GIVEN)                                             \
  DO(Bcast, bcast, bcast, PAPFFT_VECTOR, PAPFFT_VECTOR_GIVEN)                                                \
  DO(Reduce, reduce, reduce, PAPFFT_REDUCED, PAPFFT_REDUCED_GIVEN)                                           \
  DO(Allgather, allgather, allgather,                                                                        \
     (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,               \
      MPI_Datatype recvtype),                                                                                \
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))                                           \
  DO(Allgatherv, allgatherv, allgatherv,                                                                     \
     (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],      \
      const int displs[], MPI_Datatype recvtype),                                                            \
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype))                                  \
  DO(Allreduce, allreduce, allreduce,                                                                        \
     (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op),                      \
     (sendbuf, recvbuf, count, datatype, op))                                                                \
  DO(Reduce_scatter, reduce_scatter, reduce_scatter,                                                         \
     (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op),         \
     (sendbuf, recvbuf, recvcounts, datatype, op))                                                           \
  DO(Reduce_scatter_block, reduce_scatter_block, reduce_scatter,                                             \
     (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op),                  \
     (sendbuf, recvbuf, recvcount, datatype, op))                                                            \
  DO(Alltoall, alltoall, alltoall,                                                                           \
     (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,               \
      MPI_Datatype recvtype),                                                                                \
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))                                           \
  DO(Alltoallv, alltoallv, alltoallv,                                                                        \
     (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,               \
      void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype),                    \
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype))                       \
  DO(Alltoallw, alltoallw, alltoallv,                                                                        \
     (const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],      \
      void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[]),           \
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes))                     \
  DO(Gatherv, gatherv, gatherv,                                                                              \
     (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],      \
      const int displs[], MPI_Datatype recvtype, int root),                                                  \
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root))                            \
  DO(Scatterv, scatterv, scatterv,                                                                           \
     (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf, \
      int recvcount, MPI_Datatype recvtype, int root),                                                       \
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root))

/* Parameters that several operations have, and the names of these parameters alone. */
#define PAPFFT_BLOCKS                                                                       \
  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, \
   MPI_Datatype recvtype, int root)
#define PAPFFT_BLOCKS_GIVEN (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root)
#define PAPFFT_VECTOR (void* buffer, int count, MPI_Datatype datatype, int root)
#define PAPFFT_VECTOR_GIVEN (buffer, count, datatype, root)
#define PAPFFT_REDUCED \
  (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root)
#define PAPFFT_REDUCED_GIVEN (sendbuf, recvbuf, count, datatype, op, root)

/* Takes the parentheses off a list. */
#define PAPFFT_LIST(...) __VA_ARGS__

#endif /* PAPFFT_MPI_LISTS_H_ */
