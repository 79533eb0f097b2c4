/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N memory bcast|allreduce|alltoallw BYTES CALLS [FAILS_AT]
 * Makes so many calls, of BYTES from one rank to another or of a vector of BYTES, and checks what it gets. Each rank prints how often a call of the
 * second half has taken memory from C++, at least. With FAILS_AT, that allocation of C++ after MPI_Init fails on rank 1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 16 };

/* Of the program's own thread. */
static __thread long allocations;
static __thread long fails_at;

/* C++'s operator new(unsigned long), in its own place. */
__attribute__((visibility("default"))) void* _Znwm(size_t bytes);
void* _Znwm(size_t bytes) {
  if (++allocations == fails_at) {
    void* found = dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv");
    void (*fail)(void);
    memcpy(&fail, &found, sizeof fail);
    fail();
  }
  return malloc(bytes);
}

static int ranks;
static int rank;

static int bcast(int* data, int* got, int count, int round) {
  if (rank == 0) data[count - 1] = round;
  MPI_Bcast(data, count, MPI_INT, 0, MPI_COMM_WORLD);
  (void)got;
  return data[count - 1] != round;
}

static int allreduce(int* data, int* got, int count, int round) {
  data[count - 1] = rank + round;
  MPI_Allreduce(data, got, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return got[count - 1] != ranks * (ranks - 1) / 2 + ranks * round;
}

static int alltoallw(int* data, int* got, int count, int round) {
  int counts[MOST_RANKS] = {0};
  int displs_bytes[MOST_RANKS] = {0};
  MPI_Datatype types[MOST_RANKS] = {MPI_DATATYPE_NULL};
  int wrong = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count;
    displs_bytes[r] = r * count * (int)sizeof(int);
    types[r] = MPI_INT;
    data[(r + 1) * count - 1] = 100 * rank + r + round;
  }
  MPI_Alltoallw(data, counts, displs_bytes, types, got, counts, displs_bytes, types, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) wrong += got[(r + 1) * count - 1] != 100 * r + rank + round;
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4 || ranks > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 64);
  const int count = atoi(argv[2]) / (int)sizeof(int);
  const int calls = atoi(argv[3]);
  int (*const call)(int*, int*, int, int) = strcmp(argv[1], "bcast") == 0       ? bcast
                                            : strcmp(argv[1], "allreduce") == 0 ? allreduce
                                                                                : alltoallw;
  int* data = calloc((size_t)count * (size_t)ranks, sizeof *data);
  int* got = calloc((size_t)count * (size_t)ranks, sizeof *got);
  int wrong = 0;
  long least = -1;
  allocations = 0;
  if (rank == 1 && argc > 4) fails_at = atol(argv[4]);
  for (int round = 0; round < calls; ++round) {
    const long before = allocations;
    wrong += call(data, got, count, round);
    const long taken = allocations - before;
    if (round >= calls / 2 && (least < 0 || taken < least)) least = taken;
  }
  printf("rank %d: %d wrong, least allocations %ld, all %ld\n", rank, wrong, least, allocations);
  free(data);
  free(got);
  MPI_Finalize();
  return wrong > 0;
}
