/* SPDX-License-Identifier: MIT */
/* The papers' example of use (scatter and gather, Fig. 4): a root hands out work, all compute, the root gathers the results
 * in the order in which they are expected. */
#include <papfft/pat.h>
#include <stdio.h>
#include <stdlib.h>

enum { kIterations = 20, kNumbers = 100000 };

static void check(int error) {
  if (error == PAT_SUCCESS) return;
  fprintf(stderr, "pat_gather: %s\n", PAT_Last_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void square(double* numbers, int first, int last) {
  for (int i = first; i < last; ++i) numbers[i] *= numbers[i];
}

int main(int argc, char** argv) {
  int provided, rank, size, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* whole = rank == 0 ? malloc(sizeof(double) * kNumbers * (size_t)size) : NULL;
  double* mine = malloc(sizeof(double) * kNumbers);
  if (mine == NULL || (rank == 0 && whole == NULL)) {
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(EXIT_FAILURE);
  }

  check(PAT_Init());
  check(PAT_UseAlg(PAT_Gather_BSLS));
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for (int i = 0; rank == 0 && i < kNumbers * size; ++i) whole[i] = i + iteration;
    MPI_Scatter(whole, kNumbers, MPI_DOUBLE, mine, kNumbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    check(PAT_ProcessingStart());
    square(mine, 0, kNumbers / 2);
    check(PAT_Edge(0.5));
    square(mine, kNumbers / 2, kNumbers);
    check(PAT_ProcessingEnd());
    check(PAT_Gather(mine, kNumbers, MPI_DOUBLE, whole, kNumbers, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < kNumbers * size; ++i) {
      wrong += whole[i] != (double)(i + iteration) * (i + iteration);
    }
  }
  check(PAT_Finalize());

  if (rank == 0) printf("%d ranks, %d iterations, %d wrong numbers\n", size, kIterations, wrong);
  free(mine);
  free(whole);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
