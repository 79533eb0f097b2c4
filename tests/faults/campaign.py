#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Throws faults at jobs: each seed draws a job, a fault and a moment, and four rules judge what happens.

    campaign.py --count 2000 --parallel 8 --table faults.md     2000 seeds from 1 on
    campaign.py --seed 17 --one                                 what seed 17 draws, with all that the job says
    campaign.py --short                                         a few quick faults, as a test

A seed that breaks a rule is printed with the command that repeats it, and the exit code is 1.
Needs PAPFFT_PROGRAM and PAPFFT_FAULT_SHIM in the environment, as ctest sets them; --cluster also unplugs cables of virtual hosts.
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import faults
import jobs
import judge

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mpirun_faults

CLUSTER_HOSTS = 4


class Campaign:
    def __init__(self, folder, arguments):
        self.folder = folder
        self.arguments = arguments
        self.jobs = jobs.all_jobs()
        self.run_name = f"{os.getpid()}.{folder.name}"
        self.lock = threading.Lock()
        self.undisturbed_s = {}
        self.clusters = queue.Queue()
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        jobs.make_inputs(self.inputs)

    def case_folder(self, name):
        case = self.folder / name
        (case / "work").mkdir(parents=True)
        for entry in self.inputs.iterdir():
            shutil.copy(entry, case / "work")
        return case

    # --- a run without faults, once for each job ----------------------------------------------------------------------

    def reference(self, job):
        """The folder of an undisturbed run, which is timed."""
        name = "undisturbed " + job.name
        with self.lock:
            begun = self.undisturbed_s.setdefault(job.name, concurrent.futures.Future())
            mine = not (self.folder / name).exists()
            if mine:
                self.case_folder(name)
        if mine:
            try:
                start_s = time.monotonic()
                self.run_to_end(job, self.folder / name, name)
                begun.set_result(time.monotonic() - start_s)
            except BaseException as e:
                begun.set_exception(e)
        begun.result()
        return self.folder / name / "work"

    def run_to_end(self, job, case, name, cluster=None):
        """Without a fault. @return what it said"""
        for _ in range(3):
            running = jobs.Running(job, case, f"{self.run_name}.{name}", faults.Fault("none"), cluster, stuck_after_s=300)
            if not running.wait(300):
                running.kill()
                raise judge.Broken("end", f"{name}: hangs without a fault")
            said = (case / "stderr").read_bytes()
            if not mpirun_faults.is_mpiruns_own(running.process.returncode, said.decode(errors="replace")):
                break
        if running.process.returncode != 0:
            raise judge.Broken("code", f"{name}: {running.process.returncode} without a fault: "
                               f"{judge.error_lines(said) or said[-500:]}")
        return said

    # --- a case -------------------------------------------------------------------------------------------------------

    def draw(self, seed):
        draw = random.Random(seed)
        chosen = [j for j in self.jobs if self.arguments.job is None or self.arguments.job in j.name]
        while True:
            job = draw.choice(chosen)
            fault = faults.draw_fault(draw, job, self.arguments.cluster > 0, self.arguments.fault)
            if fault is not None and (fault.name != "a rank with other variables" or job.ranks > 1):
                return job, fault

    def run(self, seed):
        """@return (job, fault, verdict); throws judge.Broken"""
        job, fault = self.draw(seed)
        for _ in range(3):
            verdict = self.run_once(seed, job, fault)
            if verdict is not None:
                break
        return job, fault, verdict or "mpirun itself failed"

    def run_once(self, seed, job, fault):
        reference = self.reference(job)
        name = f"seed {seed}"
        case = self.case_folder(name)
        cluster = self.clusters.get() if fault.needs_cluster else None
        running = None
        try:
            if fault.prepare is not None:
                fault.prepare(case)
            if fault.cluster_options:
                build_cluster(cluster, *fault.cluster_options)
            running = jobs.Running(job, case, f"{self.run_name}.{name}", fault, cluster)
            is_hit = self.disturb(job, fault, running, case)
            limit_s = 90 + 4 * jobs.STUCK_AFTER_S + fault.lasts_s
            if not (running.wait_beside_stopped(fault.rank, limit_s) if fault.is_lasting_stop else running.wait(limit_s)):
                living = running.processes()
                if job.ranks > 0 and not any(rank is not None for _, _, rank in living):
                    return None  # mpirun alone, which has lost the end of its ranks: says nothing about them
                raise judge.Broken("end", f"hangs: {living}")
            if fault.undo is not None:
                fault.undo(running)
            code = running.process.returncode
            stderr = (case / "stderr").read_bytes()
            if self.arguments.one:
                print(" ".join(running.command), f"\nexit code {code}\n{stderr.decode(errors='replace')}")
            said = stderr.decode(errors="replace")
            # Where the fault must do no harm, no rank may have ended early: then mpirun alone can be at fault.
            if mpirun_faults.has_crashed(code, said) or (not fault.codes and mpirun_faults.is_mpiruns_own(code, said)):
                return None
            judge.check_code_and_lines(job, fault, code, stderr)
            is_whole = judge.check_output(job, fault, code, case / "work", reference)
            judge.check_nothing_is_left(job, fault, case, running)
            verdict = judge.verdict_of(job, code, is_whole, case / "work")
            if job.resumes and code != 0 and not fault.changes_input:
                self.resume(job, case, f"{name} resumed", reference)
            return verdict if is_hit else "over before"
        finally:
            if running is not None:
                running.kill()
                if fault.undo is not None:
                    fault.undo(running)
            if fault.cluster_options:
                build_cluster(cluster)
            if cluster is not None:
                self.clusters.put(cluster)
            if not self.arguments.keep:
                shutil.rmtree(case, ignore_errors=True)

    def disturb(self, job, fault, running, case):
        """@return whether the job was still there at the fault's moment"""
        if fault.act is None:
            return True
        moment_s = fault.at * self.undisturbed_s[job.name].result() * (3 if fault.needs_cluster else 1)
        return not running.wait(moment_s) and fault.act(running, case) is not False

    def resume(self, job, case, name, reference):
        (case / "work").chmod(0o755)
        for entry in self.inputs.iterdir():
            shutil.copy(entry, case / "work")
        said = self.run_to_end(job, case, name)
        if judge.error_lines(said):
            raise judge.Broken("lines", f"resumed, but {said.decode()}")
        for output in job.output:
            if (case / "work" / output).read_bytes() != (reference / output).read_bytes():
                raise judge.Broken("output", f"{output} was resumed to other bits")

    # --- many ---------------------------------------------------------------------------------------------------------

    def __enter__(self):
        for i in range(self.arguments.cluster):
            name = f"flt{i}"
            build_cluster(name)
            self.clusters.put(name)
        return self

    def __exit__(self, *_):
        while not self.clusters.empty():
            subprocess.run([jobs.PROGRAM, "cluster", "down", "--name", self.clusters.get()], stdout=subprocess.DEVNULL, check=False)

    def run_all(self, seeds):
        """@return verdicts by (fault, verdict), and the seeds that broke a rule"""
        counts = collections.Counter()
        broken = []
        until_s = time.monotonic() + self.arguments.minutes * 60 if self.arguments.minutes else None
        with concurrent.futures.ThreadPoolExecutor(self.arguments.parallel) as pool:
            def one(seed):
                if until_s is not None and time.monotonic() > until_s:
                    return
                job, fault = self.draw(seed)
                try:
                    _, _, verdict = self.run(seed)
                except judge.Broken as e:
                    verdict = f"BROKEN: {e.rule}"
                    with self.lock:
                        broken.append(seed)
                        print(f"seed {seed}: {job.name}, {fault} (rank {fault.rank} {fault.commands}): {e}\n"
                              f"    {pathlib.Path(__file__).name} --seed {seed} --one{self.same_drawing()}", flush=True)
                with self.lock:
                    counts[fault.name, verdict] += 1
                    if self.arguments.verbose:
                        print(f"seed {seed}: {job.name}, {fault}: {verdict}", flush=True)
            list(pool.map(one, seeds))
        return counts, sorted(broken)

    def same_drawing(self):
        a = self.arguments
        return ((f" --cluster {a.cluster}" if a.cluster else "") + (f" --fault {a.fault}" if a.fault else "") +
                (f" --job '{a.job}'" if a.job else ""))


def build_cluster(name, *options):
    subprocess.run([jobs.PROGRAM, "cluster", "up", str(CLUSTER_HOSTS), "--name", name, *options], check=True, stdout=subprocess.DEVNULL)


def table_of(counts):
    """Fault by verdict, in Markdown."""
    verdicts = sorted({v for _, v in counts}, key=lambda v: (v.startswith("BROKEN"), v))
    lines = ["| fault | runs | " + " | ".join(verdicts) + " |", "|---" * (len(verdicts) + 2) + "|"]
    for name in sorted({f for f, _ in counts}):
        row = [counts[name, v] for v in verdicts]
        lines.append(f"| {name} | {sum(row)} | " + " | ".join(str(n) if n else "" for n in row) + " |")
    total = [sum(n for (_, v), n in counts.items() if v == verdict) for verdict in verdicts]
    lines.append(f"| all | {sum(total)} | " + " | ".join(map(str, total)) + " |")
    return "\n".join(lines)


# Quick, without waits, and of all kinds: what a change breaks first.
SHORT = (("signal", "resumable batch by stream"), ("signal", "spectrogram"), ("shim", "resumable batch by farm"), ("shim", "psd"),
         ("folder", "batch by dif"), ("input", "convolve"), ("rank", "vector by dif"), ("limit", "vector alone"), ("pipe_out", "psd"), ("clock", "batch by stream"))


def short(folder, arguments):
    """@return the number of cases that broke a rule"""
    campaigns = []
    for i, (fault, job) in enumerate(SHORT):
        own = argparse.Namespace(**vars(arguments) | {"fault": fault, "job": job, "parallel": 1})
        (folder / str(i)).mkdir()
        campaigns.append(Campaign(folder / str(i), own))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        results = pool.map(lambda c: c.run_all([arguments.seed]), campaigns)
        return sum(len(broken) for _, broken in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--count", type=int, default=20, help="so many seeds")
    parser.add_argument("--minutes", type=float, help="begin no case after this time")
    parser.add_argument("--one", action="store_true", help="this seed alone, and show what the job says")
    parser.add_argument("--short", action="store_true", help="the test that ctest runs")
    parser.add_argument("--parallel", type=int, default=os.cpu_count(), help="cases at a time")
    parser.add_argument("--cluster", type=int, default=0, metavar="N", help="draw faults of links, too, on N virtual clusters (root)")
    parser.add_argument("--fault", help="only these kinds, with commas between them: signal, signals, stop, slow, limit, shim, clock, folder, input, pipe_in, pipe_out, rank, link")
    parser.add_argument("--job", help="only jobs whose name has this in it")
    parser.add_argument("--table", type=pathlib.Path, help="write fault by verdict to this file")
    parser.add_argument("--keep", action="store_true", help="leave the cases' folders")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each case")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="papfft-faults-"))
    try:
        if arguments.short:
            return 1 if short(folder, arguments) else 0
        seeds = [arguments.seed] if arguments.one else itertools.count(arguments.seed)
        seeds = list(itertools.islice(seeds, arguments.count))
        with Campaign(folder, arguments) as campaign:
            counts, broken = campaign.run_all(seeds)
        table = table_of(counts)
        print(table)
        if arguments.table:
            arguments.table.write_text(table + "\n")
        print(f"{len(broken)} of {sum(counts.values())} broke a rule" + (f": seeds {broken}" if broken else ""))
        return 1 if broken else 0
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
