# SPDX-License-Identifier: MIT
"""The jobs that faults are thrown at, and how a job is started so that nothing of it can hide."""

import dataclasses
import os
import pathlib
import signal
import subprocess
import time

import numpy as np

PROGRAM = os.environ["PAPFFT_PROGRAM"]
MPIEXEC = os.environ.get("PAPFFT_MPIEXEC", "mpirun")
SHIM = os.environ["PAPFFT_FAULT_SHIM"]
TESTS = pathlib.Path(PROGRAM).resolve().parents[1] / "tests"
RANK_SCRIPT = str(pathlib.Path(__file__).resolve().parent / "rank.sh")

VECTORS, LENGTH = 300, 480
STUCK_AFTER_S = 15  # longer than a fault that passes lasts
MARK = "FAULTS_CASE"


@dataclasses.dataclass(frozen=True)
class Job:
    """ranks: 0 is without mpirun. output: its files, by name. is_ours: a command of papfft, whose exit codes are documented."""
    name: str
    ranks: int
    arguments: tuple
    output: tuple = ("out.npy",)
    is_ours: bool = True
    is_batch: bool = False
    reads: str = ""
    program: str = PROGRAM
    variables: tuple = ()

    @property
    def resumes(self):
        return "--resume" in self.arguments


def batch(name, ranks, *options, delay="flat:2ms", **more):
    raw = ("--format", "cf32_le", "--precision", "float", "--batch", "--length", str(LENGTH), "-o", "out.npy")
    return Job(name, ranks, ("transform", "z.cf32", *raw, "--delay", delay, *options), is_batch=True, reads="z.cf32", **more)


def vector(name, ranks, source, *options, output="out.npy"):
    return Job(name, ranks, ("transform", source, "-o", output, *options), output=(output,), reads=source)


def other(name, ranks, program, *arguments, **variables):
    return Job(name, ranks, arguments, output=(), is_ours=False, program=str(TESTS / program), variables=tuple(variables.items()))


def all_jobs():
    bench = ("bench", "collective", "--op", "gather", "--algorithms", "lin,auto", "--bytes", "64K", "--compute", "1ms",
             "--iterations", "60", "--json", "out.json")
    library = pathlib.Path(PROGRAM).resolve().parents[1] / "comm" / "libpapfft_mpi.so"
    for candidate in (library, *library.parents[1].rglob("libpapfft_mpi.so")):
        if candidate.exists():
            library = candidate
            break
    jobs = [
        batch("batch by stream", 3, "--engine", "stream"),
        batch("batch by dif", 2, "--engine", "dif"),
        batch("batch by farm", 4, "--engine", "farm"),
        batch("batch by one of two", 2, "--engine", "alone"),
        batch("resumable batch by stream", 3, "--engine", "stream", "--resume"),
        batch("resumable batch by dif", 3, "--engine", "dif", "--resume"),
        batch("resumable batch by farm", 3, "--engine", "farm", "--resume"),
        batch("resumable batch alone", 0, "--engine", "alone", "--resume"),
        vector("vector by dif", 3, "z.npy", "--engine", "dif"),
        vector("vector by slices", 2, "z.npy", "--engine", "slices"),
        vector("vector alone", 0, "z.npy"),
        vector("table of real samples", 2, "x.npy", "--engine", "stream", output="out.csv"),
        Job("psd", 3, ("psd", "x.npy", "--nperseg", "512", "-o", "out.npy"), reads="x.npy"),
        Job("spectrogram", 3, ("spectrogram", "x.npy", "--nperseg", "512", "-o", "out.npy"), reads="x.npy"),
        Job("picture", 2, ("spectrogram", "x.npy", "--nperseg", "512", "-o", "out.png"), output=("out.png",), reads="x.npy"),
        Job("correlate", 2, ("correlate", "x.npy", "y.npy", "--nperseg", "512", "-o", "out.npy"), reads="y.npy"),
        Job("convolve", 3, ("convolve", "x.npy", "h.npy", "-o", "out.npy"), reads="x.npy"),
        Job("bench collective", 3, bench, output=("out.json",)),
        Job("simulate", 0, ("simulate", "--op", "gather", "--algorithms", "lin,bnom", "--ranks", "16", "--bytes", "64K", "--iterations",
                            "10", "--json", "out.json"), output=("out.json",)),
        other("preloaded program", 3, "preload/sums", LD_PRELOAD=str(library), PAPFFT_STUCK_MS=str(STUCK_AFTER_S * 1000)),
        other("C API", 2, "c_api/papfft_pat_test", "results", PAPFFT_STUCK_MS=str(STUCK_AFTER_S * 1000)),
        other("example in C", 3, "c_api/papfft_example_pat_gather", PAPFFT_STUCK_MS=str(STUCK_AFTER_S * 1000)),
    ]
    return [job for job in jobs if pathlib.Path(job.program).exists()]


def noise(shape, seed):
    random = np.random.default_rng(seed)
    return random.standard_normal(shape)


def make_inputs(folder):
    z = (noise((VECTORS, LENGTH), 1) + 1j * noise((VECTORS, LENGTH), 2)).astype(np.complex64)
    (folder / "z.cf32").write_bytes(z.tobytes())
    np.save(folder / "z.npy", z.ravel().astype(np.complex128))
    np.save(folder / "x.npy", noise(400000, 3))
    np.save(folder / "y.npy", noise(400000, 4))
    np.save(folder / "h.npy", noise(301, 5))


INPUTS = ("z.cf32", "z.npy", "x.npy", "y.npy", "h.npy")


class Patience:
    """Time that this process has waited: what it was stopped for by a signal does not count."""

    def __init__(self, seconds):
        self.left_s = seconds
        self.last_s = time.monotonic()

    def is_over(self):
        now_s = time.monotonic()
        self.left_s -= min(now_s - self.last_s, 0.5)
        self.last_s = now_s
        return self.left_s <= 0


class Running:
    """A job in the background; each of its processes carries a mark, and its temporary files are in folders of its own."""

    def __init__(self, job, case, mark, fault, cluster=None, stuck_after_s=STUCK_AFTER_S):
        """@param case  a folder: what the job reads and writes is in work/ there
        @param fault   what else the ranks get: commands for one rank, arguments for one rank (see Fault)"""
        self.mark = f"{MARK}={mark}".encode()
        self.job = job
        self.case = case
        self.cluster = cluster
        for name in ("work", "tmp", "shm"):
            (case / name).mkdir(exist_ok=True)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PAPFFT_")}
        environment |= {MARK: mark, "TMPDIR": str(case / "tmp"), "OMPI_MCA_orte_tmpdir_base": str(case / "tmp"),
                        "OMPI_MCA_btl_vader_backing_directory": str(case / "shm"), "PAPFFT_TUNING": "off",
                        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "1", **dict(job.variables)}
        if cluster is not None:
            del environment["OMPI_MCA_btl_vader_backing_directory"], environment["OMPI_MCA_orte_tmpdir_base"]
        arguments = [*job.arguments]
        if job.is_ours and job.ranks > 0:
            arguments += ["--stuck-after", str(stuck_after_s)]
        self.command = self._command(job, arguments, fault, cluster, environment)
        self.process = subprocess.Popen(self.command, cwd=case / "work", env=environment, stdin=subprocess.DEVNULL,
                                        stdout=open(case / "stdout", "wb"), stderr=open(case / "stderr", "wb"),
                                        start_new_session=True)

    @staticmethod
    def _command(job, arguments, fault, cluster, environment):
        program = [job.program, *arguments]
        if fault.commands:
            program = [RANK_SCRIPT, str(fault.rank), fault.commands, *program]
        if job.ranks == 0:
            return program
        for name, _ in job.variables:  # for the ranks: mpirun itself must not be preloaded
            del environment[name]
        variables = [f"{name}={value}" for name, value in job.variables]
        if cluster is not None:
            given = [word for v in (*variables, "PAPFFT_TUNING=off") for word in ("--env", v)]
            return [PROGRAM, "cluster", "run", "--name", cluster, "-n", str(job.ranks), "--timeout", "0", *given, "--", *program]
        given = ["--bind-to", "none", *[word for v in variables for word in ("-x", v)]]
        if not fault.other_arguments:
            return [MPIEXEC, "-n", str(job.ranks), *given, *program]
        return [MPIEXEC, "-n", "1", *given, *program, ":", "-n", str(job.ranks - 1), *given, *program, *fault.other_arguments]

    def processes(self):
        """(pid, name, rank or None) of all that live."""
        found = []
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                with open(f"/proc/{entry.name}/environ", "rb") as file:
                    variables = file.read().split(b"\0")
                if self.mark not in variables:
                    continue
                with open(f"/proc/{entry.name}/stat", "rb") as file:
                    text = file.read()
                if text.rpartition(b")")[2].split()[0] in (b"Z", b"X"):
                    continue
                name = text[text.index(b"(") + 1:text.rindex(b")")].decode()
                rank = next((int(v.partition(b"=")[2]) for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK=")), None)
                found.append((int(entry.name), name, rank))
            except OSError:
                continue  # ended meanwhile
        return found

    def pid_of(self, target):
        """A rank's number, "mpirun" or "daemon": one of those, or None."""
        living = self.processes()
        if target == "mpirun":
            return next((pid for pid, name, rank in living if name.startswith(("mpirun", "mpiexec", "orterun"))), None)
        if target == "daemon":
            return next((pid for pid, name, rank in living if name == "orted"), None)
        if isinstance(target, int) and not any(rank is not None for _, _, rank in living) and target == 0:
            return next((pid for pid, name, _ in living if name.startswith("papfft")), None)
        return next((pid for pid, name, rank in living if rank == target), None)

    def reference_bytes(self, name):
        """An output of the undisturbed run."""
        return (self.case.parent / f"undisturbed {self.job.name}" / "work" / name).read_bytes()

    def wait(self, seconds):
        """@return whether it has ended"""
        patience = Patience(seconds)
        while self.process.poll() is None:
            if patience.is_over():
                return False
            time.sleep(0.02)
        return True

    def wait_beside_stopped(self, rank, seconds):
        """The same; once the stopped rank is the only one left, with its work done, nobody can know it, and it goes on."""
        patience = Patience(seconds)
        while not self.wait(1):
            ranks = [(pid, r) for pid, _, r in self.processes() if r is not None]
            if len(ranks) == 1 and ranks[0][1] == rank:
                try:
                    os.kill(ranks[0][0], signal.SIGCONT)
                except OSError:
                    pass  # ended meanwhile
            if patience.is_over():
                return False
        return True

    def is_gone(self, seconds=10):
        patience = Patience(seconds)
        while self.processes():
            if patience.is_over():
                return False
            time.sleep(0.05)
        return True

    def kill(self):
        for _ in range(5):
            for pid, _, _ in self.processes():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.1)
        self.process.wait()
