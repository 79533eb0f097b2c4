/* SPDX-License-Identifier: MIT */
/* What the tests of the C interface share: checks, and cases that the command line names. C99 and nothing else. */
#ifndef PAPFFT_TESTS_C_API_CHECK_H
#define PAPFFT_TESTS_C_API_CHECK_H
#include <stdio.h>
#include <string.h>

#include "papfft/pat.h"

/* Of MPI_COMM_WORLD, while a case runs. */
static int rank, size;

static inline void fail(const char* what, int line) {
  fprintf(stderr, "rank %d, line %d: %s (%s)\n", rank, line, what, PAT_Last_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)
#define OK(call) CHECK((call) == PAT_SUCCESS)

static inline int message_has(const char* part) { return strstr(PAT_Last_error_message(), part) != NULL; }

typedef struct Case {
  const char* name;
  void (*run)(void);
  int level; /* of MPI_Init_thread */
} Case;

/* Runs the case that the command line names. `refused` is called before MPI is initialised and after it is finalised: whether every
 * call fails there as it should. Returns the exit code. */
static inline int run_case(int argc, char** argv, const Case* cases, size_t count, int (*refused)(void)) {
  size_t c;
  int provided;
  if (argc != 2) {
    fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 2;
  }
  for (c = 0; c < count; ++c) {
    if (strcmp(argv[1], cases[c].name) != 0) continue;
    if (!refused()) return 1;
    MPI_Init_thread(&argc, &argv, cases[c].level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cases[c].run();
    MPI_Finalize();
    return refused() ? 0 : 1;
  }
  fprintf(stderr, "no case %s\n", argv[1]);
  return 2;
}

#endif
