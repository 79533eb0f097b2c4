/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N threads [THREADS]
 * Threads call collectives at the same time, each on communicators of its own, which it makes by itself. The main thread calls them on
 * MPI_COMM_WORLD. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 70000, ROUNDS = 30, MOST = 8 };

typedef struct {
  int thread;
  MPI_Comm parent;
  int failures;
} Work;

static int wrong_values(int thread, int round, MPI_Comm comm, double* data) {
  int rank;
  int ranks;
  int failures = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < COUNT; ++i) data[i] = rank == round % ranks ? i + thread : -1;
  MPI_Bcast(data, COUNT, MPI_DOUBLE, round % ranks, comm);
  MPI_Allreduce(MPI_IN_PLACE, data, COUNT, MPI_DOUBLE, MPI_SUM, comm);
  for (int i = 0; i < COUNT; ++i) failures += data[i] != ranks * (double)(i + thread);
  return failures;
}

/* @param argument  with MPI_COMM_NULL for the main thread */
static void* work(void* argument) {
  Work* const mine = argument;
  double* const data = malloc(COUNT * sizeof *data);
  for (int round = 0; round < ROUNDS; ++round) {
    if (mine->parent == MPI_COMM_NULL) {
      mine->failures += wrong_values(mine->thread, round, MPI_COMM_WORLD, data);
      continue;
    }
    MPI_Comm comm;
    int rank;
    MPI_Comm_rank(mine->parent, &rank);
    if (round % 2 == 0)
      MPI_Comm_dup(mine->parent, &comm);
    else
      MPI_Comm_split(mine->parent, round % 4 == 1 ? rank % 2 : 0, rank, &comm);
    mine->failures += wrong_values(mine->thread, round, comm, data);
    MPI_Comm_free(&comm);
  }
  free(data);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  const int others = argc > 1 ? atoi(argv[1]) : 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE || others > MOST) MPI_Abort(MPI_COMM_WORLD, 1);
  Work works[MOST + 1];
  pthread_t threads[MOST];
  for (int t = 0; t <= others; ++t) works[t] = (Work){t, MPI_COMM_NULL, 0};
  for (int t = 0; t < others; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &works[t].parent);
  for (int t = 0; t < others; ++t) pthread_create(&threads[t], NULL, work, &works[t]);
  work(&works[others]);
  for (int t = 0; t < others; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < others; ++t) MPI_Comm_free(&works[t].parent);
  int failures = 0;
  for (int t = 0; t <= others; ++t) failures += works[t].failures;
  if (failures > 0) fprintf(stderr, "%d wrong values\n", failures);
  MPI_Finalize();
  return failures > 0;
}
