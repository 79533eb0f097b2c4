#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A batch that was killed at any moment, several times, resumes to the same bits as a run that nobody disturbed; by another number of
ranks or another engine, to the same numbers within rounding.

    resume.py --count 200 --parallel 4      200 seeds from 1 on
    resume.py --seed 17 --count 1           what seed 17 draws
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

import numpy as np

import campaign
import faults
import jobs
import judge

ENGINES = (("stream", 3), ("stream", 2), ("dif", 2), ("dif", 3), ("farm", 3), ("alone", 2), ("alone", 0))


def resumable(engine, ranks):
    return jobs.batch(f"{engine} by {ranks}", ranks, "--engine", engine, "--resume")


def reached(partial, share):
    """Whether so much of the rows is in the partial file."""
    whole = jobs.VECTORS * jobs.LENGTH * 8
    return partial.exists() and partial.stat().st_size >= share * whole


def kill_on_its_way(draw, running, case, undisturbed_s):
    """All processes at once, one rank, or mpirun; at a time, or once some rows are written."""
    partial = case / "work" / "out.npy.partial"
    if draw.random() < 0.5:
        share = draw.random() * 0.8
        end_s = time.monotonic() + 60
        while running.process.poll() is None and not reached(partial, share) and time.monotonic() < end_s:
            time.sleep(0.002)
    else:
        running.wait(draw.random() * undisturbed_s)
    whom = draw.choice(["all", "mpirun", 0, 1])
    pids = [pid for pid, _, _ in running.processes()] if whom == "all" else [running.pid_of(whom)]
    for pid in pids:
        try:
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # ended meanwhile
    if not running.wait(60) or not running.is_gone(60):
        raise judge.Broken("end", f"{whom} was killed, and these still run: {running.processes()}")


def one(runs, seed):
    """@return how often it was killed"""
    draw = random.Random(seed)
    job = resumable(*draw.choice(ENGINES))
    last = job if draw.random() < 0.6 else resumable(*draw.choice(ENGINES))
    reference = runs.reference(job)
    case = runs.case_folder(f"resume {seed}")
    kills = draw.randint(1, 3)
    try:
        for i in range(kills):
            running = jobs.Running(job, case, f"{runs.run_name}.{seed}.{i}", faults.Fault("none"))
            try:
                kill_on_its_way(draw, running, case, runs.undisturbed_s[job.name].result())
            finally:
                running.kill()
            left = {p.name for p in (case / "work").iterdir()} - {*jobs.INPUTS, "out.npy", "out.npy.partial", "out.npy.journal"}
            if left:
                raise judge.Broken("left", f"{left}")
        runs.run_to_end(last, case, f"seed {seed}, at last")
        ours, whole = case / "work" / "out.npy", reference / "out.npy"
        if last == job and ours.read_bytes() != whole.read_bytes():
            raise judge.Broken("output", "other bits")
        a, b = np.load(ours), np.load(whole)
        if a.shape != b.shape or np.linalg.norm(a - b) > 1e-6 * np.linalg.norm(b):
            raise judge.Broken("output", "other numbers")
        return kills
    finally:
        shutil.rmtree(case, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--count", type=int, default=3, help="so many seeds")
    parser.add_argument("--parallel", type=int, default=os.cpu_count(), help="cases at a time")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="papfft-resume-"))
    runs = campaign.Campaign(folder, argparse.Namespace(one=False, keep=False, job=None, fault=None, cluster=0))
    broken = []
    kills = []

    def judged(seed):
        try:
            kills.append(one(runs, seed))
        except judge.Broken as e:
            broken.append(seed)
            print(f"seed {seed}: {e}\n    resume.py --seed {seed} --count 1", flush=True)

    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.parallel) as pool:
            list(pool.map(judged, range(arguments.seed, arguments.seed + arguments.count)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(kills)} batches resumed after {sum(kills)} kills, {len(broken)} broke the promise")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
