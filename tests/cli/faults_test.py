# SPDX-License-Identifier: MIT
"""What goes wrong, alone and under mpirun: one line that says so, the documented exit code, and nothing left behind."""

import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from support import (MPIEXEC, PROGRAM, RECORDING, ProgramTest, command_line, complaints, np, ranks_of, run, wait_until)

USAGE, BAD_DATA, CANNOT_WRITE, COMMUNICATION, STOPPED = 64, 65, 73, 74, 75


class FaultsCase(ProgramTest):
    """Subclasses' tests call refused()."""

    def refused(self, code, says, *arguments, ranks=(None, 2), environment=None, **options):
        before = self.files()
        for n in ranks:
            with self.subTest(arguments=arguments, ranks=n):
                result = run(command_line(arguments, n), environment, cwd=self.folder, **options)
                said = complaints(result.stderr)
                self.assertEqual(len(said), 1, result.stderr.decode())
                for expected in [says] if isinstance(says, str) else says:
                    self.assertIn(expected, said[0])
                self.assertEqual(result.returncode, code)
                self.assertEqual(self.files(), before)

    def transform_refused(self, code, says, source, *arguments, **options):
        self.refused(code, says, "transform", source, "-o", "out.npy", *arguments, **options)


class BadInputTest(FaultsCase):
    def test_missing_file(self):
        self.transform_refused(BAD_DATA, "missing.npy", "missing.npy")
        self.refused(BAD_DATA, "missing.flac", "spectrogram", "missing.flac", "-o", "out.png")

    def test_folder(self):
        self.path("folder.npy").mkdir()
        self.transform_refused(BAD_DATA, "directory", "folder.npy")

    def test_empty_file(self):
        for name in ("empty.npy", "empty.flac", "empty.wav"):
            self.path(name).touch()
            self.transform_refused(BAD_DATA, name, name)

    def test_no_samples(self):
        self.transform_refused(BAD_DATA, "none.npy", self.save("none.npy", np.zeros(0)))

    def test_truncated_npy(self):
        contents = self.save("x.npy", np.arange(600.0)).read_bytes()
        for size in (5, 60, len(contents) - 1):
            self.path("cut.npy").write_bytes(contents[:size])
            self.transform_refused(BAD_DATA, "cut.npy", "cut.npy")

    def test_truncated_flac(self):
        self.path("cut.flac").write_bytes(RECORDING.read_bytes()[:50000])
        self.transform_refused(BAD_DATA, "cut.flac", "cut.flac")

    def test_wrong_magic(self):
        for name in ("x.npy", "x.flac", "x.sigmf-meta", "x.unknown"):
            self.path(name).write_bytes(b"this is no signal at all, only words" * 10)
            self.transform_refused(BAD_DATA, name, name)

    def test_absurd_size_in_the_header(self):
        for shape in ("(9000000000000000000,)", "(99999999999999999999999,)", "(4294967296, 4294967296, )"):
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117).encode() + b"\n"
            self.path("huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64))
            self.transform_refused(BAD_DATA, "huge.npy", "huge.npy")

    def test_raw_file_with_half_a_sample(self):
        self.path("x.cf32").write_bytes(bytes(8 * 60 + 3))
        self.transform_refused(BAD_DATA, "x.cf32", "x.cf32", "--format", "cf32_le")

    def test_truncated_standard_input(self):
        contents = self.save("x.npy", np.arange(600.0)).read_bytes()
        self.transform_refused(BAD_DATA, "standard input", "-", input=contents[:1000])


class BadUsageTest(FaultsCase):
    def setUp(self):
        super().setUp()
        self.save("x.npy", np.arange(600.0))
        self.save("z.npy", np.arange(600.0) + 1j)

    def test_length_that_a_named_engine_cannot_share_and_what_works(self):
        for name in ("x.npy", "z.npy"):
            result = run(command_line(["transform", name, "-o", "out.npy", "--engine", "dif"], 7), cwd=self.folder)
            said = complaints(result.stderr)
            self.assertEqual((result.returncode, len(said)), (USAGE, 1))
            self.assertFalse(self.path("out.npy").exists())
            ranks = int(re.search(r"what would work: --engine auto, (\d+) ranks$", said[0])[1])  # the samples stay as they are
            for n, engine in ((7, "auto"), (ranks, "dif"), (1, "dif")):
                spectrum = self.output("transform", name, "--engine", engine, ranks=n)
                samples = np.load(self.path(name))
                expected = np.fft.rfft(samples) if name == "x.npy" else np.fft.fft(samples)
                np.testing.assert_allclose(spectrum, expected, atol=1e-12 * np.abs(expected).max())
                self.path("out.npy").unlink()

    def test_more_ranks_than_data(self):
        self.transform_refused(USAGE, "what would work: --engine auto, 2 ranks",
                               self.save("few.npy", np.arange(2.0)), "--engine", "dif", ranks=(3,))
        self.transform_refused(USAGE, "what would work: one rank",
                               self.save("few.npy", np.arange(5.0) + 1j), "--leave-distributed", ranks=(3,))

    def test_frames_longer_than_the_recording(self):
        self.refused(USAGE, "what would work: --nperseg 600", "spectrogram", "x.npy", "--nperseg", 601, "-o", "o.npy")

    def test_batch_that_does_not_divide(self):
        self.transform_refused(USAGE, ("600 samples", "a --length that works: "), "x.npy", "--batch", "--length", 64)
        self.transform_refused(USAGE, "--batch needs --length", "x.npy", "--batch")

    def test_numbers_above_all(self):
        for number in (2**63, 2**64, 10**30):
            self.transform_refused(USAGE, str(number), "x.npy", "--length", number)

    def test_unknown_names_list_the_known(self):
        for option, known in (("--scatter", ("bnom", "lin")), ("--gather", ("bnom", "lin", "ls")), ("--bcast", ("bnom",)),
                              ("--reduce", ("bnom",)), ("--engine", ("dif", "alone")), ("--precision", ("float", "double")),
                              ("--wait", ("spin", "yield", "nap", "auto")), ("--progress", ("auto", "always", "never")),
                              ("--format", ("cf32_le",))):
            self.transform_refused(USAGE, known, "x.npy", option, "nonsense")
        for option, known in (("--window", ("hann", "tukey")), ("--scaling", ("density", "spectrum")),
                              ("--mode", ("psd", "magnitude"))):
            self.refused(USAGE, known, "spectrogram", "x.npy", "-o", "o.npy", option, "nonsense", ranks=(None,))
        self.refused(USAGE, ("bnom", "lin"), "schedule", "--op", "scatter", "--algorithm", "nonsense", "--ranks", 4)
        self.refused(USAGE, ("scatter", "reduce"), "schedule", "--op", "nonsense", "--algorithm", "bnom", "--ranks", 4)

    def test_environment_that_makes_no_sense(self):
        for variable in ("PAPFFT_WAIT", "PAPFFT_GATHER", "PAPFFT_THREADS", "PAPFFT_NAP_US"):
            self.transform_refused(USAGE, "nonsense", "x.npy", environment={variable: "nonsense"})
        # Who typed nothing is told where the value comes from.
        variables = {"PAPFFT_WAIT": "nonsense"}
        self.transform_refused(USAGE, "--wait (from PAPFFT_WAIT): nonsense", "x.npy", ranks=(None,), environment=variables)
        self.transform_refused(USAGE, "--wait: folly", "x.npy", "--wait", "folly", ranks=(None,), environment=variables)

    def test_options_that_exclude_each_other(self):
        self.transform_refused(USAGE, "--full", "x.npy", "--full", "--inverse")
        self.transform_refused(USAGE, "--real", "z.npy", "--real")
        for option in (("--iq",), ("--channel", 0)):
            self.transform_refused(USAGE, "--each-channel", "x.npy", "--each-channel", *option)
        self.refused(USAGE, "--noverlap", "spectrogram", "x.npy", "-o", "o.npy", "--noverlap", 256)
        self.refused(USAGE, "2", "spectrogram", self.save("rows.npy", np.zeros((2, 400))), "-o", "o.npy")

    def test_command_lines_that_are_none(self):
        self.refused(USAGE, ("which command of papfft?", "transform", "info"))
        self.refused(USAGE, ("which command of papfft bench?", "collective"), "bench", ranks=(None,))
        self.refused(USAGE, ("nonsense", "transform", "info"), "nonsense")
        self.refused(USAGE, "IN", "transform")
        self.refused(USAGE, "--output", "transform", "x.npy")
        self.transform_refused(USAGE, "--nonsense", "x.npy", "--nonsense")
        self.transform_refused(USAGE, "--length", "x.npy", "--length", -5)
        self.transform_refused(USAGE, "--threads", "x.npy", "--threads", "many")
        self.transform_refused(USAGE, ("no option --lenght", "did you mean --length?", "papfft transform --help"), "x.npy",
                               "--lenght", 100, ranks=(None,))
        self.refused(USAGE, "no command 'transfrom' (did you mean transform?)", "transfrom", "x.npy", "-o", "out.npy",
                     ranks=(None,))
        self.refused(USAGE, "'fft' is one argument too many", "bench", "local", "fft", ranks=(None,))
        self.transform_refused(USAGE, "'2^10' is no positive number", "x.npy", "--length", "2^10", ranks=(None,))
        for command in ("transform", "psd"):
            self.refused(USAGE, "--channel is for sounds", command, "x.npy", "-o", "out.npy", "--channel", 0, ranks=(None,))
        for option, least_most in (("--stuck-after", "from 0 to 1000000"), ("--edge", "from 0.01 to 1")):
            for value in ("nan", -1):
                self.transform_refused(USAGE, (option, f"'{value}' is no number {least_most}"), "x.npy", option, value, ranks=(None,))
        self.transform_refused(USAGE, "--json needs a value", "x.npy", "--json", ranks=(None,))

    def test_lengths_beyond_any_memory(self):
        self.save("rows.npy", np.zeros((4, 40)))
        self.transform_refused(70, "out of memory", "rows.npy", "--length", 2**60, ranks=(None,))
        self.transform_refused(USAGE, "any memory", "x.npy", "--length", 2**62, ranks=(None,))
        self.transform_refused(70, "out of memory", "-", "--format", "cu8", "--batch", "--length", 2**60, ranks=(None,))

    def test_ranks_with_different_arguments(self):
        one = [PROGRAM, "transform", "x.npy", "-o", "out.npy"]
        for other in (["z.npy"], ["x.npy", "--bcast", "bnom"], ["x.npy", "--nonsense"], ["x.npy", "--gather", "nonsense"]):
            for commands in ((one, [*one[:2], *other, *one[3:]]), ([*one[:2], *other, *one[3:]], one)):
                result = run([MPIEXEC, "-n", "1", *commands[0], ":", "-n", "2", *commands[1]], cwd=self.folder)
                self.assertEqual(complaints(result.stderr), ["papfft: rank 1 was started with other arguments than rank 0"])
                self.assertEqual(result.returncode, USAGE)
                self.assertEqual(self.files(), ["x.npy", "z.npy"])


    def test_ranks_of_different_versions(self):
        job = ["transform", "x.npy", "-o", "out.npy"]
        version = run([PROGRAM, "--version"]).stdout.split()[-1]
        other = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "papfft"
        other.write_bytes(pathlib.Path(PROGRAM).read_bytes().replace(b"\0" + version + b"\0", b"\0009" + version[1:] + b"\0"))
        other.chmod(0o755)
        result = run([MPIEXEC, "-n", "1", PROGRAM, *job, ":", "-n", "1", other, *job], cwd=self.folder)
        says = f"papfft: rank 1 is papfft 9{version.decode()[1:]}, and rank 0 is papfft {version.decode()}; what would work: the same on all hosts"
        self.assertEqual((complaints(result.stderr), result.returncode), ([says], USAGE))

    def test_ranks_with_different_environments(self):
        job = [PROGRAM, "transform", "x.npy", "-o", "out.npy"]
        for ranks in ([*job, ":", "-n", "1", "env", "PAPFFT_GATHER=lin", *job],
                      ["env", "PAPFFT_SCATTER=nonsense", *job, ":", "-n", "1", *job],
                      ["env", "PAPFFT_CHECK=1", *job, ":", "-n", "1", *job], [*job, ":", "-n", "1", "env", "PAPFFT_CHECK=1", *job]):
            result = run([MPIEXEC, "-n", "1", *ranks], cwd=self.folder)
            said = complaints(result.stderr)
            self.assertEqual((result.returncode, len(said)), (USAGE, 1), said)
            self.assertIn("rank 1 has other variables PAPFFT_", said[0])
        result = run([MPIEXEC, "-n", "1", "env", "PAPFFT_THREADS=2", *job, ":", "-n", "1", *job], cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)


class BadOutputTest(FaultsCase):
    def setUp(self):
        super().setUp()
        self.save("x.npy", np.arange(30000.0))

    def output_refused(self, says, *outputs, code=CANNOT_WRITE, **options):
        self.refused(code, says, "transform", "x.npy", *[a for o in outputs for a in ("-o", o)], **options)

    def test_missing_folder(self):
        self.output_refused("none/out.npy", "none/out.npy")
        self.output_refused("none/out.npy", "first.npy", "none/out.npy")
        self.refused(CANNOT_WRITE, "none/s.json", "transform", "x.npy", "-o", "out.npy", "--json", "none/s.json")

    def test_output_is_a_folder(self):
        self.path("out.npy").mkdir()
        self.output_refused("directory", "out.npy")

    def test_unknown_extension(self):
        self.output_refused(".npy", "out.unknown", code=USAGE)
        self.output_refused("empty", "", code=USAGE)

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "root may write everywhere")
    def test_folder_that_cannot_be_written(self):
        self.folder.chmod(0o755)
        self.path("locked").mkdir(mode=0o555)
        # Root gives up the right to pass over permissions; mpirun started so keeps it given up.
        without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
        for ranks in (None, 3):
            result = run([*without, *command_line(["transform", "x.npy", "-o", "locked/out.npy"], ranks)], cwd=self.folder)
            self.assertEqual(len(complaints(result.stderr)), 1, result.stderr.decode())
            self.assertEqual(result.returncode, CANNOT_WRITE)
            self.assertEqual(self.files(), ["locked", "x.npy"])

    def test_full_disk(self):
        self.output_refused("No space left on device", "/dev/full")
        self.refused(CANNOT_WRITE, "No space left on device", "spectrogram", "x.npy", "-o", "/dev/full")

    def test_file_size_limit(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

        # mpirun needs larger files of its own, so only alone.
        self.output_refused("File too large", "out.npy", ranks=(None,), preexec_fn=limit)

    def test_one_place_for_two_outputs(self):
        self.output_refused("twice", "out.csv", "./out.csv", code=USAGE, ranks=(None,))
        self.refused(USAGE, "twice", "transform", "x.npy", "-o", "out.npy", "--json", "out.npy", ranks=(None,))
        self.refused(USAGE, "twice", "bench", "local", "--json", "t", "--csv", "t", ranks=(None,))

    def test_a_picture_of_many(self):
        self.refused(USAGE, "one vector, and there are 30", "transform", "x.npy", "--batch", "--length", 1000, "-o", "o.npy",
                     "-o", "o.png", ranks=(None,))

    def test_failure_keeps_the_older_result(self):
        self.path("out.npy").write_bytes(b"older")
        self.path("bad.npy").write_bytes(b"nothing")
        self.transform_refused(BAD_DATA, "bad.npy", "bad.npy")
        self.assertEqual(self.path("out.npy").read_bytes(), b"older")


class StandardStreamsTest(ProgramTest):
    """Closed, full, or taken by data."""

    def setUp(self):
        super().setUp()
        self.samples = np.r_[np.nan, np.arange(599.0)]  # of which something is said on stderr
        self.save("x.npy", self.samples)

    def shell(self, text):
        return run(["bash", "-c", text], {"PAPFFT": PROGRAM}, cwd=self.folder)

    def test_closed_ones_are_no_files(self):
        for closed in ("2>&-", "<&- >&- 2>&-"):
            result = self.shell(f"$PAPFFT transform x.npy --stats -o out.csv {closed}")
            self.assertEqual(result.returncode, CANNOT_WRITE if ">&- " in closed else 0, closed)
            self.assertEqual(self.path("out.csv").read_bytes().count(b"\n"), 302, closed)
        for arguments, code in (("-o - >&-", CANNOT_WRITE), ("-o out.csv", 0)):
            self.assertEqual(self.shell(f"$PAPFFT transform x.npy {arguments} <&-").returncode, code, arguments)
        self.assertEqual(self.shell("$PAPFFT transform - -o out.csv <&-").returncode, BAD_DATA)

    def test_nobody_reads_what_is_said(self):
        for arguments, code in (("transform x.npy -o out.npy", 0), ("transform missing -o out.npy", BAD_DATA), ("nonsense", USAGE)):
            for lost in ("2>/dev/full", "2> >(true)"):
                self.assertEqual(self.shell(f"$PAPFFT {arguments} {lost}").returncode, code, (arguments, lost))

    def test_text_that_cannot_be_printed(self):
        for arguments in ("algorithms", "--help", "transform x.npy -o out.npy --stats"):
            result = self.shell(f"$PAPFFT {arguments} >/dev/full")
            self.assertEqual(result.returncode, CANNOT_WRITE, arguments)
            self.assertIn("papfft: cannot write standard output: No space left on device", complaints(result.stderr))
        result = self.shell("$PAPFFT schedule --op gather --algorithm lin --ranks 4000 | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}")
        self.assertEqual((result.returncode, complaints(result.stderr)),
                         (CANNOT_WRITE, ["papfft: cannot write standard output: Broken pipe"]))

    def test_statistics_beside_data(self):
        result = self.shell("$PAPFFT transform x.npy --stats -o - >out.npy")
        self.assertIn(b"write", result.stderr)
        np.testing.assert_array_equal(np.load(self.path("out.npy")), np.fft.rfft(self.samples))
        self.assertEqual(self.path("out.npy").stat().st_size, 128 + 16 * 301)


class EndedInTheMiddleTest(ProgramTest):
    def start_long_batch(self, ranks, *options, environment=None):
        """A job of many seconds, returned once its vectors are under way; and its ranks' pids."""
        with open(self.path("zeros.cu8"), "wb") as file:
            file.truncate(2 * 252 * 60000)
        job = self.start(command_line(["transform", "zeros.cu8", "--format", "cu8", "--batch", "--length", 252, "-o", "out.npy",
                                       "--progress", "always", *options], ranks), environment)
        wait_until(lambda: b"transform" in job.stderr.readline())
        pids = ranks_of(job.pid)
        self.assertEqual(sorted(pids), list(range(ranks)))
        self.kill_at_end(pids.values())
        return job, pids

    def end_of(self, job):
        """What papfft said, but for the notes in self.notes, and the exit code; the job must end soon."""
        try:
            _, stderr = job.communicate(timeout=90)
        except subprocess.TimeoutExpired:
            self.fail("the job hangs")
        # mpirun ends the other ranks when one has failed, and rank 0 may have the time to note it.
        lines = [line for line in complaints(stderr) if not re.search(r"  \d+/\d+  \d+ %", line)]
        self.notes = [line for line in lines if "note: ended by the launcher" in line]
        return [line for line in lines if line not in self.notes], job.returncode

    def nothing_is_left(self, job, pids):
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), seconds=10)
        self.assertIsNotNone(job.poll())
        self.assertEqual(self.files(), ["zeros.cu8"])

    def test_killed_rank(self):
        job, pids = self.start_long_batch(3, "--engine", "stream")
        os.kill(pids[0], signal.SIGKILL)
        _, code = self.end_of(job)
        self.assertNotEqual(code, 0)
        self.nothing_is_left(job, pids.values())

    def test_what_was_done_before_a_rank_died_is_kept(self):
        """mpirun then ends the other ranks. It leaves them longer than usual, as the machine may be busy."""
        for engine, resume in (("stream", ()), ("farm", ("--resume",))):
            with self.subTest(engine=engine):
                job, pids = self.start_long_batch(3, "--engine", engine, "--delay", "flat:1ms", *resume,
                                                  environment={"OMPI_MCA_odls_base_sigkill_timeout": "5"})
                os.kill(pids[2], signal.SIGKILL)
                _, code = self.end_of(job)
                self.assertNotEqual(code, 0)
                done = int(re.search(r"vectors under way; (?:the output holds the|what is kept for --resume:) (\d+) vectors?",
                                     " ".join(self.notes))[1])
                self.assertGreater(done, 0)
                if resume:
                    self.assertEqual(self.files(), ["out.npy.journal", "out.npy.partial", "zeros.cu8"])
                    self.assertEqual(self.path("out.npy.partial").stat().st_size, 128 + 16 * 252 * done)
                else:
                    self.assertEqual(np.load(self.path("out.npy")).shape, (done, 252))
                    self.path("out.npy").unlink()

    def test_asked_to_stop_keeps_what_was_done(self):
        for engine in ("stream", "farm"):
            with self.subTest(engine=engine):
                job, pids = self.start_long_batch(3, "--engine", engine, "--delay", "flat:1ms")
                os.kill(pids[0], signal.SIGUSR1)
                said, code = self.end_of(job)
                self.assertEqual(code, STOPPED)
                done = int(re.search(r"stopped by SIGUSR1 after (\d+) of 60000 vectors", said[0]).group(1))
                self.assertGreater(done, 0)
                self.assertEqual(np.load(self.path("out.npy")).shape, (done, 252))
                self.path("out.npy").unlink()

    def test_stopped_rank_is_named(self):
        for engine in ("stream", "dif"):
            with self.subTest(engine=engine):
                job, pids = self.start_long_batch(3, "--engine", engine, "--stuck-after", 2)
                os.kill(pids[0], signal.SIGSTOP)
                said, code = self.end_of(job)
                self.assertEqual(code, COMMUNICATION)
                self.assertEqual(len(said), 1, said)
                self.assertRegex(said[0], r"rank \d+ waits for .*rank 0")
                if self.notes:  # the launcher lets rank 0 go on before it kills it
                    done = int(re.search(r"the output holds the (\d+) vectors? before", self.notes[0])[1])
                    self.assertEqual(np.load(self.path("out.npy")).shape, (done, 252))
                    self.path("out.npy").unlink()
                self.nothing_is_left(job, pids.values())

    def test_a_rank_that_is_stopped_before_the_job_has_begun(self):
        """In MPI_Init or soon after, where no watchdog can look into what the others do."""
        for rank in (0, 1):
            with self.subTest(rank=rank):
                with open(self.path("zeros.cu8"), "wb") as file:
                    file.truncate(2 * 252)
                job = self.start(command_line(["transform", "zeros.cu8", "--format", "cu8", "-o", "out.npy", "--stuck-after", 2], 2))
                pids = wait_until(lambda: len(found := ranks_of(job.pid)) == 2 and found)
                self.kill_at_end(pids.values())
                os.kill(pids[rank], signal.SIGSTOP)
                said, code = self.end_of(job)
                self.assertEqual((code, len(said)), (COMMUNICATION, 1), said)
                self.assertIn("no progress for", said[0])
                self.nothing_is_left(job, pids.values())

    def test_a_root_that_is_stopped_while_the_others_wait_for_its_input(self):
        os.mkfifo(self.path("in.cu8"))
        job = self.start(command_line(["transform", "in.cu8", "--format", "cu8", "--batch", "--length", 252, "-o", "out.npy",
                                       "--stuck-after", 2], 3))
        with open(self.path("in.cu8"), "wb"):  # the root reads from here on
            pids = ranks_of(job.pid)
            self.kill_at_end(pids.values())
            os.kill(pids[0], signal.SIGSTOP)
            said, code = self.end_of(job)
        self.assertEqual((code, len(said)), (COMMUNICATION, 1), said)
        self.assertIn("rank 1 waits for any message of rank 0", said[0])
        self.path("in.cu8").unlink()

    def test_a_job_that_is_suspended_is_not_stuck(self):
        """As batch systems do: all ranks are stopped for longer than --stuck-after, and go on."""
        job, pids = self.start_long_batch(3, "--engine", "stream", "--stuck-after", 2, "--delay", "flat:1ms")
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in pids.values():
                os.kill(pid, number)
            time.sleep(5)
        self.assertIsNone(job.poll())
        os.kill(pids[0], signal.SIGUSR1)
        said, code = self.end_of(job)
        self.assertEqual((code, len(said)), (STOPPED, 1), said)

    def test_what_was_done_before_a_rank_was_stopped_is_kept(self):
        # By engine dif, rank 0 waits in a call of the session and rank 1 in one of the job: still, one rank speaks for all.
        for engine, resume in (("stream", ()), ("dif", ()), ("farm", ("--resume",))):
            with self.subTest(engine=engine):
                job, pids = self.start_long_batch(3, "--engine", engine, "--delay", "flat:1ms", "--stuck-after", 2, *resume)
                os.kill(pids[2], signal.SIGSTOP)
                said, code = self.end_of(job)
                self.assertEqual(code, COMMUNICATION)
                self.assertEqual(len(said), 2, said)
                self.assertRegex(said[0], r"rank \d+ waits for .*rank 2")
                done = int(re.fullmatch(r"papfft: note: (?:the output holds the|what is kept for --resume:) (\d+) vectors?.*",
                                        said[1])[1])
                self.assertGreater(done, 0)
                wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids.values()), seconds=10)
                if resume:
                    self.assertEqual(self.files(), ["out.npy.journal", "out.npy.partial", "zeros.cu8"])
                    self.assertEqual(self.path("out.npy.partial").stat().st_size, 128 + 16 * 252 * done)
                else:
                    self.assertEqual(self.files(), ["out.npy", "zeros.cu8"])
                    self.assertEqual(np.load(self.path("out.npy")).shape, (done, 252))
                    self.path("out.npy").unlink()

    def test_stopped_rank_ends_a_benchmark(self):
        job = self.start(command_line(["bench", "collective", "--op", "gather", "--algorithms", "lin", "--bytes", "64K", "--compute",
                                       "1ms", "--iterations", 100000, "--progress", "always", "--stuck-after", 2], 3))
        wait_until(lambda: b"bench collective" in job.stderr.readline())
        pids = ranks_of(job.pid)
        self.kill_at_end(pids.values())
        os.kill(pids[1], signal.SIGSTOP)
        said, code = self.end_of(job)
        self.assertEqual(code, COMMUNICATION)
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], r"no progress for 2000 ms: rank \d (waits for|is still in a call of mpi)")

    def test_signals_leave_no_temporary(self):
        self.save("x.npy", np.random.default_rng(1).standard_normal(1500000))
        # mpirun passes a signal on a second later, so there must be many seconds of writing left.
        outputs = [a for i in range(20) for a in ("-o", f"out{i}.csv")]
        for ranks in (None, 3):
            # mpirun kills its ranks a moment after it has passed a signal on, so SIGKILL must leave nothing either.
            for number in (signal.SIGTERM, signal.SIGINT, *([] if ranks else [signal.SIGKILL])):
                with self.subTest(ranks=ranks, signal=number):
                    job = self.start(command_line(["transform", "x.npy", *outputs], ranks))
                    pids = wait_until(lambda: ranks_of(job.pid)) if ranks else {0: job.pid}
                    self.kill_at_end(pids.values())
                    wait_until(lambda: "out0.csv" in self.files())
                    job.send_signal(number)
                    by_handler = 128 + number if ranks is None else 1
                    self.assertEqual(job.wait(30), -number if number == signal.SIGKILL else by_handler)
                    wait_until(lambda: not any(f.endswith(".tmp") for f in self.files()), seconds=10)
                    complete = [self.path(f) for f in self.files() if f.endswith(".csv")]
                    self.assertLess(len(complete), 20)
                    for file in complete:
                        self.assertEqual(file.read_bytes().count(b"\n"), 1 + 750001)
                        file.unlink()
