/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N threads
 * Two threads call collectives at the same time, each on communicators of its own, which it makes by itself. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 70000, ROUNDS = 30 };

static int failures[2];

typedef struct {
  int thread;
  MPI_Comm parent;
} Work;

static void* work(void* argument) {
  const int thread = ((const Work*)argument)->thread;
  const MPI_Comm parent = ((const Work*)argument)->parent;
  double* data = malloc(COUNT * sizeof *data);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm comm;
    int rank;
    int ranks;
    MPI_Comm_dup(parent, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < COUNT; ++i) data[i] = rank == round % ranks ? i + thread : -1;
    MPI_Bcast(data, COUNT, MPI_DOUBLE, round % ranks, comm);
    MPI_Allreduce(MPI_IN_PLACE, data, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < COUNT; ++i) failures[thread] += data[i] != ranks * (double)(i + thread);
    MPI_Comm_free(&comm);
  }
  free(data);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  Work arguments[2] = {{0, MPI_COMM_NULL}, {1, MPI_COMM_NULL}};
  pthread_t threads[2];
  for (int t = 0; t < 2; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &arguments[t].parent);
  for (int t = 0; t < 2; ++t) pthread_create(&threads[t], NULL, work, &arguments[t]);
  for (int t = 0; t < 2; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < 2; ++t) MPI_Comm_free(&arguments[t].parent);
  const int failed = failures[0] + failures[1] > 0;
  if (failed) fprintf(stderr, "%d and %d wrong values\n", failures[0], failures[1]);
  MPI_Finalize();
  return failed;
}
