#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: mpirun -n N python3 repeat.py [bcast|reduce|allreduce|gather [BYTES [ROUNDS [MOST_DELAY_MS]]]]

What tests/preload/repeat.c does, in numpy and mpi4py: the ranks compute, each for a time of its own, and call a collective, again and again.
Prints the median over the rounds of the time from the first arrival to the last rank's end, and checks the results. Knows nothing of papfft.
"""
import random
import statistics
import sys
import time

import numpy as np
from mpi4py import MPI


def main():
    words = sys.argv[1:] + ["bcast", "1048576", "10", "0"][len(sys.argv) - 1:]
    operation, length, rounds, most_delay_s = words[0], int(words[1]), int(words[2]), float(words[3]) * 1e-3
    comm = MPI.COMM_WORLD
    count = length // 8 // (comm.size if operation == "gather" else 1)
    mine = np.empty(count)
    got = np.zeros(count * (comm.size if operation == "gather" and comm.rank == 0 else 1))
    delay_s = most_delay_s * random.Random(17 + comm.rank).random()
    times_s, wrong = [], 0
    for number in range(rounds):
        mine[:] = comm.rank + number
        comm.Barrier()
        from_s = time.perf_counter()
        time.sleep(delay_s)
        if operation == "bcast":
            comm.Bcast(mine)
            wrong += int(np.any(mine != number))
        elif operation == "gather":
            comm.Gather(mine, got if comm.rank == 0 else None)
            wrong += int(comm.rank == 0 and np.any(got.reshape(comm.size, count) != number + np.arange(comm.size)[:, None]))
        else:
            if operation == "reduce":
                comm.Reduce(mine, got)
            else:
                comm.Allreduce(mine, got)
            total = comm.size * (comm.size - 1) / 2 + comm.size * number
            wrong += int((operation == "allreduce" or comm.rank == 0) and np.any(got != total))
        times_s.append(comm.allreduce(time.perf_counter() - from_s, MPI.MAX))
    if comm.rank == 0:
        print(f"{operation} of {length} bytes on {comm.size} ranks: median {1e3 * statistics.median_high(times_s):.3f} ms")
    if wrong > 0:
        print(f"rank {comm.rank}: {wrong} wrong results", file=sys.stderr)
    return 1 if wrong > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
