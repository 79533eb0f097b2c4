# SPDX-License-Identifier: MIT
"""Jobs that are asked to stop, and inputs that do not end as they should: no wait for ever, and nothing lost that was done."""

import fcntl
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import termios

from support import (ProgramTest, command_line, complaints, np, ranks_of, relative_l2, run, scipy, wait_until)

LENGTH = 480
RAW = ("--format", "cf32_le", "--precision", "float")
BATCH = ("--batch", "--length", LENGTH, *RAW)
STOPPED = {signal.SIGUSR1: 75, signal.SIGINT: 130, signal.SIGTERM: 143}


def noise(vectors, seed=1):
    random = np.random.default_rng(seed)
    shape = (vectors, LENGTH)
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(np.complex64)


def catches(pid, number):
    """Whether a process has a handler for a signal."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    found = re.search(r"SigCgt:\s+([0-9a-f]+)", status)
    return found is not None and int(found[1], 16) >> (number - 1) & 1 == 1


class StopCase(ProgramTest):
    """Subclasses' tests hold the writing end of the jobs' inputs."""

    def start_job(self, *arguments, ranks=None, **options):
        """A job; the rest of it is killed at the test's end, ranks included."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL} | options
        job = subprocess.Popen(command_line(arguments, ranks), cwd=self.folder, stderr=subprocess.PIPE, **options)
        for pipe in (job.stdin, job.stderr):
            if pipe is not None:
                self.addCleanup(self.close, pipe)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.addCleanup(lambda: self.kill_at_end(ranks_of(job.pid).values()))
        return job

    @staticmethod
    def close(pipe):
        try:
            pipe.close()
        except OSError:
            pass  # what was still to be flushed

    def start_on_pipe(self, *arguments, ranks=None):
        """A job with its standard input open, which nobody closes before the test does."""
        return self.start_job(arguments[0], "-", *arguments[1:], ranks=ranks, stdin=subprocess.PIPE)

    @staticmethod
    def unread(pipe):
        """Bytes that lie in a pipe."""
        return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]

    def pids(self, job, ranks):
        """Of all ranks, which are ready for signals."""
        pids = {0: job.pid} if ranks is None else wait_until(
            lambda: len(found := ranks_of(job.pid)) == ranks and found)
        wait_until(lambda: all(catches(pid, signal.SIGUSR1) for pid in pids.values()))
        return pids

    def end_of(self, job, again=None):
        """What it said, and the exit code; the job must end although its input stays open.

        again: a signal for mpirun, which loses what comes before its ranks have told it that they run. Not after they have ended:
        it leaves then, and would die of the signal."""
        for _ in range(15):
            try:
                code = job.wait(timeout=2)
                break
            except subprocess.TimeoutExpired:
                if again is not None and ranks_of(job.pid):
                    job.send_signal(again)
        else:
            self.fail("the job hangs")
        return complaints(job.stderr.read()), code

    def fifo(self, name):
        os.mkfifo(self.path(name))
        return self.path(name)


class StopOnOpenPipeTest(StopCase):
    def check_batch(self, ranks, number, *options, whom=None, expected_code=None):
        z = noise(4)
        results = self.fifo("results.raw")
        job = self.start_on_pipe("transform", *BATCH, *options, "-o", "results.raw", "-o", "out.npy", ranks=ranks)
        job.stdin.write(z.tobytes())
        job.stdin.flush()
        with results.open("rb") as rows:  # they come although the input is open, whatever the engine
            self.assertEqual(len(rows.read(z.nbytes)), z.nbytes)
            os.kill(job.pid if whom is None else self.pids(job, ranks)[whom], number)
            said, code = self.end_of(job)
        if expected_code is None:  # else mpirun passes no lines on any more
            self.assertEqual(said, [f"papfft: stopped by {number.name} after 4 vectors; the output holds these"])
        self.assertEqual(code, STOPPED[number] if expected_code is None else expected_code)
        self.assertLess(relative_l2(np.load(self.path("out.npy")), np.fft.fft(z)), 1e-6)
        for name in ("results.raw", "out.npy"):
            self.path(name).unlink()

    def test_mpirun_is_ended(self):
        # It then gives its ranks this time, and an exit code of its own.
        os.environ["OMPI_MCA_odls_base_sigkill_timeout"] = "5"
        self.addCleanup(os.environ.pop, "OMPI_MCA_odls_base_sigkill_timeout")
        self.check_batch(2, signal.SIGTERM, expected_code=1)

    def test_alone(self):
        for number, engine in ((signal.SIGUSR1, "alone"), (signal.SIGINT, "alone"), (signal.SIGTERM, "dif")):
            with self.subTest(engine=engine, signal=number):
                self.check_batch(None, number, "--engine", engine)

    def test_a_launcher_that_passes_ctrl_c_on(self):
        """mpirun turns it into SIGTERM. Here the test is the launcher: what the ranks say is lost when mpirun ends."""
        environment = {**os.environ, "PMI_RANK": "0"}
        job = self.start_job("transform", "-", *BATCH, "-o", "out.npy", stdin=subprocess.PIPE, env=environment)
        self.pids(job, None)
        job.send_signal(signal.SIGTERM)
        said, code = self.end_of(job)
        self.assertEqual((len(said), code), (1, 143), said)
        self.assertIn("by the launcher (which sends SIGTERM for Ctrl-C, too)", said[0])

    def test_every_engine_under_mpirun(self):
        for ranks, options in ((2, ("--engine", "stream")), (4, ("--engine", "farm")), (2, ("--engine", "alone")),
                               (4, ("--engine", "dif")), (2, ("--gather", "bsls")), (2, ("--gather", "mpi", "--scatter", "mpi"))):
            with self.subTest(ranks=ranks, options=options):
                self.check_batch(ranks, signal.SIGUSR1, *options)

    def test_a_signal_to_another_rank_alone(self):
        for number, engine in ((signal.SIGUSR1, "stream"), (signal.SIGTERM, "farm"), (signal.SIGINT, "dif"),
                               (signal.SIGUSR1, "alone")):
            with self.subTest(engine=engine, signal=number):
                self.check_batch(3, number, "--engine", engine, whom=2)

    def test_results_left_with_the_ranks(self):
        z = noise(4)
        job = self.start_on_pipe("transform", *BATCH, "--leave-distributed", "-o", "out.npy", ranks=2)
        job.stdin.write(z.tobytes())
        job.stdin.flush()
        self.pids(job, 2)
        # Nothing shows from outside how far it is: it may stop before any of them.
        job.send_signal(signal.SIGUSR1)
        said, code = self.end_of(job, again=signal.SIGUSR1)
        self.assertEqual((len(said), code), (1, 75), said)
        if self.path("out.index.json").exists():
            shares = [np.load(self.path(f"out.rank{r}.npy")) for r in range(2)]
            self.assertEqual(len(shares[0]), len(shares[1]))
            expected = np.fft.fft(z[:len(shares[0])])
            for r in range(2):
                self.assertLess(relative_l2(shares[r], expected[:, r::2]), 1e-6)
        else:
            self.assertEqual(self.files(), [])

    def test_spectrogram_of_what_came(self):
        z = noise(200).ravel()
        for ranks, whom in ((None, 0), (3, 1)):
            with self.subTest(ranks=ranks):
                source = self.fifo("in.cf32")
                job = self.start_job("spectrogram", source, *RAW, "--nperseg", 256, "-o", "out.npy", ranks=ranks)
                with source.open("wb") as writer:
                    writer.write(z.tobytes())  # more than a pipe holds, and no whole number of tasks
                    writer.flush()
                    os.kill(self.pids(job, ranks)[whom], signal.SIGUSR1)
                    said, code = self.end_of(job)
                frames = int(re.fullmatch(r"papfft: stopped by SIGUSR1 after (\d+) frames; the output holds these",
                                          said[0])[1])
                self.assertEqual((len(said), code), (1, 75))
                _, _, expected = scipy.signal.spectrogram(z, return_onesided=False)
                self.assertGreater(frames, expected.shape[1] // 2)
                actual = np.load(self.path("out.npy"))
                self.assertEqual(actual.shape, (frames, 256))
                self.assertLess(relative_l2(actual, expected.T[:frames]), 1e-5)
                for name in ("in.cf32", "out.npy"):
                    self.path(name).unlink()

    def test_psd_of_what_came(self):
        z = noise(1000).ravel()
        for ranks, whom in ((None, 0), (2, 1)):
            with self.subTest(ranks=ranks):
                source = self.fifo("in.cf32")
                job = self.start_job("psd", source, *RAW, "--nperseg", 256, "--frames-at-once", 5, "-o", "out.npy", ranks=ranks)
                with source.open("wb") as writer:
                    writer.write(z.tobytes())  # more than a pipe holds
                    writer.flush()
                    os.kill(self.pids(job, ranks)[whom], signal.SIGTERM)
                    said, code = self.end_of(job)
                frames = int(re.fullmatch(r"papfft: stopped by SIGTERM after (\d+) frames; the output is their average",
                                          said[0])[1])
                self.assertEqual((len(said), code), (1, 143))
                self.assertGreater(frames, 1000)
                _, expected = scipy.signal.welch(z[:(frames + 1) * 128], return_onesided=False)
                self.assertLess(relative_l2(np.load(self.path("out.npy")), expected), 1e-5)
                for name in ("in.cf32", "out.npy"):
                    self.path(name).unlink()


class StopBeforeTheFirstSampleTest(StopCase):
    """The job waits for its input when the signal comes: one line, the exit code, and no output."""

    def test_of_an_open_pipe(self):
        commands = {"transform": (*BATCH,), "spectrogram": RAW, "psd": RAW, "convolve": ("filter.npy", *RAW)}
        for command, ranks, whom, number in (("transform", None, 0, signal.SIGUSR1), ("transform", 3, 2, signal.SIGUSR1),
                                             ("transform", 2, None, signal.SIGUSR1), ("spectrogram", None, 0, signal.SIGTERM),
                                             ("psd", None, 0, signal.SIGINT), ("psd", 2, 1, signal.SIGTERM),
                                             ("convolve", None, 0, signal.SIGUSR1)):
            with self.subTest(command=command, ranks=ranks, whom=whom):
                self.save("filter.npy", np.ones(3))
                job = self.start_on_pipe(command, *commands[command], "-o", "out.npy", ranks=ranks)
                pids = self.pids(job, ranks)
                os.kill(job.pid if whom is None else pids[whom], number)
                said, code = self.end_of(job, again=number if whom is None else None)
                self.assertEqual((len(said), code), (1, STOPPED[number]), said)
                self.assertIn(f"ended by {number.name}", said[0])
                self.assertEqual(self.files(), ["filter.npy"])

    def test_of_a_fifo_that_nobody_writes(self):
        job = self.start_job("transform", self.fifo("in.cf32"), *BATCH, "-o", "out.npy")
        os.kill(self.pids(job, None)[0], signal.SIGUSR1)
        said, code = self.end_of(job)
        self.assertEqual((len(said), code, self.files()), (1, 75, ["in.cf32"]), said)

    def test_less_than_a_vector_has_come(self):
        for command, options, what in (("transform", BATCH, "vector"), ("spectrogram", RAW, "frame"), ("psd", RAW, "frame")):
            with self.subTest(command):
                job = self.start_on_pipe(command, *options, "-o", "out.npy")
                job.stdin.write(bytes(8 * 20))
                job.stdin.flush()
                wait_until(lambda: self.unread(job.stdin) == 0)
                os.kill(self.pids(job, None)[0], signal.SIGUSR1)
                said, code = self.end_of(job)
                self.assertEqual((len(said), code, self.files()), (1, 75, []), said)

    def test_to_be_resumed(self):
        for before in (None, 7):
            with self.subTest(before):
                z = noise(12)
                self.path("z.cf32").write_bytes(z.tobytes())
                resumed = ("transform", "-", *BATCH, "--resume", "-o", "out.npy")
                if before is not None:
                    run(command_line(resumed), input=z[:before].tobytes() + b"half", cwd=self.folder)
                    self.assertEqual(self.files(), ["out.npy.journal", "out.npy.partial", "z.cf32"])
                job = self.start_on_pipe(*resumed[:1], *resumed[2:])
                os.kill(self.pids(job, None)[0], signal.SIGUSR1)
                said, code = self.end_of(job)
                self.assertEqual((len(said), code), (1, 75), said)
                with self.path("z.cf32").open("rb") as again:
                    result = run(command_line(resumed), stdin=again, cwd=self.folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(len(complaints(result.stderr)), 0 if before is None else 1)
                self.assertLess(relative_l2(np.load(self.path("out.npy")), np.fft.fft(z)), 1e-6)
                self.path("out.npy").unlink()


class QuietPipeTest(StopCase):
    def test_a_quiet_source_is_no_stuck_rank(self):
        """Not while the input is opened, nor between vectors, nor after 7 s, when ranks that hear nothing of each other give up."""
        z = noise(8)
        commands = [("transform", *BATCH, "--engine", "dif"), ("transform", *BATCH, "--gather", "mpi"),
                    ("psd", *RAW, "--nperseg", LENGTH)]
        jobs = []
        for i, (command, *options) in enumerate(commands):
            source = self.fifo(f"in{i}.cf32")
            job = self.start_job(command, source, *options, "--stuck-after", 2, "-o", f"out{i}.npy", ranks=2)
            jobs.append((job, source.open("wb")))
        for part in (z[:4], z[4:]):
            self.assertRaises(subprocess.TimeoutExpired, jobs[0][0].wait, timeout=4.5)
            for _, writer in jobs:
                writer.write(part.tobytes())
                writer.flush()
        for i, (job, writer) in enumerate(jobs):
            writer.close()
            self.assertEqual(self.end_of(job), ([], 0))
            actual = np.load(self.path(f"out{i}.npy"))
            expected = scipy.signal.welch(z.ravel(), nperseg=LENGTH, return_onesided=False)[1] if i == 2 else np.fft.fft(z)
            self.assertLess(relative_l2(actual, expected), 1e-5)


class InputThatEndsEarlyTest(StopCase):
    def test_what_came_is_kept(self):
        z = noise(6)
        header = self.save("z.npy", noise(10).ravel()).read_bytes()[:128]
        raw, npy = z.tobytes() + bytes(5), header + z.tobytes() + bytes(8 * 7)
        for ranks, contents, options in ((None, raw, RAW), (2, raw, (*RAW, "--engine", "dif")),
                                         (3, raw, (*RAW, "--engine", "farm")), (None, npy, ("--precision", "float"))):
            with self.subTest(ranks=ranks, options=options):
                result = run(command_line(("transform", "-", "--batch", "--length", LENGTH, *options, "-o", "out.npy"), ranks),
                             input=contents, cwd=self.folder)
                self.assertEqual(result.returncode, 65, result.stderr)
                said = complaints(result.stderr)
                self.assertEqual(len(said), 2, said)
                self.assertIn("the output holds the 6 vectors before", said[0])
                self.assertIn("standard input", said[1])
                self.assertLess(relative_l2(np.load(self.path("out.npy")), np.fft.fft(z)), 1e-6)
                self.path("out.npy").unlink()
        result = run(command_line(("spectrogram", "-", *RAW, "--nperseg", LENGTH, "--noverlap", 0, "-o", "out.npy")),
                     input=raw, cwd=self.folder)
        self.assertEqual((result.returncode, len(complaints(result.stderr))), (65, 2), result.stderr)
        self.assertEqual(len(np.load(self.path("out.npy"))), 6)
        for ranks in (None, 2):
            result = run(command_line(("psd", "-", *RAW, "--nperseg", LENGTH, "-o", "out.npy"), ranks), input=raw,
                         cwd=self.folder)
            self.assertEqual((result.returncode, len(complaints(result.stderr))), (65, 2), result.stderr)
            _, expected = scipy.signal.welch(z.ravel(), nperseg=LENGTH, return_onesided=False)
            self.assertLess(relative_l2(np.load(self.path("out.npy")), expected), 1e-5)


class ResumeTest(StopCase):
    def setUp(self):
        super().setUp()
        self.z = noise(3000)
        self.path("z.cf32").write_bytes(self.z.tobytes())

    def begin(self, *options, ranks=2, delay="flat:1ms"):
        """A batch that is stopped on its way."""
        job = self.start_job("transform", "z.cf32", *BATCH, "--resume", "-o", "out.npy", "--delay", delay, "--progress",
                             "always", *options, ranks=ranks)
        wait_until(lambda: (done := re.match(rb"transform +(\d+)/", job.stderr.readline())) and int(done[1]) > 9)
        job.send_signal(signal.SIGUSR1)
        job.stderr.read()
        self.assertEqual(job.wait(30), 75)
        self.assertEqual(self.files(), ["out.npy.journal", "out.npy.partial", "z.cf32"])

    def go_on(self, *options, ranks=2):
        return run(command_line(("transform", "z.cf32", *BATCH, "--resume", "-o", "out.npy", *options), ranks), cwd=self.folder)

    def refused(self, says, *options, ranks=2):
        result = self.go_on(*options, ranks=ranks)
        said = complaints(result.stderr)
        self.assertEqual((result.returncode, len(said)), (73, 1), said)
        self.assertIn(says, said[0])
        self.assertTrue(self.path("out.npy.partial").stat().st_size > 0)

    def goes_on(self, *options, ranks=2, otherwise=""):
        result = self.go_on(*options, ranks=ranks)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(complaints(result.stderr)[0], r"note: \d+ vectors are there already" + (otherwise or "$"))
        self.assertEqual(self.files(), ["out.npy", "z.cf32"])
        self.assertLess(relative_l2(np.load(self.path("out.npy")), np.fft.fft(self.z)), 1e-6)

    def test_engine_dif_and_named_algorithms(self):
        for options in (("--engine", "dif"), ("--gather", "bsls", "--scatter", "mpi")):
            with self.subTest(options):
                self.begin(*options)
                self.goes_on(*options)
                self.path("out.npy").unlink()

    def test_by_another_number_of_ranks_or_engine(self):
        """Which changes the last bits at most: a note says so where it does."""
        for first, ranks, then, more_ranks, otherwise in (
                ("dif", 2, "dif", 3, "; they were transformed each shared by 2 ranks"),
                ("stream", 4, "dif", 4, ""),
                ("stream", 3, "auto", None, "; they were transformed each shared by 3 ranks"),
                ("farm", 2, "alone", None, "")):
            with self.subTest(first=first, ranks=ranks, then=then, more_ranks=more_ranks):
                self.begin("--engine", first, ranks=ranks, delay="flat:4ms")  # mpirun passes the signal on in its own time
                self.goes_on("--engine", then, ranks=more_ranks, otherwise=otherwise)
                self.path("out.npy").unlink()

    def test_another_input_is_refused_and_named(self):
        self.begin("--engine", "dif")
        kept = self.path("z.cf32").read_bytes()
        self.path("z.cf32").write_bytes(noise(3000, seed=2).tobytes())
        self.refused("fingerprint: ", "--engine", "dif")
        self.path("z.cf32").write_bytes(kept)
        # Whatever is missing at the partial file's end is done again.
        os.truncate(self.path("out.npy.partial"), self.path("out.npy.partial").stat().st_size - 11)
        self.goes_on("--engine", "dif")

    def test_after_a_full_disk(self):
        limit = 2_000_000
        result = subprocess.run(command_line(("transform", "z.cf32", *BATCH, "--resume", "-o", "out.npy")), cwd=self.folder,
                                stderr=subprocess.PIPE, timeout=60,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual((result.returncode, len(complaints(result.stderr))), (73, 1), result.stderr)
        self.assertEqual(self.path("out.npy.partial").stat().st_size, limit)
        self.goes_on(ranks=None)

    def test_other_options_are_refused_and_named(self):
        """Each that changes the numbers: a file's rows must all be made alike."""
        self.z.real.astype(np.float32).tofile(self.path("x.f32"))
        scipy.io.wavfile.write(self.path("two.wav"), 1000, self.z.view(np.float32).reshape(-1, 2))
        batch = ("--batch", "--length", LENGTH, "--resume", "-o", "out.npy")
        real = ("x.f32", "--format", "rf32_le")
        for source, first, then, says in (
                (("z.cf32", "--format", "cf32_le"), ("--precision", "float"), ("--precision", "double"), "precision: float then"),
                (("z.cf32", *RAW), (), ("--inverse",), "inverse: no then"),
                (real, (), ("--full",), "full: no then"),
                (real, ("--real",), (), "real: yes then"),
                (("two.wav",), ("--channel", 1), ("--channel", 0), "fingerprint: "),
                (("two.wav",), (), ("--channel", 0), "fingerprint: ")):
            with self.subTest(source=source, first=first, then=then):
                limit = 500_000
                result = subprocess.run(command_line(("transform", *source, *batch, *first)), cwd=self.folder,
                                        stderr=subprocess.PIPE, timeout=60,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertEqual(result.returncode, 73, result.stderr)
                result = run(command_line(("transform", *source, *batch, *then)), cwd=self.folder)
                said = complaints(result.stderr)
                self.assertEqual((result.returncode, len(said)), (73, 1), said)
                self.assertIn(says, said[0])
                self.assertEqual(self.path("out.npy.partial").stat().st_size, limit)
                for name in ("out.npy.partial", "out.npy.journal"):
                    self.path(name).unlink()

    def test_a_pipe_that_has_less_than_before(self):
        resumed = command_line(("transform", "-", *BATCH, "--resume", "-o", "out.npy"))
        first = run(resumed, input=self.z[:9].tobytes() + b"half", cwd=self.folder)
        self.assertEqual(first.returncode, 65, first.stderr)
        again = run(resumed, input=self.z[:5].tobytes(), cwd=self.folder)
        self.assertEqual(again.returncode, 65, again.stderr)
        self.assertIn("9 are done already", complaints(again.stderr)[-1])
        self.assertEqual(self.files(), ["out.npy.journal", "out.npy.partial", "z.cf32"])

    def test_one_job_at_a_time(self):
        job = self.start_on_pipe("transform", *BATCH, "--resume", "-o", "out.npy")
        job.stdin.write(self.z[:3].tobytes())
        job.stdin.flush()
        wait_until(self.path("out.npy.journal").exists)
        with self.path("z.cf32").open("rb") as again:
            other = run(command_line(("transform", "-", *BATCH, "--resume", "-o", "out.npy")), stdin=again, cwd=self.folder)
        self.assertEqual(other.returncode, 73)
        self.assertIn("another job is writing", complaints(other.stderr)[0])
        job.stdin.close()
        self.assertEqual(self.end_of(job), ([], 0))
        self.assertEqual(len(np.load(self.path("out.npy"))), 3)
