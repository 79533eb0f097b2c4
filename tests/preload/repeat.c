/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N repeat [bcast|reduce|allreduce|gather [BYTES [ROUNDS [MOST_DELAY_MS]]]]
 * A program that computes and calls a collective, again and again; each rank computes for a time of its own, which is the same in all
 * rounds. Prints the median over the rounds of the time from the first arrival to the last rank's end, and checks what it gets. Knows
 * nothing of papfft. On the virtual cluster:
 *   papfft cluster run -n 8 -- env LD_PRELOAD=$(papfft preload --path) repeat gather 8388608 40 50 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Sleeps: the hosts of a virtual cluster share the cores of one machine. */
static void compute(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* operation = argc > 1 ? argv[1] : "bcast";
  const int bytes = argc > 2 ? atoi(argv[2]) : 1 << 20;
  const int rounds = argc > 3 ? atoi(argv[3]) : 10;
  const double most_delay_s = argc > 4 ? atof(argv[4]) * 1e-3 : 0;
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_gather = strcmp(operation, "gather") == 0;
  const int count = (is_gather ? bytes / ranks : bytes) / (int)sizeof(double);
  double* mine = malloc((size_t)count * sizeof *mine + 1);
  double* got = calloc((size_t)count * (is_gather && rank == 0 ? (size_t)ranks : 1) + 1, sizeof *got);
  double* times = malloc((size_t)rounds * sizeof *times + 1);
  srand(17 + (unsigned)rank);
  const double delay_s = most_delay_s * rand() / RAND_MAX;
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) mine[i] = rank + round;
    MPI_Barrier(MPI_COMM_WORLD);
    const double from = MPI_Wtime();
    compute(delay_s);
    if (strcmp(operation, "bcast") == 0) MPI_Bcast(mine, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (strcmp(operation, "reduce") == 0)
      MPI_Reduce(mine, got, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (strcmp(operation, "allreduce") == 0)
      MPI_Allreduce(mine, got, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (is_gather) MPI_Gather(mine, count, MPI_DOUBLE, got, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double took = MPI_Wtime() - from;
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &took, &took, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    times[round] = took;
    const double sum = ranks * (double)(ranks - 1) / 2 + ranks * (double)round;
    if (strcmp(operation, "bcast") == 0) wrong += mine[count - 1] != round;
    if (strcmp(operation, "reduce") == 0 && rank == 0) wrong += got[count - 1] != sum;
    if (strcmp(operation, "allreduce") == 0) wrong += got[count - 1] != sum;
    if (is_gather && rank == 0) wrong += got[(size_t)count * (size_t)ranks - 1] != ranks - 1 + round;
  }
  qsort(times, (size_t)rounds, sizeof *times, compare);
  if (rank == 0)
    printf("%s of %d bytes on %d ranks: median %.3f ms\n", operation, bytes, ranks, 1e3 * times[rounds / 2]);
  if (wrong > 0) fprintf(stderr, "rank %d: %d wrong results\n", rank, wrong);
  MPI_Finalize();
  return wrong > 0;
}
