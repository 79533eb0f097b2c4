/* SPDX-License-Identifier: MIT */
/* The C interface: results against MPI's own, states, errors, ways to end. Run by mpirun with any number of ranks:
 * pat_test CASE. C99 and nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "check.h"
#include "papfft/pat.h"

enum { kBlock = 300, kIterations = 6 };

static int* numbers(int count, int seed) {
  int* p = malloc(sizeof(int) * (size_t)count);
  int i;
  CHECK(p != NULL);
  for (i = 0; i < count; ++i) p[i] = (seed + 1) * 1000003 + i * 7919;
  return p;
}

/* Some work, with edges from several threads. */
static void process(int iteration) {
  volatile double x = 0;
  int part;
  OK(PAT_ProcessingStart());
#ifdef _OPENMP
#pragma omp parallel for num_threads(3) schedule(static, 1)
#endif
  for (part = 1; part <= 6; ++part) {
    int i;
    double y = 0;
    for (i = 0; i < 20000 * (1 + (rank + iteration) % 3); ++i) y += sqrt((double)i);
    x = y;
    OK(PAT_Edge(part / 6.0));
  }
  CHECK(x >= 0);
  OK(PAT_ProcessingEnd());
}

static void scatter_is_mpis(const char* algorithm, int iteration, int root) {
  int* whole = numbers(kBlock * size, iteration);
  int* got = numbers(kBlock, -1);
  int* expected = numbers(kBlock, -2);
  MPI_Scatter(whole, kBlock, MPI_INT, expected, kBlock, MPI_INT, root, MPI_COMM_WORLD);
  OK(PAT_Scatter_alg(algorithm, whole, kBlock, MPI_INT, got, kBlock, MPI_INT, root, MPI_COMM_WORLD));
  CHECK(memcmp(got, expected, sizeof(int) * kBlock) == 0);
  free(whole);
  free(got);
  free(expected);
}

static void gather_is_mpis(const char* algorithm, int iteration, int root) {
  int* mine = numbers(kBlock, iteration + rank);
  int* got = numbers(kBlock * size, -1);
  int* expected = numbers(kBlock * size, -1);
  MPI_Gather(mine, kBlock, MPI_INT, expected, kBlock, MPI_INT, root, MPI_COMM_WORLD);
  OK(PAT_Gather_alg(algorithm, mine, kBlock, MPI_INT, got, kBlock, MPI_INT, root, MPI_COMM_WORLD));
  CHECK(memcmp(got, expected, sizeof(int) * (size_t)(kBlock * size)) == 0);
  free(mine);
  free(got);
  free(expected);
}

static void bcast_is_mpis(const char* algorithm, int iteration, int root) {
  int* got = numbers(kBlock, iteration + rank);
  int* expected = numbers(kBlock, iteration + rank);
  MPI_Bcast(expected, kBlock, MPI_INT, root, MPI_COMM_WORLD);
  OK(PAT_Bcast_alg(algorithm, got, kBlock, MPI_INT, root, MPI_COMM_WORLD));
  CHECK(memcmp(got, expected, sizeof(int) * kBlock) == 0);
  free(got);
  free(expected);
}

static void reduce_is_mpis(const char* algorithm, int iteration, int root) {
  int* mine = numbers(kBlock, iteration + rank);
  int* got = numbers(kBlock, -1);
  int* expected = numbers(kBlock, -1);
  MPI_Reduce(mine, expected, kBlock, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
  OK(PAT_Reduce_alg(algorithm, mine, got, kBlock, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD));
  CHECK(memcmp(got, expected, sizeof(int) * kBlock) == 0);
  free(mine);
  free(got);
  free(expected);
}

/* Every name of the header, several iterations each, so that calls are expected, predicted and begun early. */
static void test_results(void) {
  static const struct {
    const char* name; /* as the header has it */
    void (*is_mpis)(const char*, int, int);
  } algorithms[] = {{PAT_Scatter_LIN, scatter_is_mpis}, {PAT_Scatter_BNOM, scatter_is_mpis},
                    {PAT_Scatter_SLN, scatter_is_mpis}, {PAT_Scatter_BSLN, scatter_is_mpis},
                    {PAT_Scatter_SBN, scatter_is_mpis}, {PAT_Scatter_BSBN, scatter_is_mpis},
                    {PAT_Gather_LIN, gather_is_mpis},   {PAT_Gather_LS, gather_is_mpis},
                    {PAT_Gather_BNOM, gather_is_mpis},  {PAT_Gather_SLS, gather_is_mpis},
                    {PAT_Gather_BSLS, gather_is_mpis},  {PAT_Gather_SBN, gather_is_mpis},
                    {PAT_Gather_BSBN, gather_is_mpis},  {PAT_Bcast_BNOM, bcast_is_mpis},
                    {PAT_Reduce_BNOM, reduce_is_mpis},  {"scatter:mpi", scatter_is_mpis},
                    {"gather:mpi", gather_is_mpis},     {"bcast:auto", bcast_is_mpis},
                    {"reduce:mpi", reduce_is_mpis}};
  size_t a;
  OK(PAT_Init());
  for (a = 0; a < sizeof(algorithms) / sizeof(algorithms[0]); ++a) {
    int i;
    const char* name = strchr(algorithms[a].name, ':') + 1;
    OK(PAT_UseAlg(algorithms[a].name));
    for (i = 0; i < kIterations; ++i) {
      process(i);
      algorithms[a].is_mpis(name, i, 0);
      algorithms[a].is_mpis("auto", i, i == kIterations - 1 ? size - 1 : 0);
    }
  }
  OK(PAT_Finalize());
}

/* The macros that carry an algorithm's name, and MPI_IN_PLACE. */
static void test_names(void) {
  int* whole = numbers(kBlock * size, 3);
  int* same = numbers(kBlock * size, 3);
  int* mine = numbers(kBlock, 0);
  int sum = 0;
  int one = rank + 1;
  int i;
  OK(PAT_Init_root(MPI_COMM_WORLD, size - 1));
  for (i = 0; i < kIterations; ++i) {
    process(i);
    if (rank == size - 1) {
      OK(PAT_Scatter_BSLN(whole, kBlock, MPI_INT, MPI_IN_PLACE, kBlock, MPI_INT, size - 1, MPI_COMM_WORLD));
      memset(whole, 0, sizeof(int) * (size_t)(kBlock * (size - 1)));
      OK(PAT_Gather_BSLS(MPI_IN_PLACE, kBlock, MPI_INT, whole, kBlock, MPI_INT, size - 1, MPI_COMM_WORLD));
      CHECK(memcmp(whole, same, sizeof(int) * (size_t)(kBlock * size)) == 0);
    } else {
      OK(PAT_Scatter_BSLN(NULL, 0, MPI_INT, mine, kBlock, MPI_INT, size - 1, MPI_COMM_WORLD));
      CHECK(memcmp(mine, same + kBlock * rank, sizeof(int) * kBlock) == 0);
      OK(PAT_Gather_BSLS(mine, kBlock, MPI_INT, NULL, 0, MPI_INT, size - 1, MPI_COMM_WORLD));
    }
    OK(PAT_Reduce_BNOM(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    OK(PAT_Bcast_BNOM(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK(sum == size * (size + 1) / 2);
  }
  OK(PAT_UseAlg("bnom")); /* known to all four */
  OK(PAT_UseAlg("bsls")); /* to gather alone */
  OK(PAT_UseAlg("mpi"));
  OK(PAT_Finalize());
  free(whole);
  free(same);
  free(mine);
}

static void test_misuse(void) {
  int x = 1;
  int* all = numbers(size, 0);
  MPI_Comm reversed;
  CHECK(PAT_Edge(0.5) == PAT_ERR_NOT_OPEN && message_has("PAT_Init"));
  CHECK(PAT_UseAlg("bsls") == PAT_ERR_NOT_OPEN);
  CHECK(PAT_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD) == PAT_ERR_NOT_OPEN);
  CHECK(PAT_Finalize() == PAT_ERR_NOT_OPEN);
  CHECK(PAT_Init_comm(MPI_COMM_NULL) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Init_root(MPI_COMM_WORLD, size) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Init_root(MPI_COMM_WORLD, -1) == PAT_ERR_ARGUMENT);
  OK(PAT_Init());
  CHECK(PAT_Init() == PAT_ERR_OPEN);

  CHECK(PAT_UseAlg("gather:nonsense") == PAT_ERR_ALGORITHM && message_has("known: ") && message_has("sls"));
  CHECK(PAT_UseAlg("nonsense") == PAT_ERR_ALGORITHM && message_has("scatter") && message_has("bnom"));
  CHECK(PAT_UseAlg("scatter:sls") == PAT_ERR_ALGORITHM);
  CHECK(PAT_UseAlg("alltoall:lin") == PAT_ERR_ALGORITHM && message_has("alltoall"));
  CHECK(PAT_UseAlg("") == PAT_ERR_ALGORITHM);
  CHECK(PAT_UseAlg(NULL) == PAT_ERR_ALGORITHM);
  CHECK(PAT_Bcast_alg("nonsense", &x, 1, MPI_INT, 0, MPI_COMM_WORLD) == PAT_ERR_ALGORITHM);
  CHECK(PAT_Bcast_alg(NULL, &x, 1, MPI_INT, 0, MPI_COMM_WORLD) == PAT_ERR_ALGORITHM);

  CHECK(PAT_Edge(0) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Edge(1.5) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Edge(sqrt(-1.0)) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Bcast(&x, -1, MPI_INT, 0, MPI_COMM_WORLD) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Bcast(&x, 1, MPI_INT, size, MPI_COMM_WORLD) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_NULL) == PAT_ERR_ARGUMENT);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  CHECK(PAT_Bcast(&x, 1, MPI_INT, 0, reversed) == (size == 1 ? PAT_SUCCESS : PAT_ERR_ARGUMENT));
  MPI_Comm_free(&reversed);

  /* None of that has broken anything. */
  OK(PAT_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK(rank != 0 || (all[0] == 1 && all[size - 1] == 1));
  OK(PAT_Finalize());
  CHECK(PAT_Finalize() == PAT_ERR_NOT_OPEN);
  CHECK(PAT_ProcessingStart() == PAT_ERR_NOT_OPEN);
  CHECK(strcmp(PAT_Error_string(PAT_SUCCESS), "no error") == 0);
  CHECK(strlen(PAT_Error_string(PAT_ERR_STUCK)) > 0 && strlen(PAT_Error_string(-1)) > 0);
  free(all);
}

/* Persistent calls: MPI's results, dropped ones, calls out of turn. */
static void test_persistent(void) {
  static const char* const gathers[] = {"auto", "bsls", "bcredit", "bsbn", "sls", "lin", "mpi"};
  int* whole = numbers(kBlock * size, 1);
  int* expected = numbers(kBlock * size, 2);
  int* mine = numbers(kBlock, 3);
  int* got = numbers(kBlock, 4);
  PAT_Request gather = PAT_REQUEST_NULL;
  PAT_Request scatter = PAT_REQUEST_NULL;
  int root = size - 1;
  size_t a;
  int i, k;
  OK(PAT_Init_root(MPI_COMM_WORLD, root));
  for (a = 0; a < sizeof(gathers) / sizeof(gathers[0]); ++a) {
    OK(PAT_Gather_init_alg(gathers[a], mine, kBlock, MPI_INT, whole, kBlock, MPI_INT, root, MPI_COMM_WORLD,
                           &gather));
    for (i = 0; i < kIterations; ++i) {
      OK(PAT_Start(&gather));
      process(i);
      for (k = 0; k < kBlock; ++k) mine[k] = rank * 1009 + i * 31 + k;
      MPI_Gather(mine, kBlock, MPI_INT, expected, kBlock, MPI_INT, root, MPI_COMM_WORLD);
      OK(PAT_Wait(&gather));
      CHECK(rank != root || memcmp(whole, expected, sizeof(int) * (size_t)(kBlock * size)) == 0);
    }
    if (i % 2 == 0) OK(PAT_Start(&gather)); /* dropped by its end */
    OK(PAT_Request_free(&gather));
    CHECK(gather == PAT_REQUEST_NULL);
  }
  OK(PAT_UseAlg("scatter:bsln"));
  OK(PAT_Scatter_init(whole, kBlock, MPI_INT, rank == root ? MPI_IN_PLACE : (void*)got, kBlock, MPI_INT, root,
                      MPI_COMM_WORLD, &scatter));
  OK(PAT_Gather_init(rank == root ? MPI_IN_PLACE : (void*)got, kBlock, MPI_INT, whole, kBlock, MPI_INT, root,
                     MPI_COMM_WORLD, &gather));
  for (i = 0; i < kIterations; ++i) {
    OK(PAT_Start(&scatter));
    for (k = 0; k < kBlock * size; ++k) whole[k] = expected[k] = i * 77 + k;
    OK(PAT_Wait(&scatter));
    CHECK(rank == root || memcmp(got, expected + kBlock * rank, sizeof(int) * kBlock) == 0);
    OK(PAT_Start(&gather));
    process(i);
    OK(PAT_Wait(&gather));
    CHECK(rank != root || memcmp(whole, expected, sizeof(int) * (size_t)(kBlock * size)) == 0);
  }

  CHECK(PAT_Wait(&gather) == PAT_ERR_STATE && message_has("started"));
  OK(PAT_Start(&gather));
  CHECK(PAT_Start(&gather) == PAT_ERR_STATE);
  CHECK(PAT_Start(&scatter) == PAT_ERR_STATE && message_has("another"));
  CHECK(PAT_Bcast(&k, 1, MPI_INT, 0, MPI_COMM_WORLD) == PAT_ERR_STATE);
  OK(PAT_Wait(&gather));
  OK(PAT_Request_free(&gather));
  CHECK(PAT_Start(&gather) == PAT_ERR_ARGUMENT && PAT_Wait(NULL) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Request_free(&gather) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Gather_init(mine, kBlock, MPI_INT, whole, kBlock, MPI_INT, 0, MPI_COMM_WORLD, NULL) ==
        PAT_ERR_ARGUMENT);
  CHECK(PAT_Gather_init(mine, -1, MPI_INT, whole, -1, MPI_INT, 0, MPI_COMM_WORLD, &gather) ==
        PAT_ERR_ARGUMENT);
  CHECK(PAT_Gather_init_alg("magic", mine, 1, MPI_INT, whole, 1, MPI_INT, 0, MPI_COMM_WORLD, &gather) ==
        PAT_ERR_ALGORITHM);
  CHECK(gather == PAT_REQUEST_NULL);
  if (rank != root) {
    CHECK(PAT_Gather_init(MPI_IN_PLACE, kBlock, MPI_INT, whole, kBlock, MPI_INT, root, MPI_COMM_WORLD,
                          &gather) == PAT_ERR_ARGUMENT &&
          message_has("root alone"));
    CHECK(PAT_Scatter_init(whole, kBlock, MPI_INT, MPI_IN_PLACE, kBlock, MPI_INT, root, MPI_COMM_WORLD,
                           &gather) == PAT_ERR_ARGUMENT &&
          message_has("root alone"));
    CHECK(gather == PAT_REQUEST_NULL);
  }
  OK(PAT_Start(&scatter));
  OK(PAT_Finalize());
  CHECK(PAT_Wait(&scatter) == PAT_ERR_NOT_OPEN);
  OK(PAT_Init());
  CHECK(PAT_Start(&scatter) == PAT_ERR_NOT_OPEN && message_has("closed"));
  OK(PAT_Request_free(&scatter));
  OK(PAT_Finalize());
  free(whole);
  free(expected);
  free(mine);
  free(got);
}

/* The ranks disagree (run with PAPFFT_CHECK=1): every one is told, the session stays broken and can be ended. */
static void test_mismatch(void) {
  int x = 0;
  OK(PAT_Init());
  if (size > 1) {
    CHECK(PAT_Bcast(&x, rank == 1 ? 0 : 1, MPI_INT, 0, MPI_COMM_WORLD) == PAT_ERR_MISMATCH);
    CHECK(message_has("rank 1"));
    CHECK(PAT_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD) == PAT_ERR_MISMATCH && message_has("earlier"));
  }
  OK(PAT_Finalize());
}

/* One session after another, on different communicators. */
static void test_again(void) {
  int i;
  for (i = 0; i < 3; ++i) {
    MPI_Comm half;
    int x = rank;
    int first = i == 0 ? 0 : rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, i == 0 ? 0 : rank % 2, rank, &half);
    OK(PAT_Init_comm(half));
    process(i);
    OK(PAT_Bcast(&x, 1, MPI_INT, 0, half));
    CHECK(x == first);
    OK(PAT_Finalize());
    MPI_Comm_free(&half);
  }
}

/* MPI_Finalize ends what PAT_Finalize has not, also when an expected call has begun in the background. */
static void test_forgotten(void) {
  int i;
  OK(PAT_Init());
  for (i = 0; i < kIterations; ++i) {
    process(i);
    gather_is_mpis("bsls", i, 0);
  }
  if (rank % 2 == 1) OK(PAT_Finalize());
}

static int refused_without_mpi(void) {
  return PAT_Init() == PAT_ERR_NO_MPI && PAT_Finalize() == PAT_ERR_NO_MPI && PAT_Edge(0.5) == PAT_ERR_NO_MPI;
}

int main(int argc, char** argv) {
  static const Case cases[] = {{"results", test_results, MPI_THREAD_MULTIPLE},
                               {"results_single", test_results, MPI_THREAD_SERIALIZED},
                               {"names", test_names, MPI_THREAD_MULTIPLE},
                               {"misuse", test_misuse, MPI_THREAD_MULTIPLE},
                               {"persistent", test_persistent, MPI_THREAD_MULTIPLE},
                               {"persistent_single", test_persistent, MPI_THREAD_SERIALIZED},
                               {"again", test_again, MPI_THREAD_MULTIPLE},
                               {"mismatch", test_mismatch, MPI_THREAD_MULTIPLE},
                               {"forgotten", test_forgotten, MPI_THREAD_MULTIPLE}};
  return run_case(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), refused_without_mpi);
}
