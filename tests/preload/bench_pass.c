/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n 1 bench_pass
 * What a call that passes costs, in ns: MPI_Bcast of nothing and MPI_Allreduce of one double on one rank, the least of 20 runs. Compare
 * with and without -x LD_PRELOAD=libpapfft_mpi.so. */
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 200000, RUNS = 20 };

static double bcast_ns(void) {
  const double from = MPI_Wtime();
  for (int i = 0; i < CALLS; ++i) MPI_Bcast(NULL, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return (MPI_Wtime() - from) * 1e9 / CALLS;
}

static double allreduce_ns(void) {
  double one = 1;
  double sum = 0;
  const double from = MPI_Wtime();
  for (int i = 0; i < CALLS; ++i) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (MPI_Wtime() - from) * 1e9 / CALLS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double least[2] = {1e9, 1e9};
  for (int run = 0; run < RUNS; ++run) {
    const double ns[2] = {bcast_ns(), allreduce_ns()};
    for (int i = 0; i < 2; ++i) least[i] = ns[i] < least[i] ? ns[i] : least[i];
  }
  printf("ns per call: bcast %.1f, allreduce %.1f\n", least[0], least[1]);
  MPI_Finalize();
  return 0;
}
