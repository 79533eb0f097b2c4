# SPDX-License-Identifier: MIT
"""papfft transform against numpy.fft, alone and by 1 to 8 ranks."""

import csv
import json
import pathlib
import re
import signal
import subprocess
import xml.etree.ElementTree

from support import (RECORDING, ProgramTest, command_line, complaints, np, ranks_of, recording_channels, recording_samples,
                     relative_l2, run, wait_until)

TOLERANCE = {"double": 1e-15, "float": 6e-7}


def noise(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


def complex_noise(*shape, seed=2):
    return noise(*shape, seed=seed) + 1j * noise(*shape, seed=seed + 100)


class TransformAgreesWithNumpyTest(ProgramTest):
    def check(self, actual, expected, precision="double"):
        self.assertEqual(actual.shape, expected.shape)
        self.assertLessEqual(relative_l2(actual, expected), TOLERANCE[precision])

    def test_recording_on_four_ranks(self):
        samples, _ = recording_samples()
        expected = np.fft.rfft(samples[:262144])
        for precision, dtype in (("double", np.complex128), ("float", np.complex64)):
            with self.subTest(precision):
                spectrum = self.output("transform", RECORDING, "--length", 262144, "--precision", precision, ranks=4)
                self.assertEqual(spectrum.dtype, dtype)
                self.check(spectrum, expected, precision)

    def test_whole_recording_alone(self):
        samples, _ = recording_samples()
        self.check(self.output("transform", RECORDING), np.fft.rfft(samples))

    def test_one_channel(self):
        channels, _ = recording_channels()
        for c in (0, 1):
            self.check(self.output("transform", RECORDING, "--channel", c, "--length", 65536),
                       np.fft.rfft(channels[:65536, c]))

    def test_every_number_of_ranks_even_and_odd_lengths(self):
        for ranks in range(1, 9):
            for length in (ranks * 90, ranks * 45):
                with self.subTest(ranks=ranks, length=length):
                    real, z = noise(length), complex_noise(length)
                    options = {"ranks": ranks}
                    dif = ("--engine", "dif")
                    self.check(self.output("transform", self.save("r.npy", real), *dif, **options), np.fft.rfft(real))
                    self.check(self.output("transform", self.save("z.npy", z), *dif, **options), np.fft.fft(z))

    def put_together(self, name, ranks):
        """A result that was left with the ranks, as its index says."""
        index = json.loads(self.path(name + ".index.json").read_text())
        self.assertEqual((index["ranks"], len(index["files"])), (ranks, ranks))
        shares = [np.load(self.path(file)) for file in index["files"]]
        whole = np.empty((*shares[0].shape[:-1], index["length"]), dtype=index["element"])
        self.assertEqual(whole.size, index["rows"] * index["length"])
        for r, share in enumerate(shares):
            self.assertEqual(share.dtype, whole.dtype)
            whole[..., r::ranks] = share
        return whole

    def test_results_left_with_the_ranks(self):
        z, x, rows = complex_noise(360), noise(360), complex_noise(3, 120)
        spectrum = np.fft.rfft(x)
        for ranks in (1, 3, 8):
            for samples, more, expected in ((z, (), np.fft.fft(z)), (x, (), spectrum), (x, ("--full",), np.fft.fft(x)),
                                            (rows, ("--stats",), np.fft.fft(rows)),
                                            (z, ("--batch", "--length", 120), np.fft.fft(z.reshape(3, 120))),
                                            (z, ("--inverse",), np.fft.ifft(z)),
                                            (spectrum, ("--inverse", "--real"), x)):
                with self.subTest(ranks=ranks, options=more, shape=samples.shape):
                    self.save("in.npy", samples)
                    self.papfft("transform", "in.npy", "--leave-distributed", *more, "-o", "out.npy", ranks=ranks)
                    self.check(self.put_together("out", ranks), expected)
                    self.assertFalse(self.path("out.npy").exists())

    def test_results_that_every_rank_gets(self):
        z, x, rows = complex_noise(360), noise(360), complex_noise(3, 120)
        for ranks in (1, 3, 8):
            for samples, more, expected in ((z, (), np.fft.fft(z)), (x, (), np.fft.rfft(x)), (rows, (), np.fft.fft(rows)),
                                            (np.fft.rfft(x), ("--inverse", "--real"), x)):
                with self.subTest(ranks=ranks, options=more, shape=samples.shape):
                    self.save("in.npy", samples)
                    self.papfft("transform", "in.npy", "--everywhere", *more, "-o", "out.npy", ranks=ranks)
                    index = json.loads(self.path("out.index.json").read_text())
                    self.assertEqual((len(index["files"]), index["layout"]), (ranks, "each file holds everything"))
                    whole = [np.load(self.path(file)) for file in index["files"]]
                    self.check(whole[0], expected)
                    self.assertEqual([w.tobytes() for w in whole], [whole[0].tobytes()] * ranks)
        self.save("in.npy", x)
        self.papfft("transform", "in.npy", "--everywhere", "--full", "-o", "out.csv", ranks=3)
        self.assertEqual(*(self.path(f"out.rank{r}.csv").read_bytes() for r in (0, 2)))

    def test_tables_left_with_the_ranks_say_which_bins_they_hold(self):
        self.save("x.npy", noise(64))
        self.papfft("transform", "x.npy", "--leave-distributed", "--full", "-o", "out.csv", ranks=4)
        with open(self.path("out.rank3.csv"), newline="", encoding="ascii") as lines:
            self.assertEqual([float(row["bin"]) for row in csv.DictReader(lines)], list(range(3, 64, 4)))

    def test_what_cannot_be_left_with_the_ranks(self):
        self.save("x.npy", noise(90))
        for arguments in (("-o", "x.png"), ("-o", "-"), ("-o", "y.npy", "--engine", "farm"), ("-o", "y.npy", "--length", 91),
                          ("-o", "y.npy", "--json", "y.index.json")):
            with self.subTest(arguments):
                result = run(command_line(("transform", "x.npy", "--leave-distributed", *arguments), 3), cwd=self.folder)
                self.assertEqual((result.returncode, len(complaints(result.stderr))), (64, 1), result.stderr.decode())
                self.assertEqual([f for f in self.files() if f != "x.npy"], [])

    def test_full_spectrum_of_real_samples(self):
        x = noise(1200)
        for ranks in (None, 3):
            self.check(self.output("transform", self.save("x.npy", x), "--full", ranks=ranks), np.fft.fft(x))

    def test_cut_and_padded(self):
        x = noise(1000)
        for length in (512, 1536):
            self.check(self.output("transform", self.save("x.npy", x), "--length", length, ranks=3 if length == 1536 else 4),
                       np.fft.rfft(x, length))

    def test_inverse(self):
        z = complex_noise(960)
        for ranks in (None, 1, 3, 4):
            self.check(self.output("transform", self.save("z.npy", z), "--inverse", ranks=ranks), np.fft.ifft(z))

    def test_real_round_trip(self):
        for length in (960, 945):
            x = noise(length)
            for ranks in (None, 3):
                with self.subTest(length=length, ranks=ranks):
                    spectrum = self.output("transform", self.save("x.npy", x), ranks=ranks)
                    again = self.output("transform", self.save("s.npy", spectrum), "--inverse", "--real", "--length", length,
                                        ranks=ranks)
                    self.assertEqual(again.dtype, np.float64)
                    self.check(again, x)

    def test_every_engine_on_a_batch(self):
        """Also of lengths that the ranks do not divide, real and complex, and back."""
        cases = {(480, "stream"): "rzih", (480, "farm"): "rz", (77, "farm"): "ih", (77, "alone"): "rz", (480, "dif"): "z"}
        for (length, engine), what in cases.items():
            x, z = noise(5, length), complex_noise(5, length)
            kinds = {"r": (x, (), np.fft.rfft(x)), "z": (z, (), np.fft.fft(z)), "i": (z, ("--inverse",), np.fft.ifft(z)),
                     "h": (np.fft.rfft(x), ("--inverse", "--real"), x)}
            for given, more, expected in (kinds[k] for k in what):
                with self.subTest(engine=engine, length=length, more=more):
                    self.check(self.output("transform", self.save("in.npy", given.ravel()), "--batch", "--length", length,
                                           "--engine", engine, *more, ranks=3), expected)

    def test_streaming_gives_the_bits_of_one_vector_at_a_time(self):
        z = self.save("z.npy", complex_noise(40 * 512))
        one, many = (self.output("transform", z, "--batch", "--length", 512, "--engine", e, ranks=4).tobytes()
                     for e in ("dif", "stream"))
        self.assertEqual(one, many)

    def test_others_wait_while_the_root_works_alone(self):
        z = complex_noise(30, 64)
        file = self.save("z.npy", z.ravel())
        self.check(self.output("transform", file, "--batch", "--length", 64, "--engine", "alone", "--delay", "flat:100ms",
                               "--stuck-after", 1, ranks=2), np.fft.fft(z))

    def test_engine_is_reported_with_its_reason(self):
        self.save("z.npy", complex_noise(8 * 480))
        for length, more, engine, why in ((48, (), "alone", "several vectors; model (one host with 3 ranks of 1 thread): "),
                                          (480, ("--gather", "bsls"), "dif", "one call after another"),
                                          (480, ("--gather", "credit"), "stream", "named algorithms"),
                                          (80, ("--gather", "credit"), "farm", "do not divide"),
                                          (480, ("--engine", "farm"), "farm", "as asked")):
            self.papfft("transform", "z.npy", "--batch", "--length", length, "-o", "out.npy", "--json", "r.json", *more, ranks=3)
            settings = json.loads(self.path("r.json").read_text())["settings"]
            self.assertEqual(settings["engine"], engine)
            self.assertIn(why, settings["engine_because"])

    def test_batch(self):
        z = complex_noise(20, 96)
        for ranks in (None, 4):
            self.check(self.output("transform", self.save("z.npy", z.ravel()), "--batch", "--length", 96, ranks=ranks),
                       np.fft.fft(z))

    def test_rows_of_a_two_dimensional_file(self):
        x = noise(5, 240)
        for ranks in (None, 4):
            self.check(self.output("transform", self.save("x.npy", x), ranks=ranks), np.fft.rfft(x))

    def test_rows_are_a_batch_without_asking(self):
        x = noise(3, 40)
        self.save("rows.npy", x)
        for length, what, ranks in ((40, "", None), (24, ", each cut to 24 samples", 2),
                                    (60, ", each padded with zeros to 60 samples", 3)):
            result = run(command_line(("transform", "rows.npy", "--batch", "--length", length, "-o", "out.npy"), ranks),
                         cwd=self.folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual([line.partition(" has ")[2] for line in complaints(result.stderr)],
                             [f"rows of its own: these are the vectors{what}"])
            self.check(np.load(self.path("out.npy")), np.fft.rfft(x, length))
        self.papfft("transform", "rows.npy", "--batch", "--quiet", "-o", "out.npy")
        self.check(np.load(self.path("out.npy")), np.fft.rfft(x))

    def test_a_length_that_the_ranks_do_not_divide(self):
        for samples, engine in ((noise(101), "alone"), (complex_noise(101), "alone"), (noise(3, 101), "alone")):
            spectrum = self.output("transform", self.save("x.npy", samples), "--json", "r.json", ranks=2)
            self.check(spectrum, np.fft.fft(samples) if np.iscomplexobj(samples) else np.fft.rfft(samples))
            self.assertEqual(json.loads(self.path("r.json").read_text())["settings"]["engine"], engine)
        said = self.papfft("transform", self.save("x.npy", noise(101)), "-o", "out.npy", "--stats", ranks=2).stdout.decode()
        self.assertIn("alone (2 ranks do not divide 101 samples), kernel", said)

    def test_the_old_name_of_engine_alone(self):
        x = noise(3600)
        for ranks in (None, 2):
            result = run(command_line(("transform", self.save("x.npy", x), "--engine", "fftw", "-o", "out.npy", "--json", "r.json"),
                                      ranks), cwd=self.folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            said = complaints(result.stderr)
            self.assertEqual((len(said), "--engine fftw is called alone now" in said[0]), (1, True), said)
            self.check(np.load(self.path("out.npy")), np.fft.rfft(x))
            self.assertEqual(json.loads(self.path("r.json").read_text())["settings"]["engine"], "alone")
        self.papfft("transform", "x.npy", "--engine", "fftw", "--quiet", "-o", "out.npy")

    def test_engines_agree(self):
        x = noise(3600)
        shared, alone = (self.output("transform", self.save("x.npy", x), "--engine", e, ranks=3) for e in ("dif", "alone"))
        self.check(shared, alone)
        self.check(alone, np.fft.rfft(x))


class TransformIsReproducibleTest(ProgramTest):
    def test_threads_do_not_change_a_bit(self):
        for samples in (noise(3 * 16384), complex_noise(3 * 8192)):
            file = self.save("x.npy", samples)
            results = [self.output("transform", file, "--threads", t, ranks=3).tobytes() for t in (1, 2, 3)]
            self.assertEqual(results[0], results[1])
            self.assertEqual(results[0], results[2])

    def test_algorithms_do_not_change_a_bit(self):
        file = self.save("x.npy", complex_noise(5 * 600))
        expected = self.output("transform", file, ranks=5).tobytes()
        registry = json.loads(self.papfft("algorithms", "--json").stdout)
        algorithms = [a for a in registry if a["op"] in ("scatter", "gather", "bcast", "reduce")]
        self.assertGreaterEqual({a["op"] for a in algorithms}, {"scatter", "gather", "bcast", "reduce"})
        for a in algorithms:
            with self.subTest(op=a["op"], algorithm=a["algorithm"]):
                result = self.output("transform", file, f"--{a['op']}", a["algorithm"], ranks=5)
                self.assertEqual(result.tobytes(), expected)

    def test_wait_policies_do_not_change_a_bit(self):
        file = self.save("x.npy", noise(2000))
        results = {self.output("transform", file, "--wait", wait, ranks=2).tobytes() for wait in ("yield", "nap", "auto")}
        self.assertEqual(len(results), 1)


class TransformUnderDelaysTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.file = self.save("z.npy", complex_noise(12 * 480))
        self.batch = ("--batch", "--length", 480, "--engine", "dif")
        self.expected = self.output("transform", self.file, *self.batch, ranks=4).tobytes()

    def test_delays_do_not_change_a_bit(self):
        batch = ("--batch", "--length", 480)
        for pattern, engine in (("uniform:3ms", "stream"), ("late:3:5ms", "dif"), ("root-late:2ms", "stream")):
            with self.subTest(pattern):
                result = self.output("transform", self.file, *batch, "--engine", engine, "--delay", pattern, "--seed", 7,
                                     "--edge", 0.3, ranks=4)
                self.assertEqual(result.tobytes(), self.expected)
        alone, late, farm = (self.output("transform", self.file, *batch, "--delay", d, "--engine", engine, ranks=ranks).tobytes()
                             for d, engine, ranks in (("none", "auto", None), ("flat:2ms", "auto", None),
                                                      ("uniform:3ms", "farm", 4)))
        self.assertEqual(alone, late)
        self.assertEqual(alone, farm)  # each vector is transformed whole, whoever does it

    def test_background_algorithms_do_not_change_a_bit(self):
        registry = json.loads(self.papfft("algorithms", "--json").stdout)
        for a in registry:
            if a["op"] not in ("scatter", "gather", "bcast", "reduce"):
                continue
            with self.subTest(op=a["op"], algorithm="b" + a["algorithm"]):
                result = self.output("transform", self.file, *self.batch, f"--{a['op']}", "b" + a["algorithm"], "--delay",
                                     "uniform:2ms", ranks=4)
                self.assertEqual(result.tobytes(), self.expected)

    def test_one_vector_has_nothing_to_predict_from(self):
        expected = self.output("transform", self.file, ranks=4).tobytes()
        for gather in ("bsls", "bcredit", "sls"):
            result = self.output("transform", self.file, "--gather", gather, "--delay", "last-late:5ms", ranks=4)
            self.assertEqual(result.tobytes(), expected)

    def test_report_says_what_the_session_did(self):
        self.papfft("transform", self.file, *self.batch, "-o", "out.npy", "--gather", "bsls", "--delay", "uniform:4ms",
                    "--json", "run.json", ranks=4)
        report = json.loads(self.path("run.json").read_text())
        arrivals = report["arrivals"]
        self.assertEqual(arrivals["calls"], 2 * 12)  # a scatter and a gather for each vector
        self.assertLessEqual(arrivals["planned"], 12)
        self.assertLessEqual(arrivals["begun_early"], 2 * 12)
        self.assertGreaterEqual(arrivals["prediction_error_ms"], 0)
        self.assertNotIn("single_process_s", report)  # the delays are not the job's
        text = self.papfft("transform", self.file, *self.batch, "-o", "out.npy", "--gather", "bsls", "--stats",
                           ranks=4).stdout.decode()
        self.assertRegex(text, r"of 24 scatters and gathers \d+ were planned by predicted arrivals, \d+ begun early")
        self.assertRegex(text, r"background threads took [0-9.]+ % of a core")

    def test_patterns_and_names_that_make_no_sense(self):
        for arguments in (("--delay", "sometimes"), ("--delay", "uniform:soon"), ("--delay", "late:4:1ms"),
                          ("--gather", "bnonsense"), ("--edge", "0")):
            for ranks in (None, 4):
                with self.subTest(arguments=arguments, ranks=ranks):
                    result = run(command_line(("transform", self.file, "-o", "x.npy", *arguments), ranks), cwd=self.folder)
                    self.assertEqual(result.returncode, 64)
                    self.assertEqual(len(complaints(result.stderr)), 1)
                    self.assertNotIn("x.npy", self.files())


class FormatsTest(ProgramTest):
    """The same samples in every format in, the same spectrum in every format out."""

    def setUp(self):
        super().setUp()
        self.z = complex_noise(480).astype(np.complex64)
        self.spectrum = np.fft.fft(self.z)

    def assert_spectrum(self, actual):
        self.assertLessEqual(relative_l2(actual, self.spectrum), 1e-15)

    def test_raw_from_standard_input(self):
        for ranks in (None, 3):
            self.assert_spectrum(self.output("transform", "-", "--format", "cf32_le", ranks=ranks,
                                             input=self.z.tobytes()))

    def test_npy_from_standard_input(self):
        contents = self.save("z.npy", self.z).read_bytes()
        self.assert_spectrum(self.output("transform", "-", input=contents))

    def test_raw_file(self):
        self.path("z.cf32").write_bytes(self.z.tobytes())
        self.assert_spectrum(self.output("transform", "z.cf32", "--format", "cf32_le", ranks=2))

    def test_sigmf(self):
        self.path("z.sigmf-data").write_bytes(self.z.tobytes())
        self.path("z.sigmf-meta").write_text(json.dumps(
            {"global": {"core:datatype": "cf32_le", "core:version": "1.0.0", "core:sample_rate": 1000}, "captures": [],
             "annotations": []}))
        for name in ("z.sigmf-meta", "z.sigmf-data"):
            self.assert_spectrum(self.output("transform", name))

    def test_all_outputs_at_once(self):
        names = ("s.npy", "s.raw", "s.csv", "s.png", "s.svg")
        file = self.save("z.npy", self.z)
        outputs = [argument for name in names for argument in ("-o", name)]
        self.papfft("transform", file, *outputs, "--json", "s.json", ranks=3)
        self.assert_spectrum(np.load(self.path("s.npy")))
        self.assertEqual(np.fromfile(self.path("s.raw"), np.complex128).tobytes(), np.load(self.path("s.npy")).tobytes())
        with open(self.path("s.csv"), newline="", encoding="ascii") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual([float(row["bin"]) for row in rows], list(range(480)))
        self.assert_spectrum(np.array([float(row["re"]) + 1j * float(row["im"]) for row in rows]))
        self.assertEqual(self.path("s.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertTrue(xml.etree.ElementTree.parse(self.path("s.svg")).getroot().tag.endswith("svg"))
        report = json.loads(self.path("s.json").read_text())
        self.assertEqual((report["ranks"], report["settings"]["length"], report["non_finite_samples"]), (3, 480, 0))
        self.assertEqual(self.files(), sorted([*names, "s.json", "z.npy"]))

    def test_standard_output(self):
        result = self.papfft("transform", self.save("z.npy", self.z), "-o", "-")
        self.path("s.npy").write_bytes(result.stdout)
        self.assert_spectrum(np.load(self.path("s.npy")))

    def test_not_finite_samples_are_counted(self):
        self.z[[3, 5, 8]] = np.nan, np.inf, 1j * -np.inf
        file = self.save("z.npy", self.z)
        for ranks in (None, 3):
            result = run(command_line(["transform", file, "-o", "s.npy", "--json", "s.json"], ranks), cwd=self.folder)
            self.assertEqual(result.returncode, 0)
            self.assertEqual(complaints(result.stderr), [f"papfft: note: 3 of the samples in {file} are not finite"])
            self.assertEqual(json.loads(self.path("s.json").read_text())["non_finite_samples"], 3)


class TransformOfStreamsTest(ProgramTest):
    """Batches that come by a pipe, and such that are stopped and resumed."""

    BATCH = ("--batch", "--length", 480, "--format", "cf32_le", "--precision", "float")

    def start_on_pipe(self, *options, ranks=None):
        """A job that reads from a pipe which the test holds."""
        job = subprocess.Popen(command_line(["transform", "-", *self.BATCH, *options], ranks), cwd=self.folder,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for pipe in (job.stdin, job.stdout, job.stderr):
            self.addCleanup(pipe.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def test_a_pipe_of_unknown_length(self):
        z = complex_noise(21, 480).astype(np.complex64)
        for ranks, engine, rest in ((3, "stream", 0), (3, "farm", 100), (None, "auto", 7)):
            with self.subTest(ranks=ranks, engine=engine):
                out = self.path("out.npy")
                result = run(command_line(["transform", "-", *self.BATCH, "--engine", engine, "-o", out], ranks),
                             input=z.tobytes() + bytes(8 * rest), cwd=self.folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(["no whole vector" in line for line in complaints(result.stderr)], [True] if rest else [])
                self.assertLess(relative_l2(np.load(out), np.fft.fft(z)), 1e-6)

    def test_memory_is_bounded(self):
        chunk = bytes(8 * 480 * 1000)
        for engine in ("auto", "dif"):
            with self.subTest(engine):
                job = self.start_on_pipe("-o", "out.raw", "--engine", engine)
                for _ in range(40):  # 150 MB
                    job.stdin.write(chunk)
                peak = int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{job.pid}/status").read_text())[1])
                job.stdin.close()
                self.assertEqual(job.wait(60), 0)
                self.assertLess(peak, 100_000)

    def test_memory_is_bounded_for_rows_of_a_file(self):
        rows = np.lib.format.open_memmap(self.path("rows.npy"), mode="w+", dtype=np.float64, shape=(20000, 1000))  # 160 MB
        del rows
        for ranks, engine in ((None, "auto"), (2, "stream")):
            with self.subTest(engine):
                job = self.start(command_line(("transform", "rows.npy", "--engine", engine, "-o", "/dev/null", "--progress",
                                               "always", "--delay", "flat:1us"), ranks))
                peak_kb = 0
                pid = job.pid if ranks is None else wait_until(lambda: ranks_of(job.pid).get(0))
                for line in job.stderr:
                    if b" 20000/20000 " in line:
                        break
                    status = pathlib.Path(f"/proc/{pid}/status").read_text()
                    peak_kb = max(peak_kb, int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]))
                self.assertEqual(job.wait(60), 0)
                self.assertGreater(peak_kb, 0)
                self.assertLess(peak_kb, 100_000)

    def test_a_batch_is_resumed(self):
        z = complex_noise(3000, 480).astype(np.complex64)
        self.path("z.cf32").write_bytes(z.tobytes())
        arguments = ["transform", "z.cf32", *self.BATCH, "--resume", "-o", "out.npy", "--delay", "flat:1ms", "--progress", "always"]
        job = self.start(command_line(arguments, 2))
        wait_until(lambda: b"transform" in job.stderr.readline())
        job.send_signal(signal.SIGUSR1)
        job.stderr.read()
        self.assertEqual(job.wait(60), 75)
        self.assertEqual(self.files(), ["out.npy.journal", "out.npy.partial", "z.cf32"])
        other = run(command_line([*arguments, "--inverse"], 2), cwd=self.folder)
        self.assertEqual(other.returncode, 73)
        self.assertIn("other options", complaints(other.stderr)[0])
        # Another number of ranks, which is stopped in turn.
        job = self.start(command_line(arguments, 3))
        wait_until(lambda: b"transform" in job.stderr.readline())
        job.send_signal(signal.SIGUSR1)
        job.stderr.read()
        self.assertEqual(job.wait(60), 75)
        result = run(command_line(["transform", "z.cf32", *self.BATCH, "--resume", "-o", "out.npy"], 2), cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(complaints(result.stderr)[0], r"note: \d+ vectors are there already")
        self.assertEqual(self.files(), ["out.npy", "z.cf32"])
        self.papfft("transform", "z.cf32", *self.BATCH, "-o", "once.npy", ranks=2)
        self.assertEqual(self.path("out.npy").read_bytes(), self.path("once.npy").read_bytes())

    def test_what_cannot_be(self):
        for more, code, what in ((("-o", "-"), 64, "at its beginning"), (("-o", "out.csv", "--resume"), 64, "--resume"),
                                 (("-o", "out.npy", "--resume", "--leave-distributed"), 64, "--resume")):
            with self.subTest(more):
                result = run(command_line(["transform", "-", *self.BATCH, *more]), input=bytes(8 * 480),
                             cwd=self.folder)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(what, complaints(result.stderr)[0])
