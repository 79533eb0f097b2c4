/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N sums
 * Adds up numbers whose sum depends on the order of adding, by all reductions of MPI, again and again, and prints a hash of all bits of each
 * result. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 140000, MOST_RANKS = 64 };

static uint64_t hash(const double* data, int count) {
  uint64_t h = 0xcbf29ce484222325U;
  const unsigned char* bytes = (const unsigned char*)data;
  for (size_t i = 0; i < (size_t)count * sizeof *data; ++i) h = (h ^ bytes[i]) * 0x100000001b3U;
  return h;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t all = (size_t)COUNT * (size_t)ranks;
  double* mine = malloc(all * sizeof *mine);
  double* sum = calloc(all, sizeof *sum);
  uint64_t state = 88172645463325252U + (uint64_t)rank * 977;
  for (size_t i = 0; i < all; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    mine[i] = (double)(state >> 11) * 1e-13 - (double)(i % 97);
  }
  int counts[MOST_RANKS];
  for (int r = 0; r < ranks; ++r) counts[r] = COUNT - r;
  for (int round = 0; round < 12; ++round) {
    MPI_Reduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    if (rank == ranks - 1) printf("reduce %016llx\n", (unsigned long long)hash(sum, COUNT));
    MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("allreduce %016llx\n", (unsigned long long)hash(sum, COUNT));
    MPI_Reduce_scatter_block(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("reduce_scatter_block of rank %d %016llx\n", rank, (unsigned long long)hash(sum, COUNT));
    MPI_Reduce_scatter(mine, sum, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("reduce_scatter of rank %d %016llx\n", rank, (unsigned long long)hash(sum, counts[rank]));
  }
  MPI_Finalize();
  return 0;
}
