/* SPDX-License-Identifier: MIT */
/* What the examples in C may use beside their own lines: fragments.py puts this before each. */
#include <mpi.h>
#include <stddef.h>

enum { iterations = 4, n = 1000, most_ranks = 64 };

static double mine[n], sum[n], whole[n * most_ranks];
static int i;
static void first_half(void) {}
static void second_half(void) {}
