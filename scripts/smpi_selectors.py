#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds to a file of `papfft simulate --platform ... --json OURS` what other MPI libraries would have taken: the collectives of
Open MPI, MPICH, MVAPICH2 and Intel MPI as SimGrid's SMPI has them, chosen by these libraries' own rules, on the same platform.

    papfft simulate --op bcast --algorithms circulant,chain --ranks 48,256 --bytes 64K,1M --segments auto --gamma 0 \\
        --window 8 --platform data/platforms/crossbar-1gbps.xml --json ours.json
    scripts/smpi_selectors.py ours.json --platform data/platforms/crossbar-1gbps.xml -o both.json
    papfft report both.json -o both.html

Needs smpicc and smpirun (Debian: libsimgrid-dev). All ranks call at the same instant of virtual time; combining costs nothing, so
compare with --gamma 0. The rows are named smpi-ompi, smpi-mpich, ...; SMPI's rules are those of the versions that it copied.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* usage: peer OP BYTES...; prints "BYTES SECONDS", from the common start to the last exit. */
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* op = argv[1];
  for (int i = 2; i < argc; ++i) {
    const long bytes = atol(argv[i]);
    const int block = (int)(bytes / size), words = (int)(bytes / 4), block_words = words / size;
    char* in = SMPI_SHARED_MALLOC(bytes + 4);
    char* out = SMPI_SHARED_MALLOC(bytes + 4);
    int* counts = malloc(sizeof(int) * (size_t)size);
    for (int r = 0; r < size; ++r) counts[r] = block_words;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), end, last;
    MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start += 1;
    usleep((useconds_t)((start - MPI_Wtime()) * 1e6));
    start = MPI_Wtime();
    if (!strcmp(op, "bcast")) MPI_Bcast(in, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (!strcmp(op, "scatter")) MPI_Scatter(in, block, MPI_BYTE, out, block, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (!strcmp(op, "gather")) MPI_Gather(in, block, MPI_BYTE, out, block, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (!strcmp(op, "allgather")) MPI_Allgather(in, block, MPI_BYTE, out, block, MPI_BYTE, MPI_COMM_WORLD);
    else if (!strcmp(op, "reduce")) MPI_Reduce(in, out, words, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (!strcmp(op, "allreduce")) MPI_Allreduce(in, out, words, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(op, "reduce_scatter")) MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else MPI_Abort(MPI_COMM_WORLD, 2);
    end = MPI_Wtime() - start;
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%ld %.9f\n", bytes, last);
    free(counts);
    SMPI_SHARED_FREE(in);
    SMPI_SHARED_FREE(out);
  }
  MPI_Finalize();
  return 0;
}
"""


def times(program, folder, platform, network, selector, op, ranks, sizes):
    """Seconds by size."""
    models = ["network/model:CM02", "network/crosstraffic:0"] if network == "plain" else ["network/model:LV08"]
    command = ["smpirun", "-np", str(ranks), "-platform", str(platform), *(f"--cfg={m}" for m in models),
               f"--cfg=smpi/coll-selector:{selector}", "--cfg=smpi/simulate-computation:no", "--cfg=contexts/stack-size:256",
               "--cfg=smpi/privatization:no",  # the program has no global variables, and a copy of it per rank takes long
               "--log=root.thres:error", str(program), op, *map(str, sizes)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"smpi_selectors: {' '.join(command)} failed: {result.stderr.strip()[-300:]}")
    return {int(size): float(seconds) for size, seconds in (line.split() for line in result.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", type=pathlib.Path, help="JSON of papfft simulate --platform, without arrivals")
    parser.add_argument("--platform", type=pathlib.Path, required=True, help="the same platform file")
    parser.add_argument("--selectors", default="ompi,mpich", help="of ompi, mpich, mvapich2, impi, naive (default: %(default)s)")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="ours with their rows")
    arguments = parser.parse_args()
    document = json.loads(arguments.ours.read_text())
    settings = document["settings"]
    if settings.get("platform") != arguments.platform.name:
        sys.exit(f"smpi_selectors: {arguments.ours} is of platform {settings.get('platform')}, not of {arguments.platform.name}")
    if settings["gamma_ns_per_byte"] != 0 and "reduce" in settings["op"]:
        sys.exit("smpi_selectors: SMPI's combining costs nothing here; what would work: papfft simulate --gamma 0")
    if settings["root"] != 0 or {row["pattern"] for row in document["rows"]} != {"none"}:
        sys.exit("smpi_selectors: only for root 0 and ranks that arrive together")
    ranks = sorted({row["ranks"] for row in document["rows"]})
    sizes = sorted({row["bytes"] for row in document["rows"]})
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "peer.c"), pathlib.Path(folder, "peer")
        source.write_text(PROGRAM)
        subprocess.run(["smpicc", "-O1", str(source), "-o", str(program)], cwd=folder, check=True,
                       env={**os.environ, "TMPDIR": folder})
        for p in ranks:
            for selector in arguments.selectors.split(","):
                found = times(program, folder, arguments.platform.resolve(), settings["network"], selector, settings["op"], p,
                              sizes)
                for size, seconds in found.items():
                    ns = seconds * 1e9
                    document["rows"].append({"op": settings["op"], "algorithm": f"smpi-{selector}", "ranks": p, "bytes": size,
                                             "pattern": "none", "segments": 1, "iterations": 1,
                                             "run_ns": {"mean": ns, "min": ns, "max": ns},
                                             "elapsed_ns": None,  # is not measured
                                             "over_best": 1})
    for row in document["rows"]:
        here = [r["run_ns"]["mean"] for r in document["rows"] if (r["ranks"], r["bytes"]) == (row["ranks"], row["bytes"])]
        row["over_best"] = row["run_ns"]["mean"] / min(here)
    arguments.output.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
