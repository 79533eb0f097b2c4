/* SPDX-License-Identifier: MIT */
/* Usage: PAPFFT_STUCK_MS=200 mpirun -n 2 failing
 * Rank 1 comes to a broadcast too late. Each rank prints the class of the error that it gets, and whether its own error handler was
 * called. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int handled;

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  enum { COUNT = 1 << 18 };
  double* data = calloc(COUNT, sizeof *data);
  MPI_Bcast(data, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const struct timespec late = {2, 0};
  if (rank == 1) nanosleep(&late, NULL);
  const int code = MPI_Bcast(data, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  printf("rank %d: %s, handled %d\n", rank, class == MPI_ERR_OTHER ? "MPI_ERR_OTHER" : "another", handled);
  fflush(stdout);
  _Exit(0); /* the ranks do not agree any more: MPI_Finalize could wait for ever */
}
