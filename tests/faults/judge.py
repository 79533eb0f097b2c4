# SPDX-License-Identifier: MIT
"""Four rules: a job ends within its limit; it says so by a documented exit code and one line of one rank; its output is whole, absent,
or resumable to the same bits; nothing of it is left."""

import json
import re

import numpy as np

from jobs import INPUTS

DOCUMENTED = {0, 64, 65, 70, 73, 74, 75, 76, 130, 143}
CRASHES = re.compile(r"terminate called|Assertion|\*\*\* Process received signal|Segmentation fault|runtime error|what\(\):")


class Broken(Exception):
    """A rule does not hold."""

    def __init__(self, rule, what):
        super().__init__(f"{rule}: {what}")
        self.rule = rule


def error_lines(stderr):
    """What papfft said, notes and progress aside."""
    lines = re.split(r"[\r\n]", stderr.decode(errors="replace"))
    return [line for line in lines if line.startswith("papfft: ") and not line.startswith("papfft: note: ")]


def check_code_and_lines(job, fault, code, stderr):
    said = error_lines(stderr)
    if len(said) > 1:
        raise Broken("lines", f"{len(said)} of them: {said}")
    if CRASHES.search(stderr.decode(errors="replace")) and not fault.breaks_mpi:
        raise Broken("lines", f"it crashed: {stderr.decode(errors='replace')[-2000:]}")
    if code == 0 and fault.is_refused:
        raise Broken("code", "0, as if the ranks were alike")
    if code == 0 or not job.is_ours:
        return
    if code not in fault.codes or (code not in DOCUMENTED and not fault.may_be_silent):
        raise Broken("code", f"{code} is none of {sorted(set(fault.codes))[:8]}; said: {said or stderr[-500:]}")
    if not said and not fault.may_be_silent:
        raise Broken("lines", f"code {code} without a word")


def rows_of(path):
    with open(path, "rb") as file:
        return np.load(file)


def is_prefix(path, reference):
    """Whether the rows of an .npy file are the first of the reference's, to the bit or to rounding."""
    rows, whole = rows_of(path), rows_of(reference)
    if rows.ndim != whole.ndim or rows.dtype != whole.dtype:
        return False
    first = whole[:len(rows)]
    if rows.shape != first.shape:
        return False
    return rows.tobytes() == first.tobytes() or np.allclose(rows, first, rtol=1e-4, atol=1e-4 * np.abs(first).max())


def check_file(path, reference, job, fault, code):
    """An output that is there."""
    if path.suffix == ".json":
        json.loads(path.read_text())
        return
    if path.read_bytes() == reference.read_bytes():
        return
    if path.suffix == ".npy":
        rows = rows_of(path)  # throws if it is not whole
        if fault.changes_input:
            return
        if rows.shape == rows_of(reference).shape and is_prefix(path, reference):
            return
        if job.is_batch and code != 0 and is_prefix(path, reference):
            return
        raise Broken("output", f"{path.name} is wrong: {rows.shape}")
    if not fault.changes_input:
        raise Broken("output", f"{path.name} is wrong")


def check_output(job, fault, code, folder, reference):
    """@return whether all of the output is there"""
    there = [name for name in job.output if (folder / name).exists()]
    for name in there:
        try:
            check_file(folder / name, reference / name, job, fault, code)
        except (ValueError, EOFError) as e:
            raise Broken("output", f"{name} is half a file: {e}") from e
    if code == 0 and len(there) < len(job.output):
        raise Broken("output", "exit code 0, but no output")
    return len(there) == len(job.output) and code == 0


def check_nothing_is_left(job, fault, case, running):
    if not running.is_gone():
        raise Broken("left", f"processes: {running.processes()}")
    known = {*INPUTS, *job.output}
    if job.resumes:
        known |= {"out.npy.partial", "out.npy.journal"}
    left = sorted(p.name for p in (case / "work").iterdir() if p.name not in known)
    for folder in ("tmp", "shm"):
        names = sorted(p.name for p in (case / folder).iterdir())
        # Who was killed cannot clear up, and Open MPI has files with names.
        left += [n for n in names if not (fault.breaks_mpi and re.match(r"ompi\.|vader_segment|pmix", n))]
    if left:
        raise Broken("left", f"files: {left}")


def verdict_of(job, code, is_whole, folder):
    if code == 0 and is_whole:
        return "done"
    if job.resumes and (folder / "out.npy.journal").exists():
        return "resumable"
    return "part kept" if any((folder / name).exists() for name in job.output) else "no output"

