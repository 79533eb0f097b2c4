#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The power fails while a batch is written that can be resumed: after that, it is resumed to the same bits.

    power.py --count 200        200 moments at which the power fails
    power.py --seed 17 --count 1

A shim notes what a batch does to its files, while it is killed on its way and resumed. Then the power fails, between any two of these steps: on
the disk is what the batch has waited for (fsync), and of everything else some, in any order. Writes may be there in part, and names of files up to
some one: file systems keep their order. After the end of the job all must be there.
"""

import argparse
import collections
import pathlib
import random
import re
import shutil
import sys
import tempfile

import campaign
import faults
import jobs
import judge

JOB = jobs.batch("batch that loses its power", 2, "--engine", "stream", "--resume", delay="flat:80ms")
SECTOR = 512
OTHER_BOOT = "00000000-0000-0000-0000-000000000000"


def read_steps(path, folder):
    """The shim's lines, as (kind, file, rest). A file is an inode and how often that had been another file's before."""
    data = path.read_bytes()
    steps = []
    at = 0
    before = collections.Counter()
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].decode().split(" ")
        at = end + 1
        file = words[1], before[words[1]]
        if words[0] == "W":
            size = int(words[3])
            steps.append(("W", file, (int(words[2]), data[at:at + size])))
            at += size
        elif words[0] == "C":
            before[words[1]] += 1
        elif words[0] in ("T", "S"):
            steps.append((words[0], file, int(words[2])))
        elif words[0] == "U":
            steps.append(("U", None, (pathlib.Path(words[1]).name,)))
        else:
            steps.append(("N", file, tuple(pathlib.Path(word).name for word in words[2:])))
    return steps, (str(folder.stat().st_ino), 0)


class Disk:
    """What is on it, and what is on its way there."""

    def __init__(self, folder_file):
        self.folder_file = folder_file
        self.files = {}     # file: bytes
        self.waiting = {}   # file: steps
        self.names = {}     # name: file
        self.renaming = []  # steps

    def take(self, step):
        kind, file, what = step
        if kind in ("W", "T"):
            self.waiting.setdefault(file, []).append(step)
        elif kind in ("N", "U"):
            self.renaming.append(step)
        elif file == self.folder_file:
            for one in self.renaming:
                self._rename(one)
            self.renaming = []
        else:
            for one in self.waiting.pop(file, []):
                self._write(one)

    def fail(self, draw):
        for steps in self.waiting.values():
            for kind, file, what in steps:
                chance = draw.random()
                if chance < 0.4:
                    self._write((kind, file, what))
                elif chance < 0.7 and kind == "W":  # a part of it
                    offset, data = what
                    cuts = sorted(draw.randint(0, len(data) // SECTOR) * SECTOR for _ in range(2))
                    self._write((kind, file, (offset + cuts[0], data[cuts[0]:cuts[1]])))
        for step in self.renaming[:draw.randint(0, len(self.renaming))]:
            self._rename(step)

    def _write(self, step):
        kind, file, what = step
        old = self.files.get(file, b"")
        if kind == "T":
            self.files[file] = old[:what].ljust(what, b"\0")
            return
        offset, data = what
        if data:
            self.files[file] = old[:offset].ljust(offset, b"\0") + data + old[offset + len(data):]

    def _rename(self, step):
        kind, file, names = step
        if kind == "U":
            self.names.pop(names[0], None)
            return
        self.names[names[0]] = file
        if len(names) > 1:
            self.names.pop(names[1], None)

    def write_to(self, folder):
        for name, file in self.names.items():
            (folder / name).write_bytes(self.files.get(file, b""))


def recorded(runs, folder):
    """What the batch has done to its files."""
    case = runs.case_folder("recorded")
    log = folder / "log"
    shim = faults.Fault("none", rank=0, commands=f"export FAULT_CALL=log FAULT_FOLDER=$PWD FAULT_LOG={log} LD_PRELOAD=\"$LD_PRELOAD {jobs.SHIM}\"")
    first = jobs.Running(JOB, case, f"{runs.run_name}.recorded.1", shim, stuck_after_s=300)
    partial = case / "work" / "out.npy.partial"
    while first.process.poll() is None and not (partial.exists() and partial.stat().st_size > 0.3 * jobs.VECTORS * jobs.LENGTH * 8):
        first.wait(0.02)
    first.kill()
    last = jobs.Running(JOB, case, f"{runs.run_name}.recorded.2", shim, stuck_after_s=300)
    if not last.wait(300) or last.process.returncode != 0:
        last.kill()
        raise judge.Broken("end", (case / "stderr").read_text())
    return read_steps(log, case / "work")


def one(runs, seed, steps, folder_file, reference):
    draw = random.Random(seed)
    disk = Disk(folder_file)
    # Often something has just been written, and sometimes the whole job has ended.
    writes = [i + 1 for i, (kind, _, _) in enumerate(steps) if kind == "W"]
    end = draw.choice([len(steps), draw.randint(0, len(steps)), draw.choice(writes), draw.choice(writes)])
    for step in steps[:end]:
        disk.take(step)
    disk.fail(draw)
    case = runs.case_folder(f"power {seed}")
    try:
        disk.write_to(case / "work")
        ours, whole = case / "work" / "out.npy", reference / "out.npy"
        if end == len(steps) and not ours.exists():
            raise judge.Broken("output", "the job had ended, and its output is gone")
        if not ours.exists():
            journal = case / "work" / "out.npy.journal"
            if journal.exists():  # the machine has started again
                journal.write_text(re.sub(r"(?<=boot )\S+", OTHER_BOOT, journal.read_text()))
            runs.run_to_end(resuming(), case, f"power {seed}")
        if ours.read_bytes() != whole.read_bytes():
            raise judge.Broken("output", "other bits")
    finally:
        shutil.rmtree(case, ignore_errors=True)


def resuming():
    return jobs.batch(JOB.name, JOB.ranks, "--engine", "stream", "--resume", delay="none")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--count", type=int, default=4, help="so many seeds")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="papfft-power-"))
    runs = campaign.Campaign(folder, argparse.Namespace(one=False, keep=False, job=None, fault=None, cluster=0))
    broken = []
    try:
        reference = runs.reference(resuming())
        steps, folder_file = recorded(runs, folder)
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            try:
                one(runs, seed, steps, folder_file, reference)
            except judge.Broken as e:
                broken.append(seed)
                print(f"seed {seed}: {e}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    syncs = sum(kind == "S" for kind, _, _ in steps)
    print(f"{arguments.count} failures of power among {len(steps)} steps, of which {syncs} wait for the disk; {len(broken)} broke the promise")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
