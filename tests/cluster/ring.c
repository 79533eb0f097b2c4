/* SPDX-License-Identifier: MIT */
/* Rank 0 sends 4 MB around the ring of all ranks, which arrives unchanged or the job ends with 3. Every rank prints its
 * host, rank 0 the rate of one hop in Mb/s: each hop waits for the one before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBytes = 4000000 };

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  unsigned char* data = malloc(kBytes);
  if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < kBytes; ++i) data[i] = rank == 0 ? (unsigned char)(i * 7 + i / 251) : 0;

  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  if (rank == 0) MPI_Send(data, kBytes, MPI_BYTE, next, 0, MPI_COMM_WORLD);
  MPI_Recv(data, kBytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double hop_s = (MPI_Wtime() - start_s) / ranks;
  if (rank != 0) MPI_Send(data, kBytes, MPI_BYTE, next, 0, MPI_COMM_WORLD);

  for (int i = 0; i < kBytes; ++i) {
    if (data[i] != (unsigned char)(i * 7 + i / 251)) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  free(data);
  char host[MPI_MAX_PROCESSOR_NAME];
  int length;
  MPI_Get_processor_name(host, &length);
  printf("host %s\n", host);
  if (rank == 0) printf("mbit_per_s %.0f\n", kBytes * 8e-6 / hop_s);
  MPI_Finalize();
  return 0;
}
