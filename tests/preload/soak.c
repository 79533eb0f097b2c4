/* SPDX-License-Identifier: MIT */
/* Usage: mpirun -n N soak CALLS COMMUNICATORS [MOST_KB]
 *        mpirun -n N soak SECONDSs COMMUNICATORS
 * Two threads make so many collective calls in all, of all operations and of sizes up to 256 KiB, on so many communicators, which they make and
 * free again and again. Checks all results. Says how much memory is in use after each eighth of the calls. With MOST_KB it fails if that has
 * grown by more in the second half. The second form goes on for so many seconds (300s) instead, with pauses between the calls: whoever started it
 * can watch it. */
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 2, MOST_RANKS = 8, MOST_COUNT = 65536, MOST_COMMUNICATORS = 1000 };

typedef struct {
  int thread;
  int calls;
  double seconds; /* instead of calls, unless 0 */
  int communicators;
  MPI_Comm parent;
  unsigned random;
  int made;
  int failures;
  int* send;
  int* recv;
} Work;

/* What one call is about. */
typedef struct {
  MPI_Comm comm;
  int rank, ranks, root, count, seed;
  int counts[MOST_RANKS], displs[MOST_RANKS];
} Call;

enum { LOOKS = 8 };
static pthread_barrier_t all_wait;
static long kb[LOOKS];

/* The same on all ranks. */
static int drawn(Work* w, int below) {
  w->random = w->random * 1664525u + 1013904223u;
  return (int)((w->random >> 8) % (unsigned)below);
}

static int value(const Call* c, int rank, int i) { return (c->seed + rank * 131 + i * 7) & 0xffff; }

static void fill(int* at, const Call* c, int rank, int from, int count) {
  for (int i = 0; i < count; ++i) at[i] = value(c, rank, from + i);
}
static void check(Work* w, const int* at, const Call* c, int rank, int from, int count) {
  for (int i = 0; i < count; ++i) w->failures += at[i] != value(c, rank, from + i);
}
static void check_sums(Work* w, const int* at, const Call* c, int from, int count) {
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int r = 0; r < c->ranks; ++r) sum += value(c, r, from + i);
    w->failures += at[i] != sum;
  }
}

static void bcast(Work* w, Call* c) {
  if (c->rank == c->root) fill(w->recv, c, c->root, 0, c->count);
  MPI_Bcast(w->recv, c->count, MPI_INT, c->root, c->comm);
  check(w, w->recv, c, c->root, 0, c->count);
}
static void reduce(Work* w, Call* c) {
  fill(w->send, c, c->rank, 0, c->count);
  MPI_Reduce(w->send, w->recv, c->count, MPI_INT, MPI_SUM, c->root, c->comm);
  if (c->rank == c->root) check_sums(w, w->recv, c, 0, c->count);
}
static void allreduce(Work* w, Call* c) {
  fill(w->recv, c, c->rank, 0, c->count);
  MPI_Allreduce(MPI_IN_PLACE, w->recv, c->count, MPI_INT, MPI_SUM, c->comm);
  check_sums(w, w->recv, c, 0, c->count);
}
static void gather(Work* w, Call* c) {
  fill(w->send, c, c->rank, 0, c->count);
  MPI_Gather(w->send, c->count, MPI_INT, w->recv, c->count, MPI_INT, c->root, c->comm);
  for (int r = 0; r < c->ranks && c->rank == c->root; ++r)
    check(w, w->recv + r * c->count, c, r, 0, c->count);
}
static void scatter(Work* w, Call* c) {
  for (int r = 0; r < c->ranks; ++r) fill(w->send + r * c->count, c, r, 0, c->count);
  MPI_Scatter(w->send, c->count, MPI_INT, w->recv, c->count, MPI_INT, c->root, c->comm);
  check(w, w->recv, c, c->rank, 0, c->count);
}
static void gatherv(Work* w, Call* c) {
  fill(w->send, c, c->rank, 0, c->counts[c->rank]);
  MPI_Gatherv(w->send, c->counts[c->rank], MPI_INT, w->recv, c->counts, c->displs, MPI_INT, c->root, c->comm);
  for (int r = 0; r < c->ranks && c->rank == c->root; ++r)
    check(w, w->recv + c->displs[r], c, r, 0, c->counts[r]);
}
static void scatterv(Work* w, Call* c) {
  for (int r = 0; r < c->ranks; ++r) fill(w->send + c->displs[r], c, r, 0, c->counts[r]);
  MPI_Scatterv(w->send, c->counts, c->displs, MPI_INT, w->recv, c->counts[c->rank], MPI_INT, c->root,
               c->comm);
  check(w, w->recv, c, c->rank, 0, c->counts[c->rank]);
}
static void allgather(Work* w, Call* c) {
  fill(w->send, c, c->rank, 0, c->count);
  MPI_Allgather(w->send, c->count, MPI_INT, w->recv, c->count, MPI_INT, c->comm);
  for (int r = 0; r < c->ranks; ++r) check(w, w->recv + r * c->count, c, r, 0, c->count);
}
static void allgatherv(Work* w, Call* c) {
  fill(w->send, c, c->rank, 0, c->counts[c->rank]);
  MPI_Allgatherv(w->send, c->counts[c->rank], MPI_INT, w->recv, c->counts, c->displs, MPI_INT, c->comm);
  for (int r = 0; r < c->ranks; ++r) check(w, w->recv + c->displs[r], c, r, 0, c->counts[r]);
}
static void alltoall(Work* w, Call* c) {
  for (int r = 0; r < c->ranks; ++r) fill(w->send + r * c->count, c, c->rank, r, c->count);
  MPI_Alltoall(w->send, c->count, MPI_INT, w->recv, c->count, MPI_INT, c->comm);
  for (int r = 0; r < c->ranks; ++r) check(w, w->recv + r * c->count, c, r, c->rank, c->count);
}
/* Rank s has counts[t] for rank t. */
static void alltoallv(Work* w, Call* c) {
  int counts[MOST_RANKS];
  int displs[MOST_RANKS];
  for (int r = 0; r < c->ranks; ++r) {
    fill(w->send + c->displs[r], c, c->rank, r, c->counts[r]);
    counts[r] = c->counts[c->rank];
    displs[r] = r * counts[r];
  }
  MPI_Alltoallv(w->send, c->counts, c->displs, MPI_INT, w->recv, counts, displs, MPI_INT, c->comm);
  for (int r = 0; r < c->ranks; ++r) check(w, w->recv + displs[r], c, r, c->rank, counts[r]);
}
/* The same, with a datatype for each block. */
static void alltoallw(Work* w, Call* c) {
  int counts[MOST_RANKS];
  int to[MOST_RANKS];
  int from[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  for (int r = 0; r < c->ranks; ++r) {
    fill(w->send + c->displs[r], c, c->rank, r, c->counts[r]);
    counts[r] = c->counts[c->rank];
    to[r] = c->displs[r] * (int)sizeof(int);
    from[r] = r * counts[r] * (int)sizeof(int);
    types[r] = MPI_INT;
  }
  MPI_Alltoallw(w->send, c->counts, to, types, w->recv, counts, from, types, c->comm);
  for (int r = 0; r < c->ranks; ++r) check(w, w->recv + r * counts[r], c, r, c->rank, counts[r]);
}
static void reduce_scatter(Work* w, Call* c) {
  fill(w->send, c, c->rank, 0, c->displs[c->ranks - 1] + c->counts[c->ranks - 1]);
  MPI_Reduce_scatter(w->send, w->recv, c->counts, MPI_INT, MPI_SUM, c->comm);
  check_sums(w, w->recv, c, c->displs[c->rank], c->counts[c->rank]);
}
static void reduce_scatter_block(Work* w, Call* c) {
  fill(w->send, c, c->rank, 0, c->count * c->ranks);
  MPI_Reduce_scatter_block(w->send, w->recv, c->count, MPI_INT, MPI_SUM, c->comm);
  check_sums(w, w->recv, c, c->rank * c->count, c->count);
}

static void (*const kOperations[])(Work*, Call*) = {
    bcast,     reduce,     allreduce, gather,    scatter,   gatherv,        scatterv,
    allgather, allgatherv, alltoall,  alltoallv, alltoallw, reduce_scatter, reduce_scatter_block};
enum { OPERATIONS = sizeof kOperations / sizeof kOperations[0] };

static void make(Work* w, MPI_Comm* comm) {
  int rank;
  MPI_Comm_rank(w->parent, &rank);
  if (drawn(w, 2) == 0) {
    MPI_Comm_dup(w->parent, comm);
  } else {
    MPI_Comm_split(w->parent, 0, -rank, comm);
  }
}

static void call_one(Work* w, MPI_Comm comm) {
  Call c = {.comm = comm, .seed = drawn(w, 65536)};
  MPI_Comm_rank(comm, &c.rank);
  MPI_Comm_size(comm, &c.ranks);
  c.root = drawn(w, c.ranks);
  /* Mostly short ones. */
  const int most = drawn(w, 8) == 0 ? MOST_COUNT : 256;
  c.count = 1 + drawn(w, most / c.ranks);
  int end = 0;
  for (int r = 0; r < c.ranks; ++r) {
    c.counts[r] = drawn(w, most / c.ranks);
    c.displs[r] = end;
    end += c.counts[r];
  }
  kOperations[drawn(w, OPERATIONS)](w, &c);
}

static long kb_in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return (long)((info.uordblks + info.hblkhd) / 1024);
}

/* While no thread makes a call. */
static void look(const Work* w, int number) {
  pthread_barrier_wait(&all_wait);
  if (w->thread == 0) kb[number] = kb_in_use();
  pthread_barrier_wait(&all_wait);
}

/* Whether the call with this number is not made any more: the same on all ranks, whatever the time is there. */
static int is_over(const Work* w, int call) {
  static double begin_s[THREADS];
  if (w->seconds == 0) return call == w->calls;
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  if (call == 0) begin_s[w->thread] = MPI_Wtime();
  if (call % 100 != 0) return 0;
  int over = MPI_Wtime() - begin_s[w->thread] > w->seconds;
  MPI_Bcast(&over, 1, MPI_INT, 0, w->parent);
  return over;
}

static void* work(void* argument) {
  Work* const w = argument;
  static MPI_Comm all[THREADS][MOST_COMMUNICATORS];
  MPI_Comm* const comms = all[w->thread];
  w->send = malloc(2 * MOST_COUNT * sizeof(int));
  w->recv = malloc(2 * MOST_COUNT * sizeof(int));
  for (int i = 0; i < w->communicators; ++i) make(w, &comms[i]);
  for (int call = 0; !is_over(w, call); ++call) {
    MPI_Comm* const comm = &comms[drawn(w, w->communicators)];
    if (drawn(w, 50) == 0) {
      MPI_Comm_free(comm);
      make(w, comm);
    }
    call_one(w, *comm);
    w->made = call + 1;
    for (int number = 0; number < LOOKS && w->seconds == 0; ++number) {
      if (call + 1 == w->calls / LOOKS * (number + 1)) look(w, number);
    }
  }
  for (int i = 0; i < w->communicators; ++i) MPI_Comm_free(&comms[i]);
  free(w->send);
  free(w->recv);
  return NULL;
}

int main(int argc, char** argv) {
  mallopt(M_ARENA_MAX, 1); /* of which alone mallinfo2() tells */
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  const int is_timed = argc > 1 && strchr(argv[1], 's') != NULL;
  const int calls = argc > 1 ? atoi(argv[1]) : 1000;
  const int communicators = argc > 2 ? atoi(argv[2]) : 20;
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > MOST_RANKS || communicators < THREADS || communicators > MOST_COMMUNICATORS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  pthread_barrier_init(&all_wait, NULL, THREADS);
  Work works[THREADS];
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    works[t] = (Work){.thread = t,
                      .calls = calls / THREADS,
                      .seconds = is_timed ? calls : 0,
                      .communicators = communicators / THREADS,
                      .random = 17u + (unsigned)t};
    MPI_Comm_dup(MPI_COMM_WORLD, &works[t].parent);
  }
  for (int t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, work, &works[t]);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  int failures = 0;
  int made = 0;
  for (int t = 0; t < THREADS; ++t) {
    MPI_Comm_free(&works[t].parent);
    failures += works[t].failures;
    made += works[t].made;
  }
  pthread_barrier_destroy(&all_wait);
  const long grown_kb = kb[LOOKS - 1] - kb[LOOKS / 2 - 1];
  printf("rank %d: %d calls, %d wrong values, KB in use after each eighth:", rank, made, failures);
  for (int number = 0; number < LOOKS; ++number) printf(" %ld", kb[number]);
  printf("; %ld more in the second half\n", grown_kb);
  MPI_Finalize();
  return failures > 0 || (argc > 3 && grown_kb > atol(argv[3]));
}
