/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N overlap
 * Computes while sums of 1 MB are under way. Asks for no thread level. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 131072, ROUNDS = 5 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double* mine = malloc(COUNT * sizeof *mine);
  double* sum = malloc(COUNT * sizeof *sum);
  int failures = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < COUNT; ++i) mine[i] = i % 1000 + round;
    MPI_Request request;
    MPI_Iallreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    double other = 0;
    int is_done = 0;
    while (!is_done) {
      for (int i = 0; i < COUNT; ++i) other += mine[i];
      MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
    failures += other <= 0;
    for (int i = 0; i < COUNT; ++i) failures += sum[i] != ranks * (double)(i % 1000 + round);
  }
  free(mine);
  free(sum);
  if (failures > 0) fprintf(stderr, "%d wrong values\n", failures);
  MPI_Finalize();
  return failures > 0;
}
