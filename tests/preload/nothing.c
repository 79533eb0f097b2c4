/* SPDX-License-Identifier: MIT */
/* Calls of an MPI library that has nothing to do. Loaded behind libpapfft_mpi.so, it shows what that library costs: bench_pass.c. */
#include <mpi.h>

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)buffer, (void)count, (void)type, (void)root, (void)comm;
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  (void)sendbuf, (void)recvbuf, (void)count, (void)type, (void)op, (void)comm;
  return MPI_SUCCESS;
}
