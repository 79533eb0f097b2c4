# SPDX-License-Identifier: MIT
"""Running papfft, alone and under mpirun, for the tests of the program."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# The tests import these from here, to be skipped where they are missing.
try:
    import numpy as np
    import scipy  # which loads scipy.signal and scipy.io, half a second's work, in the tests that use them
except ImportError as e:
    print(f"skipped: {e}", file=sys.stderr)
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mpirun_faults

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RECORDING = REPOSITORY / "data" / "perc_bell.flac"
PROGRAM = os.environ["PAPFFT_PROGRAM"]
MPIEXEC = os.environ["PAPFFT_MPIEXEC"]


def command_line(arguments, ranks=None):
    """papfft started alone (no ranks given) or by mpirun."""
    launcher = [] if ranks is None else [MPIEXEC, "-n", str(ranks), "--bind-to", "none"]
    return [*launcher, PROGRAM, *map(str, arguments)]


def run(command, environment=None, **options):
    return mpirun_faults.run(command, env={**os.environ, **(environment or {})}, timeout=120, **options)


def complaints(stderr):
    """What papfft said on stderr, mpirun's own lines aside."""
    return [line for line in stderr.decode().splitlines() if line.startswith("papfft:")]


def relative_l2(actual, expected):
    return np.linalg.norm(np.ravel(actual - expected)) / np.linalg.norm(np.ravel(expected))


def recording_channels():
    """The recording's channels (samples x channels) and its rate in Hz, by the reference FLAC decoder."""
    with tempfile.TemporaryDirectory() as folder:
        wav = pathlib.Path(folder) / "bell.wav"
        subprocess.run(["flac", "--silent", "-d", "-o", wav, RECORDING], check=True)
        rate_hz, samples = scipy.io.wavfile.read(wav)
    return samples / 32768, rate_hz


def recording_samples():
    """What papfft reads of the recording unless told otherwise: the mean of its channels; and its rate in Hz."""
    channels, rate_hz = recording_channels()
    return channels.mean(axis=1), rate_hz


def ranks_of(mpirun_pid):
    """pid of each rank of a running job, by rank."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1]) if entry.name.isdigit() else 0
            if parent != mpirun_pid:
                continue
            for variable in (entry / "environ").read_bytes().split(b"\0"):
                if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(variable.partition(b"=")[2])] = int(entry.name)
        except OSError:
            continue  # ended meanwhile
    return found


def wait_until(condition, seconds=60):
    """The first value of condition() that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.005)
    raise AssertionError(f"did not happen within {seconds} s")


class ProgramTest(unittest.TestCase):
    """A scratch folder per test, and papfft run in it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="papfft-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return self.folder / name

    def save(self, name, samples):
        np.save(self.path(name), samples)
        return self.path(name)

    def papfft(self, *arguments, ranks=None, environment=None, **options):
        """Runs it; it must succeed without a complaint."""
        result = run(command_line(arguments, ranks), environment, cwd=self.folder, **options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(complaints(result.stderr), [])
        return result

    def output(self, *arguments, **options):
        """The array that a run writes."""
        out = self.path("out.npy")
        self.papfft(*arguments, "-o", out, **options)
        return np.load(out)

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def start(self, command, environment=None):
        """A job in the background; whatever is left of it is killed at the test's end."""
        job = subprocess.Popen(command, env={**os.environ, **(environment or {})}, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def kill_at_end(self, pids):
        for pid in pids:
            self.addCleanup(self._kill, pid)

    @staticmethod
    def _kill(pid):
        try:
            if pathlib.Path(f"/proc/{pid}/exe").samefile(PROGRAM):
                os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # gone, as it should be
