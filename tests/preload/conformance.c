/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N conformance [started|persistent|large]
 * Calls MPI's collectives in all their forms and compares each result, byte by byte, with one that is made of point-to-point messages and
 * MPI_Reduce_local. Knows nothing of papfft: run it with and without libpapfft_mpi.so preloaded.
 * started: by MPI_Ibcast and so on; persistent: by MPI_Bcast_init and so on; large: by those of MPI 4 that count beyond an int, where there
 * are any. */
#include <mpi.h>
#if MPI_VERSION < 4
#include <mpi-ext.h> /* Open MPI's persistent collectives */
#define INIT_OF(Name) MPIX_##Name##_init
#else
#define INIT_OF(Name) MPI_##Name##_init
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 7, MOST_RANKS = 64 };

/* MPICH 4.0.2 cannot do some of this itself. MPI_Scatter of MPI_DOUBLE_INT by another rank than 0 ends with "Message truncated". MPI_Reduce in
 * place to another rank than 0 ends with a segmentation fault. MPI_Reduce_scatter in place ends with an assertion, where a block is longer
 * than all before it. */
#ifdef MPICH_VERSION
enum { WITH_MPICH = 1 };
#else
enum { WITH_MPICH = 0 };
#endif

static int failures;

/* The form in which the collectives are called. */
static enum { BLOCKING, STARTED, PERSISTENT, LARGE } form;

#define CALL_V(Name, name, ...)                            \
  do {                                                     \
    MPI_Request request;                                   \
    if (form == STARTED) {                                 \
      MPI_I##name(__VA_ARGS__, &request);                  \
      MPI_Wait(&request, MPI_STATUS_IGNORE);               \
    } else if (form == PERSISTENT) {                       \
      INIT_OF(Name)(__VA_ARGS__, MPI_INFO_NULL, &request); \
      MPI_Start(&request);                                 \
      MPI_Wait(&request, MPI_STATUS_IGNORE);               \
      MPI_Request_free(&request);                          \
    } else {                                               \
      MPI_##Name(__VA_ARGS__);                             \
    }                                                      \
  } while (0)
#if MPI_VERSION >= 4
#define CALL(Name, name, ...)          \
  do {                                 \
    if (form == LARGE) {               \
      MPI_##Name##_c(__VA_ARGS__);     \
    } else {                           \
      CALL_V(Name, name, __VA_ARGS__); \
    }                                  \
  } while (0)
#else
#define CALL CALL_V
#endif
static const char* shape = "";

/* A datatype, and what its i-th element is on a rank. Sums of all values are exact in any order. */
typedef struct {
  const char* name;
  MPI_Datatype type;
  size_t extent;
  void (*fill)(char* at, size_t i, int rank);
} Kind;

static int value(size_t i, int rank) { return (int)((i * 31 + (size_t)rank * 17) % 101); }

static void fill_int(char* at, size_t i, int rank) {
  const int v = value(i, rank);
  memcpy(at, &v, sizeof v);
}
static void fill_double(char* at, size_t i, int rank) {
  const double v = value(i, rank);
  memcpy(at, &v, sizeof v);
}
static void fill_complex(char* at, size_t i, int rank) {
  const double v[2] = {value(i, rank), value(i + 1, rank)};
  memcpy(at, v, sizeof v);
}
static void fill_pair(char* at, size_t i, int rank) {
  const double v = value(i, rank);
  memcpy(at, &v, sizeof v);
  memcpy(at + sizeof v, &rank, sizeof rank);
}
/* Ints at 0 and 2 of 4. */
static void fill_gapped(char* at, size_t i, int rank) {
  const int v[2] = {value(i, rank), value(i + 1, rank)};
  memcpy(at, &v[0], sizeof v[0]);
  memcpy(at + 2 * sizeof v[1], &v[1], sizeof v[1]);
}
static void fill_two(char* at, size_t i, int rank) {
  const int v[2] = {1 + value(i, rank) % 3, value(i + 1, rank) % 3};
  memcpy(at, v, sizeof v);
}

static char* filled(Kind k, size_t count, int rank) {
  char* data = malloc(count * k.extent + 1);
  memset(data, 0x5a, count * k.extent + 1);
  for (size_t i = 0; i < count; ++i) k.fill(data + i * k.extent, i, rank);
  return data;
}
static char* blank(Kind k, size_t count) {
  char* data = malloc(count * k.extent + 1);
  memset(data, 0x33, count * k.extent + 1);
  return data;
}
static char* copy_of(const char* data, size_t bytes) {
  char* copy = malloc(bytes + 1);
  memcpy(copy, data, bytes + 1);
  return copy;
}

/* Frees both. */
static void expect(const char* what, Kind k, char* got, char* want, size_t count) {
  if (memcmp(got, want, count * k.extent + 1) != 0) {
    ++failures;
    size_t at = 0;
    while (got[at] == want[at]) ++at;
    fprintf(stderr, "%s of %zu %s on %s: byte %zu is wrong\n", what, count, k.name, shape, at);
  }
  free(got);
  free(want);
}

static int rank_of(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
static int size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

/* One message, which may go to oneself. */
static void move(const void* from, int from_count, MPI_Datatype from_type, int source, void* to, int to_count,
                 MPI_Datatype to_type, int target, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank_of(comm) == source) MPI_Isend(from, from_count, from_type, target, TAG, comm, &request);
  if (rank_of(comm) == target) MPI_Recv(to, to_count, to_type, source, TAG, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* All inputs combined in the order of ranks, on all ranks. */
static char* combined(Kind k, size_t count, const char* input, MPI_Op op, MPI_Comm comm) {
  const int n = size_of(comm);
  char* sum = copy_of(input, count * k.extent);
  char* other = copy_of(input, count * k.extent);
  for (int r = n - 1; r >= 0; --r) {
    move(input, (int)count, k.type, r, r == n - 1 ? sum : other, (int)count, k.type, 0, comm);
    if (rank_of(comm) == 0 && r < n - 1) MPI_Reduce_local(other, sum, (int)count, k.type, op);
  }
  free(other);
  for (int r = 1; r < n; ++r) move(sum, (int)count, k.type, 0, sum, (int)count, k.type, r, comm);
  return sum;
}

static void test_bcast(Kind k, int count, int root, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const size_t n = (size_t)count;
  char* got = rank == root ? filled(k, n, root) : blank(k, n);
  char* want = copy_of(got, n * k.extent);
  for (int r = 0; r < size_of(comm); ++r) {
    if (r != root) move(want, count, k.type, root, want, count, k.type, r, comm);
  }
  CALL(Bcast, bcast, got, count, k.type, root, comm);
  expect("bcast", k, got, want, n);
}

/* The same signature by another datatype on the root. */
static void test_bcast_of_two_types(int count, int root, MPI_Comm comm) {
  const Kind k = {"int, of pairs at the root", MPI_INT, sizeof(int), fill_int};
  char* want = filled(k, 2 * (size_t)count, root);
  char* got = rank_of(comm) == root ? filled(k, 2 * (size_t)count, root) : blank(k, 2 * (size_t)count);
  if (rank_of(comm) != root) want[2 * (size_t)count * sizeof(int)] = got[2 * (size_t)count * sizeof(int)];
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  if (rank_of(comm) == root) {
    CALL(Bcast, bcast, got, count, pair, root, comm);
  } else {
    CALL(Bcast, bcast, got, 2 * count, MPI_INT, root, comm);
  }
  MPI_Type_free(&pair);
  expect("bcast", k, got, want, 2 * (size_t)count);
}

static void test_gather(Kind k, int count, int root, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const size_t n = (size_t)count;
  const size_t all = rank == root ? n * (size_t)ranks : 0;
  char* mine = filled(k, n, rank);
  char* got = blank(k, all);
  char* want = blank(k, all);
  for (int r = 0; r < ranks; ++r) {
    char* place = rank == root ? want + (size_t)r * n * k.extent : NULL;
    move(mine, count, k.type, r, place, count, k.type, root, comm);
  }
  if (in_place && rank == root) {
    move(mine, count, k.type, root, got + (size_t)root * n * k.extent, count, k.type, root, comm);
    CALL(Gather, gather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, count, k.type, root, comm);
  } else {
    CALL(Gather, gather, mine, count, k.type, got, count, rank == root ? k.type : MPI_DATATYPE_NULL, root,
         comm);
  }
  free(mine);
  expect(in_place ? "gather in place" : "gather", k, got, want, all);
}

static void test_scatter(Kind k, int count, int root, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const size_t n = (size_t)count;
  char* whole = filled(k, rank == root ? n * (size_t)ranks : 0, root);
  char* got = blank(k, n);
  char* want = blank(k, n);
  for (int r = 0; r < ranks; ++r) {
    if (in_place && r == root) continue;
    const char* place = rank == root ? whole + (size_t)r * n * k.extent : NULL;
    move(place, count, k.type, root, want, count, k.type, r, comm);
  }
  if (in_place && rank == root) {
    CALL(Scatter, scatter, whole, count, k.type, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm);
  } else {
    CALL(Scatter, scatter, whole, count, rank == root ? k.type : MPI_DATATYPE_NULL, got, count, k.type, root,
         comm);
  }
  free(whole);
  expect(in_place ? "scatter in place" : "scatter", k, got, want, n);
}

/* Blocks of unequal size, with gaps between them; rank 1 has nothing. */
typedef struct {
  int counts[MOST_RANKS];
  int displs[MOST_RANKS];
  int end;
} Blocks;

static Blocks blocks_of(int count, int ranks) {
  Blocks b;
  b.end = 0;
  for (int r = 0; r < ranks; ++r) {
    b.counts[r] = r == 1 ? 0 : count + r;
    b.displs[r] = b.end;
    b.end += b.counts[r] + 1;
  }
  return b;
}

static void test_gatherv(Kind k, int count, int root, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const Blocks b = blocks_of(count, ranks);
  const size_t all = rank == root ? (size_t)b.end : 0;
  char* mine = filled(k, (size_t)b.counts[rank], rank);
  char* got = blank(k, all);
  char* want = blank(k, all);
  for (int r = 0; r < ranks; ++r) {
    char* place = rank == root ? want + (size_t)b.displs[r] * k.extent : NULL;
    move(mine, b.counts[r], k.type, r, place, b.counts[r], k.type, root, comm);
  }
  if (in_place && rank == root) {
    move(mine, b.counts[root], k.type, root, got + (size_t)b.displs[root] * k.extent, b.counts[root], k.type,
         root, comm);
    CALL_V(Gatherv, gatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, b.counts, b.displs, k.type, root, comm);
  } else {
    CALL_V(Gatherv, gatherv, mine, b.counts[rank], k.type, got, b.counts, b.displs, k.type, root, comm);
  }
  free(mine);
  expect(in_place ? "gatherv in place" : "gatherv", k, got, want, all);
}

static void test_scatterv(Kind k, int count, int root, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const Blocks b = blocks_of(count, ranks);
  const size_t n = (size_t)b.counts[rank];
  char* whole = filled(k, rank == root ? (size_t)b.end : 0, root);
  char* got = blank(k, n);
  char* want = blank(k, n);
  for (int r = 0; r < ranks; ++r) {
    if (in_place && r == root) continue;
    const char* place = rank == root ? whole + (size_t)b.displs[r] * k.extent : NULL;
    move(place, b.counts[r], k.type, root, want, b.counts[r], k.type, r, comm);
  }
  if (in_place && rank == root) {
    CALL_V(Scatterv, scatterv, whole, b.counts, b.displs, k.type, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root,
           comm);
  } else {
    CALL_V(Scatterv, scatterv, whole, b.counts, b.displs, k.type, got, b.counts[rank], k.type, root, comm);
  }
  free(whole);
  expect(in_place ? "scatterv in place" : "scatterv", k, got, want, n);
}

static void test_allgather(Kind k, int count, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const size_t n = (size_t)count;
  const size_t all = n * (size_t)ranks;
  char* mine = filled(k, n, rank);
  char* got = blank(k, all);
  char* want = blank(k, all);
  for (int s = 0; s < ranks; ++s) {
    for (int t = 0; t < ranks; ++t)
      move(mine, count, k.type, s, want + (size_t)s * n * k.extent, count, k.type, t, comm);
  }
  if (in_place) {
    move(mine, count, k.type, rank, got + (size_t)rank * n * k.extent, count, k.type, rank, comm);
    CALL(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, count, k.type, comm);
  } else {
    CALL(Allgather, allgather, mine, count, k.type, got, count, k.type, comm);
  }
  free(mine);
  expect(in_place ? "allgather in place" : "allgather", k, got, want, all);
}

static void test_allgatherv(Kind k, int count, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const Blocks b = blocks_of(count, ranks);
  char* mine = filled(k, (size_t)b.counts[rank], rank);
  char* got = blank(k, (size_t)b.end);
  char* want = blank(k, (size_t)b.end);
  for (int s = 0; s < ranks; ++s) {
    for (int t = 0; t < ranks; ++t)
      move(mine, b.counts[s], k.type, s, want + (size_t)b.displs[s] * k.extent, b.counts[s], k.type, t, comm);
  }
  if (in_place) {
    move(mine, b.counts[rank], k.type, rank, got + (size_t)b.displs[rank] * k.extent, b.counts[rank], k.type,
         rank, comm);
    CALL_V(Allgatherv, allgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, b.counts, b.displs, k.type, comm);
  } else {
    CALL_V(Allgatherv, allgatherv, mine, b.counts[rank], k.type, got, b.counts, b.displs, k.type, comm);
  }
  free(mine);
  expect(in_place ? "allgatherv in place" : "allgatherv", k, got, want, (size_t)b.end);
}

static void test_alltoall(Kind k, int count, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const size_t block = (size_t)count * k.extent;
  const size_t all = (size_t)count * (size_t)ranks;
  char* mine = filled(k, all, rank);
  char* want = in_place ? copy_of(mine, all * k.extent) : blank(k, all);
  char* got = copy_of(want, all * k.extent);
  for (int s = 0; s < ranks; ++s) {
    for (int t = 0; t < ranks; ++t)
      move(mine + (size_t)t * block, count, k.type, s, want + (size_t)s * block, count, k.type, t, comm);
  }
  if (in_place) {
    CALL(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, count, k.type, comm);
  } else {
    CALL(Alltoall, alltoall, mine, count, k.type, got, count, k.type, comm);
  }
  free(mine);
  expect(in_place ? "alltoall in place" : "alltoall", k, got, want, all);
}

/* Rank s has count + s + t elements for rank t. With a datatype for each block: from a rank of odd number they are blocks of so many. */
static void test_alltoallw(Kind k, int count, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  int counts[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  int ones[MOST_RANKS];
  int displs_bytes[MOST_RANKS];
  MPI_Datatype wholes[MOST_RANKS];
  int end = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count + rank + r;
    displs_bytes[r] = end * (int)k.extent;
    types[r] = k.type;
    MPI_Type_contiguous(counts[r], k.type, &wholes[r]);
    MPI_Type_commit(&wholes[r]);
    ones[r] = 1;
    end += counts[r] + 1;
  }
  char* mine = filled(k, (size_t)end, rank);
  char* want = in_place ? copy_of(mine, (size_t)end * k.extent) : blank(k, (size_t)end);
  char* got = copy_of(want, (size_t)end * k.extent);
  for (int s = 0; s < ranks; ++s) {
    for (int t = 0; t < ranks; ++t)
      move(mine + displs_bytes[t], count + s + t, k.type, s, want + displs_bytes[s], count + s + t, k.type, t,
           comm);
  }
  const int is_odd = rank % 2;
  if (in_place) {
    CALL_V(Alltoallw, alltoallw, MPI_IN_PLACE, NULL, NULL, NULL, got, counts, displs_bytes, types, comm);
  } else {
    CALL_V(Alltoallw, alltoallw, mine, is_odd ? ones : counts, displs_bytes, is_odd ? wholes : types, got,
           counts, displs_bytes, types, comm);
  }
  for (int r = 0; r < ranks; ++r) MPI_Type_free(&wholes[r]);
  free(mine);
  expect(in_place ? "alltoallw in place" : "alltoallw", k, got, want, (size_t)end);
}

/* Rank s has count + s + t elements for rank t. */
static void test_alltoallv(Kind k, int count, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  int counts[MOST_RANKS];
  int displs[MOST_RANKS];
  int end = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count + rank + r;
    displs[r] = end;
    end += counts[r] + 1;
  }
  char* mine = filled(k, (size_t)end, rank);
  char* want = in_place ? copy_of(mine, (size_t)end * k.extent) : blank(k, (size_t)end);
  char* got = copy_of(want, (size_t)end * k.extent);
  for (int s = 0; s < ranks; ++s) {
    for (int t = 0; t < ranks; ++t)
      move(mine + (size_t)displs[t] * k.extent, count + s + t, k.type, s, want + (size_t)displs[s] * k.extent,
           count + s + t, k.type, t, comm);
  }
  if (in_place) {
    CALL_V(Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, got, counts, displs, k.type,
           comm);
  } else {
    CALL_V(Alltoallv, alltoallv, mine, counts, displs, k.type, got, counts, displs, k.type, comm);
  }
  free(mine);
  expect(in_place ? "alltoallv in place" : "alltoallv", k, got, want, (size_t)end);
}

static void test_reduce(Kind k, MPI_Op op, int count, int root, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const size_t n = (size_t)count;
  char* mine = filled(k, n, rank);
  char* sum = combined(k, n, mine, op, comm);
  char* got = in_place && rank == root ? copy_of(mine, n * k.extent) : blank(k, n);
  char* want = copy_of(got, n * k.extent);
  if (rank == root) move(sum, count, k.type, rank, want, count, k.type, rank, comm);
  CALL(Reduce, reduce, in_place && rank == root ? MPI_IN_PLACE : mine, got, count, k.type, op, root, comm);
  free(mine);
  free(sum);
  expect(in_place ? "reduce in place" : "reduce", k, got, want, n);
}

static void test_allreduce(Kind k, MPI_Op op, int count, int in_place, MPI_Comm comm) {
  const size_t n = (size_t)count;
  char* mine = filled(k, n, rank_of(comm));
  char* sum = combined(k, n, mine, op, comm);
  char* got = in_place ? copy_of(mine, n * k.extent) : blank(k, n);
  char* want = copy_of(got, n * k.extent);
  move(sum, count, k.type, rank_of(comm), want, count, k.type, rank_of(comm), comm);
  CALL(Allreduce, allreduce, in_place ? MPI_IN_PLACE : mine, got, count, k.type, op, comm);
  free(mine);
  free(sum);
  expect(in_place ? "allreduce in place" : "allreduce", k, got, want, n);
}

/* @param blocks  of one size, or of several: then rank 1 gets nothing */
static void test_reduce_scatter(Kind k, MPI_Op op, int count, int of_one_size, int in_place, MPI_Comm comm) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  int counts[MOST_RANKS];
  size_t before = 0;
  size_t all = 0;
  for (int r = 0; r < ranks; ++r) {
    counts[r] = of_one_size ? count : r == 1 ? 0 : count + r;
    if (r < rank) before += (size_t)counts[r];
    all += (size_t)counts[r];
  }
  char* mine = filled(k, all, rank);
  char* sum = combined(k, all, mine, op, comm);
  char* got = in_place ? copy_of(mine, all * k.extent) : blank(k, all);
  /* Of a vector in place, MPI leaves the rest undefined. */
  const size_t n = (size_t)counts[rank];
  char* want = blank(k, n);
  if (in_place) memcpy(want, got, n * k.extent + 1);
  move(sum + before * k.extent, (int)n, k.type, rank, want, (int)n, k.type, rank, comm);
  const void* send = in_place ? MPI_IN_PLACE : mine;
  if (of_one_size) {
    CALL(Reduce_scatter_block, reduce_scatter_block, send, got, count, k.type, op, comm);
  } else {
    CALL_V(Reduce_scatter, reduce_scatter, send, got, counts, k.type, op, comm);
  }
  free(mine);
  free(sum);
  got[n * k.extent] = want[n * k.extent];
  expect(of_one_size ? "reduce_scatter_block" : "reduce_scatter", k, got, want, n);
}

/* 2-vectors (a, b) as functions x -> a x + b, one after the other: associative, not commutative, exact modulo 2^32. */
static void after(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const unsigned* f = in;
  unsigned* g = inout;
  for (int i = 0; i < *count; ++i, f += 2, g += 2) {
    g[1] = g[0] * f[1] + g[1];
    g[0] = g[0] * f[0];
  }
}
static void add_twos(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const int* a = in;
  int* b = inout;
  for (int i = 0; i < 2 * *count; ++i) b[i] += a[i];
}

typedef struct {
  Kind of_int, of_double, of_complex, of_pair, gapped, two;
  MPI_Op ordered, add;
} Kinds;

/* @param most  of the kinds of elements */
static void test_reductions(const Kinds* all, size_t most, int bytes, int root, MPI_Comm comm) {
  const struct {
    Kind kind;
    MPI_Op op;
  } cases[] = {{all->of_int, MPI_SUM},    {all->of_int, MPI_BXOR},    {all->of_double, MPI_SUM},
               {all->of_double, MPI_MAX}, {all->of_complex, MPI_SUM}, {all->of_pair, MPI_MAXLOC},
               {all->two, all->add},      {all->two, all->ordered}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0] && c < most; ++c) {
    const Kind k = cases[c].kind;
    const MPI_Op op = cases[c].op;
    const int count = 1 + bytes / (int)k.extent;
    for (int in_place = 0; in_place < 2; ++in_place) {
      test_reduce(k, op, count, WITH_MPICH && in_place ? 0 : root, in_place, comm);
      test_allreduce(k, op, count, in_place, comm);
      test_reduce_scatter(k, op, 1 + count / 4, 1, in_place, comm);
      if (!WITH_MPICH || !in_place) test_reduce_scatter(k, op, 1 + count / 4, 0, in_place, comm);
    }
  }
}

static void test_moves(const Kinds* all, size_t most, int bytes, int root, MPI_Comm comm) {
  const Kind kinds[] = {all->gapped, all->of_int, all->of_pair};
  const size_t all_kinds = sizeof kinds / sizeof kinds[0] - (WITH_MPICH ? 1 : 0);
  for (size_t c = 0; c < all_kinds && c < most; ++c) {
    const Kind k = kinds[c];
    const int count = 1 + bytes / (int)k.extent;
    test_bcast(k, count, root, comm);
    for (int in_place = 0; in_place < 2; ++in_place) {
      test_gather(k, count / 4 + 1, root, in_place, comm);
      test_scatter(k, count / 4 + 1, root, in_place, comm);
      test_gatherv(k, count / 4 + 1, root, in_place, comm);
      test_scatterv(k, count / 4 + 1, root, in_place, comm);
      test_allgather(k, count / 4 + 1, in_place, comm);
      test_allgatherv(k, count / 4 + 1, in_place, comm);
      test_alltoall(k, count / 4 + 1, in_place, comm);
      test_alltoallv(k, count / 4 + 1, in_place, comm);
      test_alltoallw(k, count / 4 + 1, in_place, comm);
    }
  }
  test_bcast_of_two_types(1 + bytes / 8, root, comm);
}

static void test_all(const Kinds* all, size_t most, const char* name, int bytes, MPI_Comm comm) {
  shape = name;
  const int root = size_of(comm) - 1;
  test_moves(all, most, bytes, root, comm);
  test_reductions(all, most, bytes, root, comm);
}

/* A bcast and an allreduce between the lower and the upper half of the ranks. */
static void test_intercommunicator(int bytes) {
  const int rank = rank_of(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 2) return;
  const int upper = rank >= ranks / 2;
  MPI_Comm half;
  MPI_Comm inter;
  MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : ranks / 2, TAG, &inter);
  const Kind k = {"int", MPI_INT, sizeof(int), fill_int};
  const int count = bytes / (int)sizeof(int);
  shape = "an intercommunicator";
  char* got = rank == 0 ? filled(k, (size_t)count, 0) : blank(k, (size_t)count);
  char* want = upper ? filled(k, (size_t)count, 0) : copy_of(got, (size_t)count * k.extent);
  if (upper) want[(size_t)count * k.extent] = 0x33;
  MPI_Bcast(got, count, MPI_INT, upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  expect("bcast", k, got, want, (size_t)count);
  int others = 0;
  const int one = 1;
  MPI_Allreduce(&one, &others, 1, MPI_INT, MPI_SUM, inter);
  if (others != (upper ? ranks / 2 : ranks - ranks / 2)) ++failures;
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void expect_class(const char* what, int code, int expected) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  if (class == expected) return;
  ++failures;
  fprintf(stderr, "%s: error class %d instead of %d\n", what, class, expected);
}

/* What MPI refuses comes back as its error, and the communicator works afterwards. */
static void test_errors(int bytes) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* where Open MPI reports one buffer for both */
  const int count = bytes / (int)sizeof(double);
  double* data = calloc((size_t)count + 1, sizeof(double));
  double* other = calloc((size_t)count + 1, sizeof(double));
  MPI_Datatype uncommitted;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &uncommitted);
  expect_class("a root that is not there", MPI_Bcast(data, count, MPI_DOUBLE, size_of(comm), comm),
               MPI_ERR_ROOT);
  expect_class("a negative count", MPI_Bcast(data, -1, MPI_DOUBLE, 0, comm), MPI_ERR_COUNT);
  expect_class("no datatype", MPI_Bcast(data, count, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
  expect_class("a datatype without commit", MPI_Bcast(data, count / 4, uncommitted, 0, comm), MPI_ERR_TYPE);
  expect_class("an operation on another datatype",
               MPI_Allreduce(data, other, count, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
  expect_class("no operation", MPI_Allreduce(data, other, count, MPI_DOUBLE, MPI_OP_NULL, comm), MPI_ERR_OP);
  if (form != STARTED) { /* whose test counts the blocking calls */
    expect_class("one buffer for both", MPI_Allreduce(data, data, count, MPI_DOUBLE, MPI_SUM, comm),
                 MPI_ERR_BUFFER);
#ifdef OPEN_MPI /* MPICH takes it */
    expect_class("a logical operation on Fortran's integers",
                 MPI_Allreduce(data, other, count, MPI_INTEGER, MPI_LAND, comm), MPI_ERR_OP);
#endif
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Type_free(&uncommitted);
  free(data);
  free(other);
  const Kind k = {"double", MPI_DOUBLE, sizeof(double), fill_double};
  shape = "a communicator after errors";
  test_bcast(k, count, 0, comm);
  MPI_Comm_free(&comm);
}

/* The program's attributes are not copied: nobody duplicates its communicator. */
static int copies;
static int count_copy(MPI_Comm comm, int keyval, void* extra, void* value_in, void* value_out, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)value_in, (void)value_out;
  ++copies;
  *flag = 0;
  return MPI_SUCCESS;
}
static void test_attributes(int bytes) {
  MPI_Comm comm;
  int keyval;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, NULL);
  shape = "a communicator with an attribute";
  const Kind k = {"double", MPI_DOUBLE, sizeof(double), fill_double};
  test_bcast(k, bytes / 8, 0, comm);
  if (copies != 0) {
    ++failures;
    fprintf(stderr, "the program's attribute was copied\n");
  }
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&keyval);
}

/* Many communicators that come and go. */
static void test_many(int bytes) {
  shape = "one of many communicators";
  const Kind k = {"double", MPI_DOUBLE, sizeof(double), fill_double};
  for (int round = 0; round < 20; ++round) {
    MPI_Comm comms[5];
    for (int i = 0; i < 5; ++i)
      MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank_of(MPI_COMM_WORLD) : 0, &comms[i]);
    for (int i = 0; i < 5; ++i) test_bcast(k, bytes / 8, i % size_of(comms[i]), comms[i]);
    for (int i = 0; i < 5; ++i) MPI_Comm_free(&comms[i]);
  }
}

/* MPI_Finalize deletes attributes of MPI_COMM_SELF first; libraries such as HDF5 communicate then. */
static int at_end(MPI_Comm comm, int keyval, void* value_in, void* extra) {
  (void)comm, (void)keyval, (void)value_in, (void)extra;
  const Kind k = {"double", MPI_DOUBLE, sizeof(double), fill_double};
  shape = "MPI_COMM_WORLD when MPI_Finalize begins";
  test_bcast(k, 1 << 18, 0, MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

/* Several calls under way at once, and a blocking call beside them. Where papfft carries them out, one of their communicators is freed
 * meanwhile. Open MPI 4.1 keeps no communicator for its own MPI_Iallreduce, and crashes when another rank comes later than MPI_Comm_free. */
static void test_together(int bytes) {
  enum { CALLS = 6 };
  const Kind k = {"double", MPI_DOUBLE, sizeof(double), fill_double};
  const int count = bytes / (int)sizeof(double);
  const size_t n = (size_t)count;
  const int rank = rank_of(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  MPI_Comm comms[2];
  MPI_Request requests[CALLS];
  char* got[CALLS];
  char* mine = filled(k, n, rank);
  shape = "several communicators at once";
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int c = 0; c < CALLS; ++c) {
    /* Each rank begins with another communicator. On each, the first call is a bcast, and so on. */
    MPI_Comm comm = comms[(c + rank) % 2];
    const int root = c / 2 % ranks;
    const int is_bcast = c / 2 % 2 == 0;
    got[c] = is_bcast && rank == root ? filled(k, n, root) : blank(k, n);
    if (is_bcast) {
      MPI_Ibcast(got[c], count, MPI_DOUBLE, root, comm, &requests[c]);
    } else {
      MPI_Iallreduce(mine, got[c], count, MPI_DOUBLE, MPI_SUM, comm, &requests[c]);
    }
  }
  const int is_freed_early = getenv("PAPFFT_NONBLOCKING") != NULL;
  if (is_freed_early) MPI_Comm_free(&comms[1]);
  test_bcast(k, count, 0, comms[0]);
  MPI_Status statuses[CALLS]; /* GCC 12 warns of MPI_STATUSES_IGNORE with the header of MPICH 4.0 */
  MPI_Waitall(CALLS, requests, statuses);
  for (int c = 0; c < CALLS; ++c) {
    char* want = c / 2 % 2 == 0 ? filled(k, n, c / 2 % ranks) : combined(k, n, mine, MPI_SUM, MPI_COMM_WORLD);
    want[n * k.extent] = got[c][n * k.extent];
    expect("call under way with others", k, got[c], want, n);
  }
  free(mine);
  if (!is_freed_early) MPI_Comm_free(&comms[1]);
  MPI_Comm_free(&comms[0]);
}

/* Persistent calls that are started again and again, several of them at once, with other data each time. Their communicator and datatype
 * have been freed, and the list of counts is gone. */
static void test_again(int bytes) {
  enum { CALLS = 3, ROUNDS = 4 };
  const Kind k = {"double", MPI_DOUBLE, sizeof(double), fill_double};
  const int rank = rank_of(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  const int count = bytes / (int)sizeof(double);
  const size_t n = (size_t)count;
  double* mine = malloc(n * sizeof *mine);
  double* sum = malloc(n * sizeof *sum);
  double* told = malloc(n * sizeof *told);
  double* all = malloc(n * (size_t)ranks * sizeof *all);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Datatype type;
  MPI_Type_contiguous(1, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  int counts[MOST_RANKS];
  int displs[MOST_RANKS];
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count;
    displs[r] = r * count;
  }
  MPI_Request requests[CALLS];
  INIT_OF(Bcast)(told, count, type, ranks - 1, comm, MPI_INFO_NULL, &requests[0]);
  INIT_OF(Allreduce)(mine, sum, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]);
  INIT_OF(Allgatherv)
  (mine, count, MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, comm, MPI_INFO_NULL, &requests[2]);
  memset(counts, 0, sizeof counts);
  memset(displs, 0, sizeof displs);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  int wrong = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    for (size_t i = 0; i < n; ++i) {
      mine[i] = value(i, rank) + round;
      told[i] = rank == ranks - 1 ? value(i, rank) + 7 * round : -1;
      sum[i] = all[i] = -1;
    }
    if (round % 2 == 0) {
      MPI_Startall(CALLS, requests);
    } else {
      for (int c = 0; c < CALLS; ++c) MPI_Start(&requests[c]);
    }
    int is_done = 0;
    MPI_Status statuses[CALLS]; /* as in test_together */
    while (round == 1 && !is_done) MPI_Testall(CALLS, requests, &is_done, statuses);
    MPI_Waitall(CALLS, requests, statuses);
    for (size_t i = 0; i < n; ++i) {
      double expected = 0;
      for (int r = 0; r < ranks; ++r) {
        expected += value(i, r) + round;
        wrong += all[(size_t)r * n + i] != value(i, r) + round;
      }
      wrong += sum[i] != expected;
      wrong += told[i] != value(i, ranks - 1) + 7 * round;
    }
  }
  for (int c = 0; c < CALLS; ++c) MPI_Request_free(&requests[c]);
  if (wrong > 0) {
    ++failures;
    fprintf(stderr, "persistent calls that are started again: %d wrong values of %s\n", wrong, k.name);
  }
  free(mine);
  free(sum);
  free(told);
  free(all);
}

static int is_named(const char* word, const char* name) { return strcmp(word, name) == 0; }

int main(int argc, char** argv) {
  int provided;
  if (argc > 1)
    form = is_named(argv[1], "started") ? STARTED : is_named(argv[1], "persistent") ? PERSISTENT : LARGE;
  if (form == STARTED || form == PERSISTENT) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  const int rank = rank_of(MPI_COMM_WORLD);
  const int long_bytes = 1050000;
  const int short_bytes = 40;
  Kinds all = {{"int", MPI_INT, sizeof(int), fill_int},
               {"double", MPI_DOUBLE, sizeof(double), fill_double},
               {"complex", MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double), fill_complex},
               {"pair", MPI_DOUBLE_INT, 16, fill_pair},
               {"gapped", MPI_DATATYPE_NULL, 4 * sizeof(int), fill_gapped},
               {"two", MPI_DATATYPE_NULL, 2 * sizeof(int), fill_two},
               MPI_OP_NULL,
               MPI_OP_NULL};
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &all.gapped.type);
  MPI_Type_commit(&all.gapped.type);
  MPI_Type_free(&vector);
  MPI_Type_contiguous(2, MPI_INT, &all.two.type);
  MPI_Type_commit(&all.two.type);
  MPI_Op_create(after, 0, &all.ordered);
  MPI_Op_create(add_twos, 1, &all.add);

  test_all(&all, 8, "MPI_COMM_WORLD", long_bytes, MPI_COMM_WORLD);
  test_all(&all, 8, "MPI_COMM_WORLD", short_bytes, MPI_COMM_WORLD);
  test_all(&all, 1, "MPI_COMM_SELF", long_bytes, MPI_COMM_SELF);
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  test_all(&all, 1, "all ranks in reverse", long_bytes, comm);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
  test_all(&all, 1, "every other rank", long_bytes, comm);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
  if (comm != MPI_COMM_NULL) {
    test_all(&all, 1, "all ranks but one", long_bytes, comm);
    MPI_Comm_free(&comm);
  }
  test_intercommunicator(long_bytes);
  test_errors(long_bytes);
  test_attributes(long_bytes);
  test_many(long_bytes / 4);
  if (form == STARTED) test_together(long_bytes);
  if (form == PERSISTENT) test_again(long_bytes);

  MPI_Op_free(&all.ordered);
  MPI_Op_free(&all.add);
  MPI_Type_free(&all.gapped.type);
  MPI_Type_free(&all.two.type);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  MPI_Comm_free_keyval(&keyval);
  MPI_Finalize();
  if (rank == 0) printf("%d failures\n", failures);
  return failures != 0;
}
