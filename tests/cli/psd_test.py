# SPDX-License-Identifier: MIT
"""papfft psd against scipy.signal.welch."""

import csv
import json
import os
import xml.etree.ElementTree

from support import RECORDING, ProgramTest, command_line, complaints, np, recording_channels, recording_samples, run, scipy

TOLERANCE = {"double": 1e-12, "float": 1e-5}


def noise(*shape, seed=3):
    return np.random.default_rng(seed).standard_normal(shape) + np.linspace(0, 2, shape[-1])


def complex_noise(*shape, seed=4):
    return noise(*shape, seed=seed) + 1j * noise(*shape, seed=seed + 1)


class PsdTest(ProgramTest):
    def check(self, actual, expected, precision="double"):
        """In double precision bin by bin, as long as a bin is not what rounding left of the trend."""
        self.assertEqual(actual.shape, expected.shape)
        error, largest = np.abs(actual - expected), np.max(expected)
        self.assertLessEqual(np.max(error), TOLERANCE[precision] * largest)
        if precision == "double":
            noticeable = expected > 1e-6 * largest
            self.assertLessEqual(np.max(error[noticeable] / expected[noticeable]), TOLERANCE[precision])

    def test_recording(self):
        samples, rate_hz = recording_samples()
        _, expected = scipy.signal.welch(samples, rate_hz)
        for options in ({}, {"ranks": 1}, {"ranks": 3}):
            self.check(self.output("psd", RECORDING, **options), expected)
        single = self.output("psd", RECORDING, "--precision", "float", ranks=2)
        self.assertEqual(single.dtype, np.float32)
        self.check(single, expected, "float")

    def test_channels_apart(self):
        channels, rate_hz = recording_channels()
        _, expected = scipy.signal.welch(channels.T, rate_hz, nperseg=1000)
        for read in ("root", "parallel"):
            self.check(self.output("psd", RECORDING, "--each-channel", "--nperseg", 1000, "--read", read, ranks=2), expected)
        self.check(self.output("psd", RECORDING, "--channel", 1, "--nperseg", 1000), expected[1])

    def test_settings(self):
        real, z = noise(3000), complex_noise(2500)
        settings = [
            # window, nperseg, overlap, nfft, detrend, scaling, two-sided
            ("hann", 256, None, None, "constant", "density", False),
            ("boxcar", 128, 0, 200, "none", "spectrum", False),
            ("hamming", 100, 75, 101, "linear", "density", True),
            ("blackman", 255, 31, 256, "linear", "spectrum", False),
            ("tukey", 97, 96, None, "constant", "density", True),
        ]
        for window, nperseg, overlap, nfft, detrend, scaling, two_sided in settings:
            for samples in (real, z):
                with self.subTest(window=window, complex=np.iscomplexobj(samples)):
                    _, expected = scipy.signal.welch(
                        samples, 48000, ("tukey", 0.25) if window == "tukey" else window, nperseg, overlap, nfft,
                        detrend=False if detrend == "none" else detrend, return_onesided=samples is real and not two_sided,
                        scaling=scaling)
                    options = ["--rate", 48000, "--window", window, "--nperseg", nperseg, "--detrend", detrend, "--scaling",
                               scaling]
                    options += [] if overlap is None else ["--overlap", overlap]
                    options += [] if nfft is None else ["--nfft", nfft]
                    options += ["--two-sided"] if two_sided else []
                    self.check(self.output("psd", self.save("x.npy", samples), *options, ranks=2), expected)

    def test_median(self):
        real, z = noise(2, 3000), complex_noise(2500)
        for samples, nperseg in ((real, 256), (real, 300), (real[0, :300], 256), (z, 200)):  # 22, 19, 1 and 24 frames
            expected = scipy.signal.welch(samples, 48000, nperseg=nperseg, average="median",
                                          return_onesided=not np.iscomplexobj(samples))[1]
            path = self.save("x.npy", samples)
            for options in ((), ("--read", "parallel"), ("--frames-at-once", 2)):
                self.check(self.output("psd", path, "--rate", 48000, "--nperseg", nperseg, "--average", "median", *options,
                                       ranks=3), expected)

    def test_rows(self):
        x = noise(3, 2000)
        expected = scipy.signal.welch(x)[1]
        for ranks in (None, 3):
            for read in ("root", "parallel"):
                self.check(self.output("psd", self.save("x.npy", x), "--read", read, ranks=ranks), expected)

    def test_more_ranks_than_frames(self):
        x = noise(300)
        for read in ("root", "parallel"):
            self.check(self.output("psd", self.save("x.npy", x), "--read", read, ranks=3), scipy.signal.welch(x)[1])

    def test_in_many_pieces(self):
        x = noise(5001)
        expected = scipy.signal.welch(x, nperseg=64, noverlap=50)[1]
        for at_once in (1, 2, 7):
            for read in ("root", "parallel"):
                for ranks in (None, 3):
                    with self.subTest(at_once=at_once, read=read, ranks=ranks):
                        self.check(self.output("psd", self.save("x.npy", x), "--nperseg", 64, "--overlap", 50, "--read", read,
                                               "--frames-at-once", at_once, ranks=ranks), expected)

    def test_pipe_of_unknown_length(self):
        z = complex_noise(4000).astype(np.complex64)
        for ranks in (None, 3):
            for at_once in (3, 1000):
                result = self.output("psd", "-", "--format", "cf32_le", "--frames-at-once", at_once, ranks=ranks,
                                     input=z.tobytes())
                self.check(result, scipy.signal.welch(z.astype(complex), return_onesided=False)[1])

    def test_outputs_agree(self):
        x = noise(4000)
        names = ("p.npy", "p.raw", "p.csv", "p.png", "p.svg")
        self.papfft("psd", self.save("x.npy", x), "--rate", 100, *[a for name in names for a in ("-o", name)], "--json",
                    "p.json", ranks=2)
        power = np.load(self.path("p.npy"))
        self.assertEqual(np.fromfile(self.path("p.raw")).tobytes(), power.tobytes())
        with open(self.path("p.csv"), newline="", encoding="ascii") as lines:
            rows = list(csv.DictReader(lines))
        frequencies, expected = scipy.signal.welch(x, 100)
        np.testing.assert_allclose([float(row["frequency_hz"]) for row in rows], frequencies)
        self.assertEqual([float(row["value"]) for row in rows], list(power))
        self.check(power, expected)
        self.assertEqual(self.path("p.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertTrue(xml.etree.ElementTree.parse(self.path("p.svg")).getroot().tag.endswith("svg"))
        report = json.loads(self.path("p.json").read_text())
        self.assertEqual((report["command"], report["settings"]["frames"], report["ranks"]), ("psd", (4000 - 128) // 128, 2))
        self.assertEqual(set(report["phases_s"]), {"read", "scatter", "compute", "reduce", "write"})
        self.assertEqual(self.files(), sorted([*names, "p.json", "x.npy"]))

    def test_two_sided_csv_has_numpys_frequencies(self):
        self.papfft("psd", self.save("z.npy", complex_noise(600)), "--nperseg", 10, "--rate", 5, "-o", "z.csv", "-o", "z.png")
        with open(self.path("z.csv"), newline="", encoding="ascii") as lines:
            np.testing.assert_allclose([float(row["frequency_hz"]) for row in csv.DictReader(lines)], np.fft.fftfreq(10, 0.2))

    def test_stats(self):
        text = self.papfft("psd", RECORDING, "-o", "p.npy", "--stats", ranks=2).stdout.decode()
        for word in ("power spectrum", "frames of 256", "2 ranks", "reduce auto", "compute"):
            self.assertIn(word, text)


class PsdIsReproducibleTest(ProgramTest):
    """The number of ranks and how many frames they take at once determine the bits; nothing else does."""

    def setUp(self):
        super().setUp()
        # Loud and soft parts, so that sums in another order would differ.
        self.file = self.save("x.npy", noise(40000) * np.exp(np.linspace(-8, 8, 40000)))
        self.options = ("--nperseg", 128, "--frames-at-once", 40)
        self.expected = self.bits()

    def bits(self, *options, ranks=4, **more):
        return self.output("psd", self.file, *self.options, *options, ranks=ranks, **more).tobytes()

    def test_reductions_and_arrivals(self):
        registry = json.loads(self.papfft("algorithms", "--json").stdout)
        names = [a["algorithm"] for a in registry if a["op"] == "reduce"]
        self.assertTrue(names)
        for name in [*names, *["b" + name for name in names]]:
            with self.subTest(reduce=name):
                self.assertEqual(self.bits("--reduce", name, "--delay", "uniform:3ms"), self.expected)

    def test_scatters(self):
        registry = json.loads(self.papfft("algorithms", "--json").stdout)
        for name in [a["algorithm"] for a in registry if a["op"] == "scatter"]:
            with self.subTest(scatter=name):
                self.assertEqual(self.bits("--scatter", name), self.expected)
        self.assertEqual(self.bits("--scatter", "bsln", "--delay", "late:2:4ms", "--edge", 0.3), self.expected)

    def test_threads_and_readers(self):
        for threads in (1, 3):
            self.assertEqual(self.bits("--threads", threads), self.expected)
            self.assertEqual(self.bits("--threads", threads, "--read", "parallel"), self.expected)
        self.assertEqual(self.bits("--read", "parallel", "--delay", "late:1:10ms"), self.expected)


class PsdInBoundedMemoryTest(ProgramTest):
    def peak_kib(self, samples):
        with open(self.path("zeros.f64"), "wb") as file:
            file.truncate(8 * samples)
        pid = os.posix_spawn(command_line([])[0], command_line(
            ["psd", self.path("zeros.f64"), "--format", "rf64_le", "-o", self.path("out.npy"), "--threads", 1]), os.environ)
        _, status, usage = os.wait4(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        return usage.ru_maxrss

    def test_a_long_recording_needs_no_more_than_a_short_one(self):
        short, long = self.peak_kib(2**20), self.peak_kib(2**24)
        self.assertLess(long - short, 2**24 * 8 / 1024 / 4)  # KiB: a quarter of the long one


class PsdRefusesTest(ProgramTest):
    def refused(self, code, says, *arguments, ranks=(None, 2), **options):
        before = self.files()
        for n in ranks:
            with self.subTest(arguments=arguments, ranks=n):
                result = run(command_line(arguments, n), cwd=self.folder, **options)
                said = complaints(result.stderr)
                self.assertEqual(len(said), 1, result.stderr.decode())
                self.assertIn(says, said[0])
                self.assertEqual(result.returncode, code)
                self.assertEqual(self.files(), before)

    def test_options_that_make_no_sense(self):
        self.save("x.npy", noise(600))
        for says, *options in (("--noverlap 256", "--overlap", 256), ("--nfft 255", "--nfft", 255),
                               ("--nperseg 600", "--nperseg", 601), ("kaiser", "--window", "kaiser"),
                               ("linear", "--detrend", "cubic"), ("parallel", "--read", "all"), ("bnom", "--reduce", "nonsense"),
                               ("sometimes", "--delay", "sometimes"), ("--rate", "--rate", -1),
                               ("--frames-at-once", "--frames-at-once", 0)):
            self.refused(64, says, "psd", "x.npy", "-o", "out.npy", *options)

    def test_mpis_own_reduction_cannot_add_these_sums(self):
        self.save("x.npy", noise(600))
        self.refused(64, "MPI's operations", "psd", "x.npy", "-o", "out.npy", "--reduce", "mpi", ranks=(3,))

    def test_bad_files(self):
        self.refused(65, "missing.npy", "psd", "missing.npy", "-o", "out.npy")
        self.refused(65, "missing.npy", "psd", "missing.npy", "-o", "out.npy", "--read", "parallel")
        self.path("cut.flac").write_bytes(RECORDING.read_bytes()[:50000])
        for read in ("root", "parallel"):
            self.refused(65, "cut.flac", "psd", "cut.flac", "-o", "out.npy", "--read", read)
            self.refused(73, "none/out.npy", "psd", RECORDING, "-o", "none/out.npy", "--read", read)
            self.refused(73, "none/s.json", "psd", RECORDING, "-o", "out.npy", "--json", "none/s.json", "--read", read)
            self.refused(73, "No space left", "psd", RECORDING, "-o", "/dev/full", "--read", read)

    def test_pipe_that_ranks_cannot_share(self):
        contents = self.save("x.npy", noise(2, 600)).read_bytes()
        self.refused(64, "--read root", "psd", "-", "--format", "rf64_le", "-o", "out.npy", "--read", "parallel",
                     input=bytes(8000))
        self.refused(64, "must be a file", "psd", "-", "-o", "out.npy", input=contents)
        self.refused(65, "holds no samples", "psd", "-", "--format", "rf64_le", "-o", "out.npy", input=b"")
        self.refused(64, "--nperseg 100", "psd", "-", "--format", "rf64_le", "-o", "out.npy", input=bytes(800))

    def test_not_finite_samples_are_counted_once(self):
        x = noise(3000)
        x[[5, 300, 301, 2900]] = np.nan, np.inf, -np.inf, np.nan
        self.save("x.npy", x)
        for read in ("root", "parallel"):
            for ranks in (None, 3):
                result = run(command_line(["psd", "x.npy", "-o", "o.npy", "--read", read, "--frames-at-once", 2], ranks),
                             cwd=self.folder)
                self.assertEqual(result.returncode, 0)
                self.assertEqual(complaints(result.stderr), ["papfft: note: 4 of the samples in x.npy are not finite"])
                self.assertTrue(np.all(np.isnan(np.load(self.path("o.npy")))))
