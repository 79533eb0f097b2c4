/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N bench_pass [BYTES]
 * What a call that passes costs, in ns, the least of many runs: MPI_Bcast of nothing and MPI_Allreduce of one double, or both of so many bytes.
 * On one rank, compare with and without -x LD_PRELOAD=libpapfft_mpi.so. For long calls, which are looked at more closely, on two ranks:
 * with LD_PRELOAD="libpapfft_mpi.so libnothing.so" and LD_PRELOAD=libnothing.so, so that all that is left is what the library does. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 1000, RUNS = 2000 }; /* short runs, so that some have a core to themselves on a busy machine */

static double bcast_ns(double* data, int count) {
  const double from = MPI_Wtime();
  for (int i = 0; i < CALLS; ++i) MPI_Bcast(data, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return (MPI_Wtime() - from) * 1e9 / CALLS;
}

static double allreduce_ns(const double* data, double* sum, int count) {
  const double from = MPI_Wtime();
  for (int i = 0; i < CALLS; ++i) MPI_Allreduce(data, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (MPI_Wtime() - from) * 1e9 / CALLS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc > 1 ? atoi(argv[1]) / (int)sizeof(double) : 0;
  double* data = calloc((size_t)count + 1, sizeof *data);
  double* sum = calloc((size_t)count + 1, sizeof *sum);
  double least[2] = {1e9, 1e9};
  for (int run = 0; run < RUNS; ++run) {
    const double ns[2] = {bcast_ns(data, count), allreduce_ns(data, sum, count > 0 ? count : 1)};
    for (int i = 0; i < 2; ++i) least[i] = ns[i] < least[i] ? ns[i] : least[i];
  }
  if (rank == 0) printf("ns per call: bcast %.1f, allreduce %.1f\n", least[0], least[1]);
  free(data);
  free(sum);
  MPI_Finalize();
  return 0;
}
