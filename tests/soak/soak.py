#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets everything run on virtual hosts for hours, and looks whether anything grows, as root.

    soak.py --hours 2 --folder soak         the long form
    soak.py --minutes 2 --folder soak       the same, short
    soak.py --judge soak                    judges the tables that another run has left

Some groups of ranks live all the time: a session with sessions and communicators that come and go (papfft_soak), a preloaded program, and
transforms of an input that does not end. Beside them short jobs follow each other, one at a time. All results are checked.

FOLDER/ranks.tsv     memory, descriptors and threads of each rank of a group, every minute
FOLDER/session.tsv   what the session says of itself: communicators, errors of clocks and predictions
FOLDER/jobs.tsv      the short jobs
FOLDER/summary.tsv   a line per quarter of the time

The last quarter is compared with the second: what was taken in the first is what a program needs. Needs PAPFFT_PROGRAM, PAPFFT_SOAK,
PAPFFT_PRELOADED and PAPFFT_PROGRAMS in the environment, as ctest sets them.
"""

import argparse
import collections
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mpirun_faults

QUARTERS = 4
MOST_GROWTH, MOST_GROWTH_KB = 1.03, 1024  # of the mean memory from the second quarter to the last, per rank
LENGTH, ROWS = 1024, 16  # of the endless inputs: vectors of this length, so many at a time
MARK = "SOAK_GROUP"
CANNOT = 77


class Cluster:
    def __init__(self, hosts, name):
        self.program = os.environ["PAPFFT_PROGRAM"]
        self.hosts = hosts
        self.name = name

    def __enter__(self):
        subprocess.run([self.program, "cluster", "up", str(self.hosts), "--name", self.name], check=True, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        subprocess.run([self.program, "cluster", "down", "--name", self.name], check=False, stdout=subprocess.DEVNULL)

    def command(self, words, **variables):
        settings = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        return [self.program, "cluster", "run", "--name", self.name, "-n", str(self.hosts), "--timeout", "0", *settings, "--", *words]


class Group:
    """Ranks that live all the time."""

    def __init__(self, name, cluster, folder, words, **variables):
        self.name = name
        self.wrong = 0
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        # Who waits shall not take time from what else runs here, and a machine that stands still for some minutes is no fault.
        calm = {"PAPFFT_WAIT": "nap", "PAPFFT_NAP_US": 2000, "PAPFFT_STUCK_MS": 600000, MARK: name}
        self.process = subprocess.Popen(cluster.command(words, **calm, **variables), stdin=subprocess.DEVNULL, stdout=open(self.out, "wb"),
                                        stderr=open(self.err, "wb"))

    def end(self, seconds):
        """@return what is wrong with it, or nothing"""
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
            code = "it did not end"
        said = self.err.read_text(errors="replace").strip()
        if code != 0:
            return f"{self.name}: {code}: {said[-300:]}"
        return f"{self.name}: {self.wrong} wrong results" if self.wrong else None


class EndlessTransform(Group):
    """A transform between two pipes: the same vectors come in again and again, and what comes out is compared with numpy's."""

    def __init__(self, engine, cluster, folder, pause_s):
        pipes = [folder / f"{engine}.in.cf32", folder / f"{engine}.out.raw"]
        for pipe in pipes:
            pipe.unlink(missing_ok=True)
            os.mkfifo(pipe)
        self.is_over = threading.Event()
        self.pause_s = pause_s
        rows = vectors(ROWS, LENGTH)
        self.expected = np.fft.fft(rows, axis=1).astype(np.complex64)
        super().__init__(engine, cluster, folder, [
            cluster.program, "transform", str(pipes[0]), "--format", "cf32_le", "--precision", "float", "--batch", "--length", str(LENGTH), "-o",
            str(pipes[1]), "--engine", engine, "--stuck-after", "600"])
        self.threads = [threading.Thread(target=self._feed, args=(pipes[0], rows.tobytes()), daemon=True),
                        threading.Thread(target=self._compare, args=(pipes[1],), daemon=True)]
        for thread in self.threads:
            thread.start()

    def _feed(self, pipe, data):
        try:
            with open(pipe, "wb", buffering=0) as file:
                while not self.is_over.wait(self.pause_s):
                    file.write(data)
        except BrokenPipeError:
            self.wrong += 1

    def _compare(self, pipe):
        size = self.expected.nbytes
        with open(pipe, "rb") as file:
            while data := file.read(size):
                if len(data) != size or not np.allclose(np.frombuffer(data, np.complex64), self.expected.ravel(), rtol=1e-3, atol=1e-3):
                    self.wrong += 1

    def end(self, seconds):
        self.is_over.set()
        problem = super().end(seconds)
        self.threads[1].join(10)
        return problem or (f"{self.name}: {self.wrong} wrong results" if self.wrong else None)


def vectors(rows, length):
    draw = np.random.default_rng(5)
    return (draw.standard_normal((rows, length)) + 1j * draw.standard_normal((rows, length))).astype(np.complex64)


class Jobs:
    """Short jobs, one at a time, in turn, until the time is over."""

    def __init__(self, cluster, folder, end_s):
        self.cluster = cluster
        self.folder = folder / "jobs"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.end_s = end_s
        self.pause_s = min(10.0, (end_s - time.monotonic()) / 60)
        self.first = {}
        np.save(self.folder / "z.npy", vectors(64, 4096))
        np.save(self.folder / "x.npy", vectors(1, 200000).real.ravel().astype(np.float64))
        self.table = csv.writer(open(folder / "jobs.tsv", "w", newline="", buffering=1), delimiter="\t")
        self.table.writerow(["second", "job", "code", "seconds", "right"])
        self.begin_s = time.monotonic()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _all(self):
        papfft = self.cluster.program
        programs = pathlib.Path(os.environ["PAPFFT_PROGRAMS"])
        for engine in ("stream", "farm", "dif"):
            yield f"batch by {engine}", [papfft, "transform", "z.npy", "-o", "out.npy", "--engine", engine], {}
        yield "vector by slices", [papfft, "transform", "x.npy", "-o", "out.npy", "--engine", "slices"], {}
        yield "psd", [papfft, "psd", "x.npy", "--nperseg", "512", "-o", "out.npy"], {}
        yield "spectrogram", [papfft, "spectrogram", "x.npy", "--nperseg", "512", "-o", "out.npy"], {}
        for operation in ("gather", "scatterv", "allreduce", "alltoallv", "bcast"):
            yield f"bench {operation}", [papfft, "bench", "collective", "--op", operation, "--algorithms", "mpi,auto", "--bytes", "64K", "--compute", "5ms",
                                         "--delay", "uniform:5ms", "--iterations", "10"], {}
        yield "bench engine", [papfft, "bench", "engine", "--op", "bcast,reduce", "--bytes", "64K", "--iterations", "3"], {}
        yield "preloaded program", [str(programs / "conformance")], {"LD_PRELOAD": os.environ["PAPFFT_PRELOADED"]}

    def _run(self):
        while time.monotonic() < self.end_s:
            for name, words, variables in self._all():
                if time.monotonic() < self.end_s:
                    self._one(name, words, variables)
                    time.sleep(self.pause_s)

    def _one(self, name, words, variables):
        output = self.folder / "out.npy"
        output.unlink(missing_ok=True)
        begin_s = time.monotonic()
        done = subprocess.run(self.cluster.command(words, PAPFFT_STUCK_AFTER=600, **variables), cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if mpirun_faults.is_mpiruns_own(done.returncode, done.stderr):
            return
        is_right = done.returncode == 0
        if is_right and "out.npy" in words and not output.exists():
            is_right = False
            print(f"{name}: exit code 0, but no output: {done.stdout}{done.stderr}", flush=True)
        elif is_right and "out.npy" in words:
            result = np.load(output)
            first = self.first.setdefault(name, result)
            is_right = result.shape == first.shape and np.allclose(result, first, rtol=1e-4, atol=1e-5)
        if not is_right:
            print(f"{name}: {done.returncode}: {done.stderr.strip()[-300:]}", flush=True)
        now_s = time.monotonic()
        self.table.writerow([round(now_s - self.begin_s), name, done.returncode, round(now_s - begin_s, 1), int(is_right)])


def ranks_that_live():
    """(group, rank, pid) of all ranks of the groups."""
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            variables = dict(v.split(b"=", 1) for v in pathlib.Path(entry.path, "environ").read_bytes().split(b"\0") if b"=" in v)
        except OSError:
            continue  # ended meanwhile
        if MARK.encode() in variables and b"OMPI_COMM_WORLD_RANK" in variables:
            yield variables[MARK.encode()].decode(), int(variables[b"OMPI_COMM_WORLD_RANK"]), int(entry.name)


def look_at(pid):
    """Memory in kB (all that is resident, and what is its own), descriptors, threads."""
    status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return int(status["VmRSS"].split()[0]), int(status["RssAnon"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"])


def watch(folder, begin_s, end_s, period_s, groups):
    with open(folder / "ranks.tsv", "w", newline="", buffering=1) as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["second", "group", "rank", "resident_kb", "own_kb", "descriptors", "threads"])
        while (now_s := time.monotonic()) < end_s:
            for group, rank, pid in sorted(ranks_that_live()):
                try:
                    table.writerow([round(now_s - begin_s), group, rank, *look_at(pid)])
                except (OSError, KeyError):
                    continue  # ended meanwhile
            for group in groups:
                if group.process.poll() is not None:
                    return
            time.sleep(max(0.0, min(period_s, end_s - time.monotonic())))


def soak(folder, seconds, hosts, name):
    folder.mkdir(parents=True, exist_ok=True)
    period_s = min(60.0, seconds / 40)
    problems = []
    with Cluster(hosts, name) as cluster:
        begin_s = time.monotonic()
        end_s = begin_s + seconds
        program = pathlib.Path(os.environ["PAPFFT_PROGRAMS"]) / "soak"
        groups = [
            Group("session", cluster, folder, [os.environ["PAPFFT_SOAK"], str(seconds), str(period_s)]),
            Group("preload", cluster, folder, [str(program), f"{round(seconds)}s", "40"], LD_PRELOAD=os.environ["PAPFFT_PRELOADED"],
                  PAPFFT_PRELOAD_BYTES=1, PAPFFT_PRELOAD_OPERATIONS="all"),
            EndlessTransform("stream", cluster, folder, 2),
            EndlessTransform("farm", cluster, folder, 2),
        ]
        jobs = Jobs(cluster, folder, end_s)
        watch(folder, begin_s, end_s, period_s, groups)
        problems += [problem for group in groups if (problem := group.end(900)) is not None]
        jobs.thread.join()
    shutil.copy(folder / "session.out", folder / "session.tsv")
    return problems


# --- what is judged -------------------------------------------------------------------------------------------------------


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def quarter_of(row, end_s):
    return min(QUARTERS - 1, int(float(row["second"]) * QUARTERS / end_s))


def by_quarter(rows, end_s, value):
    """Of each quarter, the values of its rows."""
    quarters = [[] for _ in range(QUARTERS)]
    for row in rows:
        quarters[quarter_of(row, end_s)].append(value(row))
    return quarters


def judge_ranks(rows, end_s):
    """@return what has grown"""
    grown = []
    of_rank = collections.defaultdict(list)
    for row in rows:
        of_rank[row["group"], row["rank"]].append(row)
    for (group, rank), own in sorted(of_rank.items()):
        for name in ("resident_kb", "own_kb"):
            _, second, _, last = by_quarter(own, end_s, lambda row, name=name: int(row[name]))
            if statistics.mean(last) > statistics.mean(second) * MOST_GROWTH + MOST_GROWTH_KB:
                grown.append(f"{group}, rank {rank}: {name} from {statistics.mean(second):.0f} to {statistics.mean(last):.0f}")
        # Sessions that come and go have a thread each, which a look meets or not.
        for name in ("descriptors", "threads"):
            _, second, _, last = by_quarter(own, end_s, lambda row, name=name: int(row[name]))
            if statistics.median_high(last) > statistics.median_high(second):
                grown.append(f"{group}, rank {rank}: {name} from {statistics.median_high(second)} to {statistics.median_high(last)}")
    return grown


def judge_session(rows, end_s):
    problems = []
    _, second, _, last = by_quarter(rows, end_s, lambda row: int(row["communicators"]))
    if max(last) > max(second):
        problems.append(f"communicators from {max(second)} to {max(last)}")
    for name, meaning in (("wrong", "wrong results"), ("clock_over_bound", "readings of the clock beyond its bound"),
                          ("drifting_over_bound", "readings of the drifting clock beyond its bound")):
        count = sum(int(row[name]) for row in rows)
        if count > 0:
            problems.append(f"{count} {meaning}")
    if sum(int(row["predicted"]) for row in rows) == 0:
        problems.append("nothing was predicted")
    return problems


def summary_of(ranks, session, jobs, end_s):
    """A line per quarter."""
    lines = []
    for quarter in range(QUARTERS):
        def part(rows, quarter=quarter):
            return [row for row in rows if quarter_of(row, end_s) == quarter]
        line = {"until_minute": round(end_s / 60 * (quarter + 1) / QUARTERS, 1)}
        for group in sorted({row["group"] for row in ranks}):
            own = [row for row in part(ranks) if row["group"] == group]
            line[f"{group}_resident_kb"] = round(statistics.mean(int(row["resident_kb"]) for row in own))
            line[f"{group}_descriptors"] = statistics.median_high(int(row["descriptors"]) for row in own)
            line[f"{group}_threads"] = statistics.median_high(int(row["threads"]) for row in own)
        own = [row for row in part(session) if row["rank"] != "0"]
        line["communicators"] = max(int(row["communicators"]) for row in own)
        line["session_calls"] = sum(int(row["seen"]) for row in own if row["rank"] == "1")
        line["predicted_share"] = round(sum(int(r["predicted"]) for r in own) / sum(int(r["seen"]) for r in own), 3)
        # Of a rank in a minute; the median, as the machine may have stood still for a while.
        errors_ns = [int(row["error_ns"]) / int(row["predicted"]) for row in own if int(row["predicted"]) > 0]
        line["prediction_error_ms"] = round(statistics.median(errors_ns) / 1e6, 3) if errors_ns else ""
        line["clock_error_us"] = round(max(int(row["clock_error_ns"]) for row in own) / 1e3, 1)
        line["drifting_clock_error_us"] = round(max(int(row["drifting_error_ns"]) for row in own) / 1e3, 1)
        line["jobs"] = len(part(jobs))
        line["jobs_wrong"] = sum(row["right"] != "1" for row in part(jobs))
        lines.append(line)
    return lines


def judge(folder, problems):
    ranks, session, jobs = (rows_of(folder / f"{name}.tsv") for name in ("ranks", "session", "jobs"))
    end_s = max(float(row["second"]) for row in ranks) + 1e-6
    if not all(by_quarter(ranks, end_s, id)) or not all(by_quarter(session, end_s, id)):
        print("too short, or ended early:", *problems, sep="\n")
        return 1
    problems = [*problems, *judge_ranks(ranks, end_s), *judge_session(session, end_s),
                *(f"{row['job']}: exit code {row['code']}, wrong" for row in jobs if row["right"] != "1")]
    lines = summary_of(ranks, session, jobs, end_s)
    with open(folder / "summary.tsv", "w", newline="") as file:
        table = csv.DictWriter(file, lines[0].keys(), delimiter="\t")
        table.writeheader()
        table.writerows(lines)
    print("|", " | ".join(name.replace("_", " ") for name in ["quarter", *map(str, range(1, QUARTERS + 1))]), "|")
    print("|---" * (QUARTERS + 1) + "|")
    for name in lines[0]:
        print("|", name.replace("_", " "), "|", " | ".join(str(line[name]) for line in lines), "|")
    for problem in problems:
        print(problem)
    print(f"{len(jobs)} jobs, {sum(int(r['calls']) for r in session[-1:])} calls of the session's program per rank, {len(problems)} problems")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("soak"), help="for the tables")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--name", default="soak", help="of the virtual cluster")
    parser.add_argument("--judge", type=pathlib.Path, metavar="FOLDER", help="only judge what is there")
    arguments = parser.parse_args()
    if arguments.judge is not None:
        return judge(arguments.judge, [])
    seconds = arguments.hours * 3600 + arguments.minutes * 60
    if seconds <= 0:
        parser.error("--hours or --minutes")
    if os.geteuid() != 0:
        print("needs root for the virtual hosts")
        return CANNOT
    folder = arguments.folder.resolve()
    return judge(folder, soak(folder, seconds, arguments.hosts, arguments.name))


if __name__ == "__main__":
    sys.exit(main())
