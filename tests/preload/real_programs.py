#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real programs with libpapfft_mpi.so preloaded and without: the same results? At what speed? How much is there to win?

Each program runs without the library (`none`), and with it in the modes `off`, `observe` and `on`. A fourth mode, `all`, takes calls of any size
and the operations that are not taken by default, by algorithms of ours: it is there for the results and not for speed. Two runs have the same results
if every number is the same within the program's tolerance. A program that is not installed is skipped with a line that says what to install.

    tests/preload/real_programs.py --library build/release/app/libpapfft_mpi.so         # on this machine
    tests/preload/real_programs.py --library ... --cluster NAME --ranks 8 --repeats 5   # on the virtual cluster of that name
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import scipy.stats

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mpirun_faults

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77  # the exit code if nothing could be run
LARGE_BYTES = 262144
MODES = {
    "none": {},
    "off": {"PAPFFT_PRELOAD": "off"},
    "observe": {"PAPFFT_PRELOAD": "observe"},
    "on": {"PAPFFT_PRELOAD": "on"},
    "all": {"PAPFFT_PRELOAD": "on", "PAPFFT_PRELOAD_BYTES": "1", "PAPFFT_PRELOAD_OPERATIONS": "all", "PAPFFT_GUARD": "0",
            "PAPFFT_PRELOAD_COMMUNICATORS": "64"},
}


# For the mode `all`, at every size. Otherwise `auto` leaves short calls, and on one host many long ones, to the MPI library.
ALGORITHMS = {
    "bcast": "circulant", "reduce": "rxk", "allreduce": "circulant", "gather": "bnom", "scatter": "bnom", "allgather": "circulant",
    "reduce_scatter": "circulant", "alltoall": "pairwise",
}


class CannotRun(Exception):
    """What is missing, in one line."""


class Program:
    """A program with an input. `results` reads what must not change, `tolerance` is relative."""

    name = ""
    install = ""  # Debian packages
    tolerance = 1e-9
    environment = {}

    def command(self, folder):
        """Writes the input into the folder. @return the program's command line. @throws CannotRun"""
        raise NotImplementedError

    def results(self, folder, printed):
        """@return the numbers that are the program's results"""
        raise NotImplementedError

    def loop_s(self, printed):
        """@return the time that the program says it has spent after its start, or nothing"""
        found = numbers(r"\ball (\d*\.\d+) s\b", printed)
        return found[0] if found else None

    def need(self, name):
        """@return the path of an installed program"""
        path = shutil.which(name)
        if path is None:
            raise CannotRun(f"apt-get install --no-install-recommends {self.install}")
        return path

    def need_module(self, name):
        # The system's own Python: Debian's packages are of that one.
        if subprocess.run(["/usr/bin/python3", "-c", f"import {name}"], capture_output=True, check=False).returncode != 0:
            raise CannotRun(f"apt-get install --no-install-recommends {self.install}")
        return "/usr/bin/python3"


def numbers(pattern, text):
    """@param pattern  with one group, a number. Fortran's 1.0D+00 is one, too"""
    return [float(found.replace("D", "E").replace("d", "e")) for found in re.findall(pattern, text)]


class Training(Program):
    name = "training"
    install = "python3-mpi4py python3-numpy"
    tolerance = 1e-4  # single precision, added up in any order, in each of the steps

    def command(self, folder):
        return [self.need_module("mpi4py"), HERE / "programs/train.py", "--steps", "60", "--us-per-word", "20"]

    def results(self, folder, printed):
        return numbers(r"(?:loss|to|table) (\d+\.\d+)", printed)


class FortranProgram(Program):
    install = "gfortran libopenmpi-dev"
    source = ""
    arguments = ()

    def command(self, folder):
        binary = folder / self.name
        subprocess.run([self.need("mpif90"), "-O2", HERE / self.source, "-o", binary], check=True, cwd=folder)
        return [binary, *self.arguments]


class Histogram(FortranProgram):
    name = "histogram"
    source = "programs/histogram.f90"
    arguments = ("20", "1000")
    environment = {"PAPFFT_THREAD": "multiple"}

    def results(self, folder, printed):
        return numbers(r"(?:events|bins|last round) +([0-9.E+]+),?", printed)


class Elk(Program):
    """All-electron density functional theory: aluminium's total energy. Old Fortran interface, MPI_IN_PLACE."""

    name = "elk"
    install = "elk-lapw"
    tolerance = 1e-9

    def command(self, folder):
        program = self.need("elk-lapw")
        species = next(pathlib.Path("/usr/share").glob("elk*/species"), None)
        if species is None:
            raise CannotRun(f"apt-get install --no-install-recommends {self.install}")
        # A block ends with a blank line.
        blocks = ["tasks\n  0", "maxscl\n  3", "avec\n  1.0 1.0 0.0\n  1.0 0.0 1.0\n  0.0 1.0 1.0", "scale\n  3.8267",
                  f"sppath\n  '{species}/'", "atoms\n  1\n  'Al.in'\n  1\n  0.0 0.0 0.0  0.0 0.0 0.0", "ngridk\n  2 2 2"]
        (folder / "elk.in").write_text("\n\n".join(blocks) + "\n\n")
        return [program]

    def results(self, folder, printed):
        return [float(word) for word in (folder / "TOTENERGY.OUT").read_text().split()]


class QuantumEspresso(Program):
    """Plane-wave density functional theory: silicon's total energy."""

    name = "pw.x"
    install = "quantum-espresso quantum-espresso-data"
    tolerance = 1e-8

    def command(self, folder):
        program = self.need("pw.x")
        pseudo = next(pathlib.Path("/usr/share/espresso").glob("pseudo/Si.pz-vbc.UPF"), None)
        if pseudo is None:
            raise CannotRun(f"apt-get install --no-install-recommends {self.install}")
        (folder / "pw.in").write_text(f"""&control
  calculation = 'scf', prefix = 'si', pseudo_dir = '{pseudo.parent}', outdir = '{folder}', disk_io = 'none'
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 30
/
&electrons
  conv_thr = 1.0d-9
/
ATOMIC_SPECIES
  Si 28.086 {pseudo.name}
ATOMIC_POSITIONS alat
  Si 0.00 0.00 0.00
  Si 0.25 0.25 0.25
K_POINTS automatic
  3 3 3 0 0 0
""")
        return [program, "-in", folder / "pw.in"]

    def results(self, folder, printed):
        return numbers(r"!\s+total energy\s+=\s+(-?[0-9.]+) Ry", printed)


class Gpaw(Program):
    """Density functional theory on grids, in Python and C: aluminium's energy."""

    name = "gpaw"
    install = "gpaw gpaw-data"
    tolerance = 1e-7

    def command(self, folder):
        python = self.need_module("gpaw")
        (folder / "al.py").write_text("""from ase.build import bulk
from gpaw import GPAW
from gpaw.mpi import rank
atoms = bulk('Al')
atoms.calc = GPAW(mode='lcao', basis='sz(dzp)', gpts=(16, 16, 16), kpts=(4, 4, 4), txt='gpaw.txt')
energy = atoms.get_potential_energy()
if rank == 0:
    print('energy %.9f' % energy)
""")
        return [python, folder / "al.py"]

    def results(self, folder, printed):
        return numbers(r"energy (-?[0-9.]+)", printed)


class Mpgrafic(Program):
    """Initial conditions of cosmological simulations, with mpi_f08: the written fields themselves."""

    name = "mpgrafic"
    install = "mpgrafic"
    tolerance = 1e-5  # single precision

    def command(self, folder):
        program = self.need("mpgrafic")
        answers = ["4", "0.3,0.7,70", "0.05", "1", "-0.92", "0.01,100.0", "-50", "1", "0", "", "", "", "", "1", "1234", "white.dat", "0", "noise.dat"]
        (folder / "input").write_text("\n".join(answers) + "\n")
        return ["sh", "-c", f"exec {program} --np=64 < {folder}/input"]

    def results(self, folder, printed):
        found = numbers(r"(?:sigma|Mean|mean|chisq|Qrms)[^=\n]*=\s+(-?[0-9.]+(?:E[-+]\d+)?)", printed)
        for file in sorted(folder.glob("ic_*")):
            found += [float(value) for value in summed(file)]
        return found


def summed(file):
    """@return of a file of floats: the sum of their sizes, in pieces of 64 KiB"""
    import array
    data = file.read_bytes()
    floats = array.array("f", data[:len(data) // 4 * 4])
    return [sum(abs(x) for x in floats[i:i + 16384] if 1e-30 < abs(x) < 1e30) for i in range(0, len(floats), 16384)]


class Hdf5(Program):
    """A file that all ranks write and that only MPI_Finalize closes, by a callback of MPI_COMM_SELF."""

    name = "hdf5"
    install = "libhdf5-openmpi-dev"

    def command(self, folder):
        binary = folder / "hdf5_unclosed"
        source = HERE / "programs/hdf5_unclosed.c"
        subprocess.run([self.need("h5pcc.openmpi"), "-O1", source, "-o", binary], check=True, cwd=folder)
        return ["sh", "-c", f"{binary} write {folder}/data.h5"]

    def results(self, folder, printed):
        checked = subprocess.run([folder / "hdf5_unclosed", "check", folder / "data.h5"], check=True, capture_output=True, text=True)
        return numbers(r"sum (\d+)", checked.stdout)


class Rmpi(Program):
    """R loads Rmpi by dlopen."""

    name = "rmpi"
    install = "r-cran-rmpi r-base-core"

    def command(self, folder):
        program = self.need("Rscript")
        if not pathlib.Path("/usr/lib/R/site-library/Rmpi").exists():
            raise CannotRun(f"apt-get install --no-install-recommends {self.install}")
        (folder / "job.R").write_text("""library(Rmpi)
rank <- mpi.comm.rank(0)
ranks <- mpi.comm.size(0)
x <- as.double(seq_len(200000)) * (rank + 1)
for (i in 1:30) {
  total <- mpi.allreduce(x, type = 2, op = "sum", comm = 0)
  first <- mpi.reduce(x, type = 2, op = "max", dest = 0, comm = 0)
  y <- mpi.bcast(if (rank == 1) x else double(200000), type = 2, rank = 1, comm = 0)
  all <- mpi.gather(x, type = 2, rdata = double(200000 * ranks), root = 0, comm = 0)
}
if (rank == 0) cat("result", sapply(c(sum(total), sum(first), sum(y), sum(all)), format, digits = 15), "\\n")
invisible(mpi.finalize())
""")
        return [program, folder / "job.R"]

    def results(self, folder, printed):
        return [float(word) for word in re.search(r"result (.*)", printed).group(1).split()]


class Hpcc(Program):
    """The HPC Challenge. Its speeds are no results; its own checks are."""

    name = "hpcc"
    install = "hpcc"

    def command(self, folder):
        program = self.need("hpcc")
        lines = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text().splitlines()
        lines[5] = "300          Ns"
        lines[10], lines[11] = "1            Ps", f"{self.ranks}            Qs"
        (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
        return [program]

    def results(self, folder, printed):
        text = (folder / "hpccoutf.txt").read_text()
        # Ranks may overtake each other in RandomAccess: the benchmark allows a hundredth of its table to be wrong.
        wrong = numbers(r"MPIRandomAccess_ErrorsFraction=([0-9.e+-]+)", text)
        return numbers(r"(?:Success|HPL_N)=(\d+)", text) + [float(text.count("PASSED")), *(float(w <= 0.01) for w in wrong)]


class Mpi4pyFft(Program):
    """Three-dimensional transforms of an array that the ranks share in pencils and in slabs, forth and back."""

    name = "mpi4py-fft"
    install = "python3-mpi4py-fft"

    def command(self, folder):
        python = self.need_module("mpi4py_fft")
        (folder / "transforms.py").write_text("""import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray
results = []
for grid in ((-1,), (0, -1), None):
    for dtype in (float, complex):
        fft = PFFT(MPI.COMM_WORLD, (96, 60, 128), dtype=dtype, grid=grid)
        u = newDistArray(fft, False)
        indices = numpy.indices(u.shape)
        for axis, start in enumerate(u.substart):
            indices[axis] += start
        u[:] = numpy.sin(indices[0] * 0.3 + indices[1] * indices[2] * 0.01)
        spectrum = fft.forward(u)
        energy = MPI.COMM_WORLD.allreduce(float(numpy.sum(numpy.abs(spectrum) ** 2)))
        error = MPI.COMM_WORLD.allreduce(float(numpy.abs(fft.backward(spectrum) - u).max()), MPI.MAX)
        results.append((energy, float(error < 1e-12)))
if MPI.COMM_WORLD.rank == 0:
    for energy, right in results:
        print('energy %.12e right %d' % (energy, right))
""")
        return [python, folder / "transforms.py"]

    def results(self, folder, printed):
        return numbers(r"(?:energy|right) ([0-9.e+-]+)", printed)


ALL = [Training(), Histogram(), Mpi4pyFft(), Mpgrafic(), Hdf5(), Rmpi(), Hpcc(), Elk(), QuantumEspresso(), Gpaw()]


class Launcher:
    def __init__(self, options):
        self.options = options

    def words(self, environment, command):
        """@return the command line of a job"""
        settings = {"OMP_NUM_THREADS": "1", **environment}
        if self.options.cluster:
            given = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
            return [self.options.papfft, "cluster", "run", "--name", self.options.cluster, "-n", str(self.options.ranks),
                    *given, "--", *map(str, command)]
        given = [word for name, value in settings.items() for word in ("-x", f"{name}={value}")]
        return [self.options.mpiexec, "--oversubscribe", "--bind-to", "none", "-n", str(self.options.ranks), *given, *map(str, command)]

    def run(self, words, folder):
        """@return seconds and what was printed. @throws RuntimeError"""
        for _ in range(mpirun_faults.TRIES):
            from_s = time.perf_counter()
            done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", timeout=self.options.timeout, check=False)
            took_s = time.perf_counter() - from_s
            if not mpirun_faults.is_mpiruns_own(done.returncode, done.stdout):
                break
        if done.returncode != 0:
            raise RuntimeError(f"exit code {done.returncode}\n{done.stdout[-3000:]}")
        return took_s, done.stdout


def write_decisions(folder, mpiexec, most_ranks):
    """Tables by which `auto` takes ALGORITHMS in all groups of up to so many ranks."""
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=True).stdout.split()[3]
    cores = len(os.sched_getaffinity(0))
    rows = "".join(f"{operation} {1 << power} {name}\n" for operation, name in ALGORITHMS.items() for power in range(0, 31, 2))
    folder.mkdir()
    for ranks in range(2, most_ranks + 1):
        for hosts in range(1, ranks + 1):
            crowded = "yes" if -(-ranks // hosts) > cores else "no"
            (folder / f"decisions-{ranks}-on-{hosts}.txt").write_text(
                f"papfft-decisions 1\nlibrary Open MPI v{version}\nranks {ranks}\nhosts {hosts}\ncrowded {crowded}\n{rows}")


def differences(expected, found, tolerance):
    """@return one line that says what differs, or nothing"""
    if len(expected) != len(found):
        return f"{len(found)} results in place of {len(expected)}"
    for number, (x, y) in enumerate(zip(expected, found)):
        if abs(x - y) > tolerance * max(abs(x), abs(y)):
            return f"result {number} is {y!r} in place of {x!r}"
    return ""


def share_of_large(report):
    """@return of the time between MPI_Init and MPI_Finalize, the share in collectives of LARGE_BYTES and more"""
    spent = sum(row["ours_ns"] + row["passed_ns"] for row in report["calls"] if row["from_bytes"] >= LARGE_BYTES)
    return spent / max(1, report["wall_ns"])


class Comparison:
    """Runs a program in all modes."""

    def __init__(self, program, options):
        self.program = program
        self.options = options
        self.times_s = {mode: [] for mode in options.modes}
        self.loops_s = {mode: [] for mode in options.modes}
        self.failures = []
        self.share = None
        self.ours = {}
        self.seen = 0
        self.results = None

    def run(self, launcher):
        self.program.ranks = self.options.ranks
        for repeat in range(self.options.repeats):
            for mode in self.options.modes if repeat % 2 == 0 else reversed(self.options.modes):
                self.run_once(launcher, mode)

    def run_once(self, launcher, mode):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            folder.chmod(0o755)
            command = self.program.command(folder)
            report = folder / "papfft.json"
            preload = {"LD_PRELOAD": self.options.library, "PAPFFT_PRELOAD_REPORT": report, **MODES[mode]} if mode != "none" else {}
            if mode == "all":
                write_decisions(folder / "decisions", self.options.mpiexec, self.options.ranks)
                preload["PAPFFT_DECISIONS"] = folder / "decisions"
            words = launcher.words({**preload, **self.program.environment}, command)
            try:
                took_s, printed = launcher.run(words, folder)
                found = self.program.results(folder, printed)
            except (RuntimeError, OSError, AttributeError, subprocess.SubprocessError) as error:
                self.failures.append(f"{mode}: {error}")
                return
            self.times_s[mode].append(took_s)
            if (loop_s := self.program.loop_s(printed)) is not None:
                self.loops_s[mode].append(loop_s)
            self.note(mode, found, json.loads(report.read_text()) if report.exists() else None)

    def note(self, mode, found, report):
        if not found:
            self.failures.append(f"{mode}: no results")
        if self.results is None:
            self.results = found
        difference = differences(self.results, found, self.program.tolerance)
        if difference:
            self.failures.append(f"{mode}: {difference}")
        if mode in ("observe", "on", "all") and report is None:
            self.failures.append(f"{mode}: no summary")
        elif mode == "observe":
            self.share = share_of_large(report)
        elif mode in ("on", "all"):
            self.ours[mode] = sum(row["ours"] for row in report["calls"])
            self.seen = sum(row["ours"] + row["passed"] for row in report["calls"])

    def row(self):
        """What came out, for people and for programs."""
        medians, times_faster = times_and_ratios(self.times_s)
        loops, loops_faster = times_and_ratios(self.loops_s)
        slower_p = chances_of_noise(self.loops_s if loops_faster else self.times_s)
        return {"program": self.program.name, "ranks": self.options.ranks, "failures": self.failures, "seconds": medians,
                "times_faster": times_faster, "loop_seconds": loops, "loop_times_faster": loops_faster, "slower_p": slower_p,
                "share_of_large_calls": self.share, "calls": self.seen, "calls_ours": self.ours, "results": len(self.results or [])}


def times_and_ratios(times_s):
    """@param times_s  lists by mode @return by mode the medians, and how many times as long it takes without the library"""
    medians = {mode: statistics.median(times) for mode, times in times_s.items() if times}
    first = medians.get("none")
    return medians, {mode: first / s for mode, s in medians.items() if first and s and mode not in ("none", "all")}


def chances_of_noise(times_s):
    """By mode, p of the one-sided Mann-Whitney test that it takes more than 1 % longer than without the library. Empty with fewer than
    5 repeats, which cannot reach 0.01."""
    first = [1.01 * s for s in times_s.get("none", [])]
    if len(first) < 5:
        return {}
    return {mode: scipy.stats.mannwhitneyu(times, first, alternative="greater").pvalue
            for mode, times in times_s.items() if mode not in ("none", "all") and len(times) >= 5}


def line_of(row):
    ratios = ", ".join(f"{mode} {ratio:.2f}" for mode, ratio in row["times_faster"].items())
    if row["loop_times_faster"]:
        ratios += "; after its start " + ", ".join(f"{mode} {ratio:.2f}" for mode, ratio in row["loop_times_faster"].items())
    for mode, p in row["slower_p"].items():
        ratios += f"; {mode} is slower by over 1 %: p = {p:.2g}"
    share = "" if row["share_of_large_calls"] is None else f"; {100 * row['share_of_large_calls']:.1f} % in large collectives"
    word = "FAILED" if row["failures"] else "ok    "
    first = row["seconds"].get("none", 0)
    ours = ", ".join(f"{mode} {calls}" for mode, calls in row["calls_ours"].items())
    return (f"{row['program']:<11} {word} {row['results']} results; {first:.1f} s; without / with: {ratios}{share}; "
            f"of {row['calls']} calls ours: {ours}")


def parsed():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--library", default=os.environ.get("PAPFFT_PRELOADED"), help="libpapfft_mpi.so")
    arguments.add_argument("--programs", default=",".join(p.name for p in ALL), help="names with commas between them")
    arguments.add_argument("--modes", default=",".join(MODES), help="of none, off, observe, on and all")
    arguments.add_argument("--ranks", type=int, default=2)
    arguments.add_argument("--repeats", type=int, default=1)
    arguments.add_argument("--timeout", type=int, default=900, help="seconds for one run")
    arguments.add_argument("--cluster", help="run on the virtual cluster of this name")
    arguments.add_argument("--papfft", default="papfft", help="the program, for --cluster")
    arguments.add_argument("--mpiexec", default=os.environ.get("PAPFFT_MPIEXEC", "mpirun"))
    arguments.add_argument("--json", help="a file for all numbers")
    options = arguments.parse_args()
    options.modes = options.modes.split(",")
    if not options.library:
        arguments.error("--library is missing: the path of libpapfft_mpi.so, which `papfft preload --path` prints")
    options.library = str(pathlib.Path(options.library).resolve())
    options.papfft = str(pathlib.Path(shutil.which(options.papfft) or options.papfft).resolve())
    return options


def main():
    options = parsed()
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    rows = []
    for name in options.programs.split(","):
        program = next((p for p in ALL if p.name == name), None)
        if program is None:
            sys.exit(f"'{name}': expected {', '.join(p.name for p in ALL)}")
        comparison = Comparison(program, options)
        try:
            comparison.run(Launcher(options))
        except CannotRun as missing:
            print(f"{name:<11} skipped: {missing}", flush=True)
            continue
        rows.append(comparison.row())
        print(line_of(rows[-1]), flush=True)
        for failure in comparison.failures:
            print(f"  {failure}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    if not rows:
        return SKIPPED
    return 1 if any(row["failures"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
