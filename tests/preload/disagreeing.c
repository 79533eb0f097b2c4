/* SPDX-License-Identifier: MIT */
/* Usage: PAPFFT_CHECK=1 mpirun -n N disagreeing operation|datatype|first|second
 * The last rank calls an allreduce of another operation or datatype, or its first or second broadcast is too short for the library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const what = argc > 1 ? argv[1] : "";
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_wrong = rank == ranks - 1;
  enum { COUNT = 1 << 18 };
  double* data = calloc(COUNT, sizeof *data);
  double* sum = calloc(COUNT, sizeof *sum);
  MPI_Bcast(data, is_wrong && strcmp(what, "first") == 0 ? 8 : COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(data, is_wrong && strcmp(what, "second") == 0 ? 8 : COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(data, sum, COUNT, is_wrong && strcmp(what, "datatype") == 0 ? MPI_INT64_T : MPI_DOUBLE,
                is_wrong && strcmp(what, "operation") == 0 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d: the end\n", rank);
  MPI_Finalize();
  return 0;
}
