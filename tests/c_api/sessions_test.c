/* SPDX-License-Identifier: MIT */
/* The C interface: every operation in all forms and variants against MPI's own, started calls, any number of sessions. Run by mpirun with any
 * number of ranks: sessions_test CASE. C99 and nothing else. */
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "check.h"
#include "papfft/pat.h"

enum { kBlock = 120, kMostRanks = 16, kMost = kBlock * (kMostRanks + 1) };

typedef enum Form { kBlocking, kStarted, kPersistent } Form;

/* What a call is made on: a session, or PAT_SESSION_NULL for the papers' one; by a name, or NULL for the plain variant; in which form. */
typedef struct Target {
  PAT_Session session;
  MPI_Comm comm;
  const char* algorithm;
  Form form;
  int rank, size;
} Target;

static Target target_of(PAT_Session session, MPI_Comm comm, const char* algorithm, Form form) {
  Target t;
  t.session = session;
  t.comm = comm;
  t.algorithm = algorithm;
  t.form = form;
  MPI_Comm_rank(comm, &t.rank);
  MPI_Comm_size(comm, &t.size);
  CHECK(t.size <= kMostRanks);
  return t;
}

/* One of the four variants. */
#define VARIANT(t, Name, name, ...)                                                       \
  ((t).session == PAT_SESSION_NULL                                                        \
       ? ((t).algorithm == NULL ? PAT_##Name(__VA_ARGS__, (t).comm)                       \
                                : PAT_##Name##_alg((t).algorithm, __VA_ARGS__, (t).comm)) \
       : ((t).algorithm == NULL ? PAT_Session_##name((t).session, __VA_ARGS__)            \
                                : PAT_Session_##name##_alg((t).session, (t).algorithm, __VA_ARGS__)))
/* The same with a place for a request. */
#define MAKE(t, Name, name, request, ...)                                                          \
  ((t).session == PAT_SESSION_NULL                                                                 \
       ? ((t).algorithm == NULL ? PAT_##Name(__VA_ARGS__, (t).comm, request)                       \
                                : PAT_##Name##_alg((t).algorithm, __VA_ARGS__, (t).comm, request)) \
       : ((t).algorithm == NULL                                                                    \
              ? PAT_Session_##name((t).session, __VA_ARGS__, request)                              \
              : PAT_Session_##name##_alg((t).session, (t).algorithm, __VA_ARGS__, request)))
/* The call in the target's form, from its beginning to its end. */
#define CALL(t, Name, name, ...)                                                             \
  ((t).form == kBlocking  ? VARIANT(t, Name, name, __VA_ARGS__)                              \
   : (t).form == kStarted ? finish_started(MAKE(t, I##name, i##name, &request, __VA_ARGS__)) \
                          : run_persistent(MAKE(t, Name##_init, name##_init, &request, __VA_ARGS__)))

static PAT_Request request = PAT_REQUEST_NULL;
static int started_calls = 0;
#ifdef _OPENMP
#pragma omp threadprivate(request, started_calls)
#endif

static int finish_started(int made) {
  int done = 0;
  const int by_test = started_calls++ % 2;
  OK(made);
  if (!by_test) OK(PAT_Wait(&request));
  while (by_test && !done) OK(PAT_Test(&request, &done));
  CHECK(request == PAT_REQUEST_NULL);
  return PAT_SUCCESS;
}

static int run_persistent(int made) {
  OK(made);
  OK(PAT_Start(&request));
  OK(PAT_Wait(&request));
  OK(PAT_Request_free(&request));
  return PAT_SUCCESS;
}

typedef struct Buffers {
  int send[kMost], got[kMost], expected[kMost];
  int counts[kMostRanks], displs[kMostRanks];
} Buffers;

static void fill(Buffers* b, int seed) {
  int i;
  for (i = 0; i < kMost; ++i) {
    b->send[i] = seed * 1000003 + i * 7919;
    b->got[i] = b->expected[i] = -1 - i;
  }
  for (i = 0; i < kMostRanks; ++i) {
    b->counts[i] = i % 3 == 2 ? 0 : kBlock - i;
    b->displs[i] = i == 0 ? 3 : b->displs[i - 1] + b->counts[i - 1] + i % 2; /* with gaps */
  }
}

static void require_same(const Buffers* b) { CHECK(memcmp(b->got, b->expected, sizeof(b->got)) == 0); }

static void scatter_is_mpis(Target t, Buffers* b, int root) {
  MPI_Scatter(b->send, kBlock, MPI_INT, b->expected, kBlock, MPI_INT, root, t.comm);
  OK(CALL(t, Scatter, scatter, b->send, kBlock, MPI_INT, b->got, kBlock, MPI_INT, root));
}
static void gather_is_mpis(Target t, Buffers* b, int root) {
  MPI_Gather(b->send, kBlock, MPI_INT, b->expected, kBlock, MPI_INT, root, t.comm);
  OK(CALL(t, Gather, gather, b->send, kBlock, MPI_INT, b->got, kBlock, MPI_INT, root));
}
static void bcast_is_mpis(Target t, Buffers* b, int root) {
  memcpy(b->got, b->send, sizeof(b->got));
  memcpy(b->expected, b->send, sizeof(b->got));
  MPI_Bcast(b->expected, kBlock, MPI_INT, root, t.comm);
  OK(CALL(t, Bcast, bcast, b->got, kBlock, MPI_INT, root));
}
static void reduce_is_mpis(Target t, Buffers* b, int root) {
  MPI_Reduce(b->send, b->expected, kBlock, MPI_INT, MPI_MAX, root, t.comm);
  OK(CALL(t, Reduce, reduce, b->send, b->got, kBlock, MPI_INT, MPI_MAX, root));
}
static void allgather_is_mpis(Target t, Buffers* b, int root) {
  (void)root;
  MPI_Allgather(b->send, kBlock, MPI_INT, b->expected, kBlock, MPI_INT, t.comm);
  OK(CALL(t, Allgather, allgather, b->send, kBlock, MPI_INT, b->got, kBlock, MPI_INT));
}
static void allgatherv_is_mpis(Target t, Buffers* b, int root) {
  (void)root;
#ifdef MPICH_VERSION /* which takes no notice of the displacement where there is one rank (4.0.2) */
  if (t.size == 1) b->displs[0] = 0;
#endif
  MPI_Allgatherv(b->send, b->counts[t.rank], MPI_INT, b->expected, b->counts, b->displs, MPI_INT, t.comm);
  OK(CALL(t, Allgatherv, allgatherv, b->send, b->counts[t.rank], MPI_INT, b->got, b->counts, b->displs,
          MPI_INT));
}
static void allreduce_is_mpis(Target t, Buffers* b, int root) {
  (void)root;
  MPI_Allreduce(b->send, b->expected, kBlock, MPI_INT, MPI_SUM, t.comm);
  OK(CALL(t, Allreduce, allreduce, b->send, b->got, kBlock, MPI_INT, MPI_SUM));
}
static void reduce_scatter_is_mpis(Target t, Buffers* b, int root) {
  (void)root;
  MPI_Reduce_scatter(b->send, b->expected, b->counts, MPI_INT, MPI_SUM, t.comm);
  OK(CALL(t, Reduce_scatter, reduce_scatter, b->send, b->got, b->counts, MPI_INT, MPI_SUM));
}
static void reduce_scatter_block_is_mpis(Target t, Buffers* b, int root) {
  (void)root;
  MPI_Reduce_scatter_block(b->send, b->expected, kBlock, MPI_INT, MPI_SUM, t.comm);
  OK(CALL(t, Reduce_scatter_block, reduce_scatter_block, b->send, b->got, kBlock, MPI_INT, MPI_SUM));
}

static void alltoall_is_mpis(Target t, Buffers* b, int root) {
  (void)root;
  MPI_Alltoall(b->send, kBlock, MPI_INT, b->expected, kBlock, MPI_INT, t.comm);
  OK(CALL(t, Alltoall, alltoall, b->send, kBlock, MPI_INT, b->got, kBlock, MPI_INT));
}
/* Rank a has as much for rank b as rank (a + b) mod P would have in the other calls. */
static void alltoallv_is_mpis(Target t, Buffers* b, int root) {
  int counts[kMostRanks], displs[kMostRanks], r;
  (void)root;
  for (r = 0; r < t.size; ++r) {
    counts[r] = b->counts[(t.rank + r) % t.size];
    displs[r] = 3 + r * kBlock;
  }
  MPI_Alltoallv(b->send, counts, displs, MPI_INT, b->expected, counts, displs, MPI_INT, t.comm);
  OK(CALL(t, Alltoallv, alltoallv, b->send, counts, displs, MPI_INT, b->got, counts, displs, MPI_INT));
}
static void alltoallw_is_mpis(Target t, Buffers* b, int root) {
  int counts[kMostRanks], displs[kMostRanks], r;
  MPI_Datatype types[kMostRanks];
  (void)root;
  for (r = 0; r < t.size; ++r) {
    const int as_bytes = (t.rank + r) % 2;
    types[r] = as_bytes ? MPI_BYTE : MPI_INT;
    counts[r] = as_bytes ? 3 : b->counts[(t.rank + r) % t.size];
    displs[r] = r * kBlock * (int)sizeof(int);
  }
  MPI_Alltoallw(b->send, counts, displs, types, b->expected, counts, displs, types, t.comm);
  OK(CALL(t, Alltoallw, alltoallw, b->send, counts, displs, types, b->got, counts, displs, types));
}
static void gatherv_is_mpis(Target t, Buffers* b, int root) {
  const int mine = b->counts[t.rank];
  MPI_Gatherv(b->send, mine, MPI_INT, b->expected, b->counts, b->displs, MPI_INT, root, t.comm);
  OK(CALL(t, Gatherv, gatherv, b->send, mine, MPI_INT, b->got, b->counts, b->displs, MPI_INT, root));
}
static void scatterv_is_mpis(Target t, Buffers* b, int root) {
  const int mine = b->counts[t.rank];
  MPI_Scatterv(b->send, b->counts, b->displs, MPI_INT, b->expected, mine, MPI_INT, root, t.comm);
  OK(CALL(t, Scatterv, scatterv, b->send, b->counts, b->displs, MPI_INT, b->got, mine, MPI_INT, root));
}

static const struct {
  void (*is_mpis)(Target, Buffers*, int);
  const char* algorithms[3]; /* for the named form */
} kOperations[] = {{scatter_is_mpis, {"lin", "bsln", "mpi"}},
                   {gather_is_mpis, {"bsls", "credit", "mpi"}},
                   {bcast_is_mpis, {"circulant", "bnom", "mpi"}},
                   {reduce_is_mpis, {"rab", "papbi", "mpi"}},
                   {allgather_is_mpis, {"ring", "circulant", "mpi"}},
                   {allgatherv_is_mpis, {"ring", "circulant", "mpi"}},
                   {allreduce_is_mpis, {"ring", "recursive-doubling", "mpi"}},
                   {reduce_scatter_is_mpis, {"ring", "circulant-n", "mpi"}},
                   {reduce_scatter_block_is_mpis, {"ring", "circulant", "mpi"}},
                   {alltoall_is_mpis, {"circulant", "bcredit", "mpi"}},
                   {alltoallv_is_mpis, {"pairwise", "credit", "mpi"}},
                   {alltoallw_is_mpis, {"linear", "credit", "mpi"}},
                   {gatherv_is_mpis, {"bsls", "credit", "mpi"}},
                   {scatterv_is_mpis, {"lin", "bsln", "mpi"}}};
enum { kOperationCount = sizeof(kOperations) / sizeof(kOperations[0]) };

/* Every operation, plain and by three names, in every form. MPI's own calls cannot be started. */
static void all_operations(PAT_Session session, MPI_Comm comm, int seed) {
  Buffers* const b = malloc(sizeof(Buffers));
  int o, a;
  CHECK(b != NULL);
  for (o = 0; o < kOperationCount; ++o) {
    for (a = 0; a < 12; ++a) {
      const char* const name = a % 4 == 3 ? NULL : kOperations[o].algorithms[a % 4];
      const Form form = (Form)(a / 4);
      const Target t = target_of(session, comm, name, form);
      if (form == kStarted && name != NULL && strcmp(name, "mpi") == 0) continue;
      fill(b, seed + 17 * t.rank + a);
      kOperations[o].is_mpis(t, b, (o + a) % t.size);
      require_same(b);
    }
  }
  free(b);
}

static void test_one(void) {
  PAT_Statistics statistics;
  OK(PAT_Init());
  all_operations(PAT_SESSION_NULL, MPI_COMM_WORLD, 1);
  OK(PAT_Get_statistics(&statistics));
  CHECK(statistics.calls > 14 * 4 && statistics.clock_uncertainty_ns >= 0);
  OK(PAT_Finalize());
}

static MPI_Comm split(int color, int key) {
  MPI_Comm result;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &result);
  return result;
}

/* Sessions on the world, on halves and on the world the other way round, besides the one, with calls in turns. */
static void test_sessions(void) {
  PAT_Session world = PAT_SESSION_NULL, half = PAT_SESSION_NULL, reversed = PAT_SESSION_NULL;
  PAT_Statistics of_world, of_half;
  MPI_Comm comms[2];
  int i;
  comms[0] = split(rank % 2, rank);
  comms[1] = split(0, -rank);
  OK(PAT_Session_open(MPI_COMM_WORLD, size - 1, &world));
  OK(PAT_Session_open(comms[0], 0, &half));
  OK(PAT_Init_comm(comms[1]));
  OK(PAT_Session_open(comms[1], 0, &reversed));
  OK(PAT_Session_use_alg(half, "gather:bsls"));
  for (i = 0; i < 2; ++i) {
    int x = rank, sum = 0, all = 0;
    PAT_Request pending = PAT_REQUEST_NULL;
    all_operations(world, MPI_COMM_WORLD, i);
    OK(PAT_Session_processing_start(half));
    OK(PAT_Session_processing_start(world));
    OK(PAT_Session_edge(half, 0.5));
    /* Under way on one session while others are used. */
    OK(PAT_Session_ireduce_alg(world, "bnom", &x, &sum, 1, MPI_INT, MPI_SUM, 0, &pending));
    all_operations(half, comms[0], i + 5);
    OK(PAT_Session_processing_end(half));
    OK(PAT_Session_processing_end(world));
    OK(PAT_Session_allreduce(reversed, &x, &all, 1, MPI_INT, MPI_SUM));
    OK(PAT_Wait(&pending));
    CHECK(all == size * (size - 1) / 2 && (rank != 0 || sum == all));
    all_operations(PAT_SESSION_NULL, comms[1], i + 9);
    all_operations(reversed, comms[1], i + 12);
  }
  OK(PAT_Session_get_statistics(world, &of_world));
  OK(PAT_Session_get_statistics(half, &of_half));
  CHECK(of_world.calls == of_half.calls);
  OK(PAT_Session_close(&half));
  CHECK(half == PAT_SESSION_NULL);
  all_operations(reversed, comms[1], 20);
  OK(PAT_Session_close(&reversed));
  OK(PAT_Finalize());
  all_operations(world, MPI_COMM_WORLD, 30);
  OK(PAT_Session_close(&world));
  MPI_Comm_free(&comms[0]);
  MPI_Comm_free(&comms[1]);
}

/* One thread for each of two sessions. */
static void test_threads(void) {
  PAT_Session sessions[2] = {PAT_SESSION_NULL, PAT_SESSION_NULL};
  MPI_Comm comms[2];
  int i;
  for (i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    OK(PAT_Session_open(comms[i], 0, &sessions[i]));
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(2) schedule(static, 1)
#endif
  for (i = 0; i < 2; ++i) all_operations(sessions[i], comms[i], i);
  for (i = 0; i < 2; ++i) {
    OK(PAT_Session_close(&sessions[i]));
    MPI_Comm_free(&comms[i]);
  }
}

static void test_misuse(void) {
  PAT_Session session = PAT_SESSION_NULL;
  PAT_Request gather = PAT_REQUEST_NULL;
  PAT_Statistics statistics;
  MPI_Datatype gaps;
  int done = 0;
  static int x[kMostRanks], y[kMostRanks];
  CHECK(PAT_Get_statistics(&statistics) == PAT_ERR_NOT_OPEN);
  CHECK(PAT_Session_open(MPI_COMM_NULL, 0, &session) == PAT_ERR_ARGUMENT && message_has("MPI_COMM_NULL"));
  CHECK(PAT_Session_open(MPI_COMM_WORLD, size, &session) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_open(MPI_COMM_WORLD, 0, NULL) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_close(&session) == PAT_ERR_ARGUMENT && PAT_Session_close(NULL) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_edge(session, 0.5) == PAT_ERR_NOT_OPEN && message_has("PAT_SESSION_NULL"));
  CHECK(PAT_Session_allreduce(session, x, y, 1, MPI_INT, MPI_SUM) == PAT_ERR_NOT_OPEN);

  OK(PAT_Session_open(MPI_COMM_WORLD, 0, &session));
  CHECK(PAT_Session_edge(session, 0) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_get_statistics(session, NULL) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_use_alg(session, "allreduce:bsls") == PAT_ERR_ALGORITHM);
  OK(PAT_Session_use_alg(session, "allreduce:ring"));
  CHECK(PAT_Session_allgather_alg(session, "sls", x, 1, MPI_INT, y, 1, MPI_INT) == PAT_ERR_ALGORITHM &&
        message_has("ring"));
  CHECK(PAT_Session_allreduce(session, x, y, -1, MPI_INT, MPI_SUM) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_igather(session, x, 1, MPI_INT, y, 1, MPI_INT, size, &request) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_igather(session, x, 1, MPI_INT, y, 1, MPI_INT, 0, NULL) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Session_igather_alg(session, "mpi", x, 1, MPI_INT, y, 1, MPI_INT, 0, &request) ==
        PAT_ERR_ARGUMENT);
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  x[0] = x[2] = size;
  OK(PAT_Session_ibcast(session, x, 1, gaps, 0, &request));
  OK(PAT_Wait(&request));
  MPI_Type_free(&gaps);
  CHECK(request == PAT_REQUEST_NULL && PAT_Wait(&request) == PAT_ERR_ARGUMENT);
  CHECK(PAT_Test(&request, &done) == PAT_ERR_ARGUMENT);

  if (size > 1) {
    OK(PAT_Session_igather_alg(session, "lin", x, 1, MPI_INT, y, 1, MPI_INT, 0, &request));
    CHECK(PAT_Start(&request) == PAT_ERR_ARGUMENT && PAT_Test(&request, NULL) == PAT_ERR_ARGUMENT);
    CHECK(PAT_Session_close(&session) == PAT_ERR_STATE && message_has("waited"));
    OK(PAT_Wait(&request));
  }
  OK(PAT_Session_gather_init(session, x, 1, MPI_INT, y, 1, MPI_INT, 0, &gather));
  CHECK(PAT_Test(&gather, &done) == PAT_ERR_ARGUMENT);
  /* None of that has broken anything. */
  x[0] = rank;
  OK(PAT_Session_allreduce(session, x, y, 1, MPI_INT, MPI_SUM));
  CHECK(y[0] == size * (size - 1) / 2);
  OK(PAT_Session_close(&session));
  CHECK(PAT_Start(&gather) == PAT_ERR_NOT_OPEN && message_has("closed"));
  OK(PAT_Request_free(&gather));
}

/* One session breaks (run with PAPFFT_CHECK=1), and the others go on. */
static void test_broken(void) {
  PAT_Session bad = PAT_SESSION_NULL, good = PAT_SESSION_NULL;
  int x = 1, y = 0;
  OK(PAT_Session_open(MPI_COMM_WORLD, 0, &bad));
  OK(PAT_Session_open(MPI_COMM_WORLD, 0, &good));
  if (size > 1) {
    CHECK(PAT_Session_bcast(bad, &x, rank == 1 ? 0 : 1, MPI_INT, 0) == PAT_ERR_MISMATCH &&
          message_has("rank 1"));
    CHECK(PAT_Session_bcast(bad, &x, 1, MPI_INT, 0) == PAT_ERR_MISMATCH && message_has("earlier"));
  }
  OK(PAT_Session_allreduce(good, &x, &y, 1, MPI_INT, MPI_SUM));
  CHECK(y == size);
  if (rank % 2 == 0) OK(PAT_Session_close(&bad)); /* without the others */
  OK(PAT_Session_close(&good));
}

static PAT_Session forgotten = PAT_SESSION_NULL;

/* MPI_Finalize closes what is open; main() closes the handle afterwards. */
static void test_forgotten(void) {
  OK(PAT_Session_open(MPI_COMM_WORLD, 0, &forgotten));
  OK(PAT_Init());
  all_operations(forgotten, MPI_COMM_WORLD, 3);
}

static int refused_without_mpi(void) {
  PAT_Session session = PAT_SESSION_NULL;
  if (PAT_Session_open(MPI_COMM_WORLD, 0, &session) != PAT_ERR_NO_MPI) return 0;
  if (forgotten == PAT_SESSION_NULL) return 1;
  return PAT_Session_edge(forgotten, 0.5) == PAT_ERR_NO_MPI && PAT_Edge(0.5) == PAT_ERR_NO_MPI &&
         PAT_Session_close(&forgotten) == PAT_SUCCESS && forgotten == PAT_SESSION_NULL;
}

int main(int argc, char** argv) {
  static const Case cases[] = {{"one", test_one, MPI_THREAD_MULTIPLE},
                               {"one_single", test_one, MPI_THREAD_SERIALIZED},
                               {"sessions", test_sessions, MPI_THREAD_MULTIPLE},
                               {"sessions_single", test_sessions, MPI_THREAD_SERIALIZED},
                               {"threads", test_threads, MPI_THREAD_MULTIPLE},
                               {"misuse", test_misuse, MPI_THREAD_MULTIPLE},
                               {"broken", test_broken, MPI_THREAD_MULTIPLE},
                               {"forgotten", test_forgotten, MPI_THREAD_MULTIPLE}};
  return run_case(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), refused_without_mpi);
}
