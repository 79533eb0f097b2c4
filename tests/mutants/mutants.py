#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bugs put in by hand, one at a time, each of which must make a test fail.

    mutants.py --check                   every mutant can be applied
    mutants.py                           all of them: builds what a test needs, runs it, and lists the survivors
    mutants.py --only comm/arrival       those of some files
    mutants.py --minutes 30 --every 3    every third, and none begins after 30 minutes

mutants.txt holds them in paragraphs:

    comm/bounds/bounds.cpp               the file
    - return last(exit_ns) - first       a text that occurs there once (several lines begin with - each)
    + return last(exit_ns) - last        what replaces it
    > papfft_unit_tests Bounds.*         the program that must fail, and its --gtest_filter;
    > ctest: cli.Resume papfft           or a test of ctest, and the target that it needs

It works in the source tree, and puts each file back. Nobody else may build there meanwhile.
"""

import argparse
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    old: str
    new: str
    killer: str

    def applied(self):
        """The file's text with the bug. @throws ValueError"""
        text = (REPOSITORY / self.file).read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"occurs {text.count(self.old)} times")
        if self.old == self.new:
            raise ValueError("changes nothing")
        return text.replace(self.old, self.new)

    def __str__(self):
        return f"{self.file}: {self.old.strip()!r} -> {self.new.strip()!r}"


def read_mutants(path):
    mutants = []
    for paragraph in path.read_text().split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        part = {mark: "\n".join(line[2:] for line in lines[1:] if line.startswith(mark)) for mark in "-+>"}
        mutants.append(Mutant(lines[0], part["-"], part["+"], part[">"]))
    return mutants


def run(command, seconds):
    """@return the exit code, None if it had to be stopped"""
    process = subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def commands_of(killer, build):
    """What builds the test, and what runs it."""
    if killer.startswith("ctest:"):
        test, target = killer.removeprefix("ctest:").split()
        return ["cmake", "--build", build, "--target", target], ["ctest", "--test-dir", build, "-R", f"^{test}$", "--no-tests=error"]
    target, test_filter = killer.split()
    program = next((p for p in (REPOSITORY / build / "tests").rglob(target) if p.is_file()), REPOSITORY / build / "tests" / target)
    return ["cmake", "--build", build, "--target", target], [str(program), f"--gtest_filter={test_filter}", "--gtest_brief=1"]


def verdict_of(mutant, build):
    """killed, or why not"""
    building, testing = commands_of(mutant.killer, build)
    path = REPOSITORY / mutant.file
    original = path.read_text()
    path.write_text(mutant.applied())
    try:
        if run(building, 1800) != 0:
            return "does not compile"
        return "SURVIVES" if run(testing, 300) == 0 else "killed"
    finally:
        path.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only whether each can be applied")
    parser.add_argument("--only", default="", help="those whose file's name begins so")
    parser.add_argument("--every", type=int, default=1, help="every so many")
    parser.add_argument("--minutes", type=float, help="begin none after this time")
    parser.add_argument("--build", default="build/release", help="the build directory")
    arguments = parser.parse_args()
    mutants = [m for m in read_mutants(pathlib.Path(__file__).with_name("mutants.txt")) if m.file.startswith(arguments.only)]
    bad = []
    for mutant in mutants:
        try:
            mutant.applied()
        except (OSError, ValueError) as e:
            bad.append(mutant)
            print(f"cannot be applied ({e}): {mutant}")
    if arguments.check:
        print(f"{len(mutants)} mutants, {len(bad)} cannot be applied")
        return 1 if bad or not mutants else 0
    until_s = time.monotonic() + arguments.minutes * 60 if arguments.minutes else float("inf")
    counts = {}
    tried = [m for m in mutants if m not in bad][::arguments.every]
    for mutant in tried:
        if time.monotonic() > until_s:
            break
        verdict = verdict_of(mutant, arguments.build)
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{verdict}: {mutant}", flush=True)
        if verdict != "killed":
            bad.append(mutant)
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())) + f", of {len(mutants)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
