# SPDX-License-Identifier: MIT
"""papfft correlate against scipy.signal.csd and coherence."""

import csv
import itertools
import json
import xml.etree.ElementTree

from support import (RECORDING, ProgramTest, command_line, complaints, np, recording_channels, relative_l2, run, scipy)


def related(channels, n, seed=1, is_complex=False):
    """Channels that have something in common and something of their own."""
    rng = np.random.default_rng(seed)
    def draw(*shape):
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)
    common = draw(n + channels)
    return np.array([common[c : c + n] + 0.5 * draw(n) for c in range(channels)])


class CorrelateTest(ProgramTest):
    def check(self, actual, expected, tolerance=1e-12):
        self.assertEqual(actual.shape, expected.shape)
        self.assertLessEqual(relative_l2(actual, expected), tolerance)

    def test_two_files(self):
        a, b = related(2, 5000)
        self.save("a.npy", a), self.save("b.npy", b)
        expected = scipy.signal.csd(a, b)[1]
        for ranks in (None, 1, 3):
            for read in ("root", "parallel"):
                self.check(self.output("correlate", "a.npy", "b.npy", "--read", read, ranks=ranks), expected)
        single = self.output("correlate", "a.npy", "b.npy", "--precision", "float", ranks=2)
        self.assertEqual(single.dtype, np.complex64)
        self.check(single, expected, 1e-5)

    def test_order_of_the_two_matters(self):
        a, b = related(2, 3000)
        self.save("a.npy", a), self.save("b.npy", b)
        forward, back = self.output("correlate", "a.npy", "b.npy"), self.output("correlate", "b.npy", "a.npy")
        np.testing.assert_array_equal(forward, np.conj(back))
        self.assertGreater(np.max(np.abs(forward.imag)), 0.1 * np.max(np.abs(forward.real)))

    def test_settings(self):
        real, z = related(2, 3000), related(2, 2500, is_complex=True)
        mixed = [real[0], z[0]]
        settings = [
            # window, nperseg, overlap, nfft, detrend, scaling, two-sided
            ("hann", 256, 128, 256, "constant", "density", False),
            ("boxcar", 128, 0, 200, "none", "spectrum", True),
            ("hamming", 99, 75, 101, "linear", "density", True),
            ("blackman", 100, 31, 135, "linear", "spectrum", False),
        ]
        for window, nperseg, overlap, nfft, detrend, scaling, two_sided in settings:
            for a, b in (real, z, mixed):
                with self.subTest(window=window, types=(a.dtype, b.dtype)):
                    is_complex = np.iscomplexobj(a) or np.iscomplexobj(b)
                    expected = scipy.signal.csd(a, b, 1000, window, nperseg, overlap, nfft,
                                                detrend=False if detrend == "none" else detrend,
                                                return_onesided=not (two_sided or is_complex), scaling=scaling)[1]
                    self.save("a.npy", a), self.save("b.npy", b)
                    result = run(command_line(
                        ["correlate", "a.npy", "b.npy", "-o", "out.npy", "--rate", 1000, "--window", window, "--nperseg",
                         nperseg, "--overlap", overlap, "--nfft", nfft, "--detrend", detrend, "--scaling", scaling,
                         *(["--two-sided"] if two_sided else [])], 2), cwd=self.folder)
                    self.assertEqual(result.returncode, 0, result.stderr.decode())
                    self.check(np.load(self.path("out.npy")), expected)

    def test_the_shorter_is_padded_as_scipy_does_and_it_is_said(self):
        a, b = related(2, 3000)
        self.save("a.npy", a), self.save("b.npy", b[:1100])
        for read in ("root", "parallel"):
            result = run(command_line(["correlate", "a.npy", "b.npy", "-o", "out.npy", "--read", read], 2), cwd=self.folder)
            self.assertEqual(complaints(result.stderr), ["papfft: note: a.npy and b.npy: the shorter is padded with zeros"])
            self.check(np.load(self.path("out.npy")), scipy.signal.csd(a, b[:1100])[1])

    def test_a_pipe_that_ends_before_the_other_is_padded(self):
        a, b = related(2, 5000)
        self.path("a.f64").write_bytes(a.tobytes())
        expected = scipy.signal.csd(a, b[:1111])[1]
        for ranks in (None, 2):
            result = run(command_line(["correlate", "a.f64", "-", "--format", "rf64_le", "-o", "out.npy", "--frames-at-once", 3], ranks),
                         cwd=self.folder, input=b[:1111].tobytes())
            self.assertEqual((result.returncode, complaints(result.stderr)), (0, []))
            self.check(np.load(self.path("out.npy")), expected)

    def test_a_pipe_that_is_cut_off_is_not_padded(self):
        a, b = related(2, 5000)
        file = self.save("a.npy", a)
        whole = self.save("b.npy", b).read_bytes()
        header = len(whole) - b.nbytes
        for cut, says in ((header + 2000 * 8 + 3, "ends inside a sample"), (header + 2000 * 8, "2000"), (header + 80, "10")):
            for more in ((), ("--frames-at-once", 3)):
                with self.subTest(says, more=more):
                    result = run(command_line(["correlate", file, "-", "-o", "out.npy", *more], 2), cwd=self.folder, input=whole[:cut])
                    said = complaints(result.stderr)
                    self.assertEqual(result.returncode, 65, said)
                    self.assertIn(says, said[-1])
                    if cut > header + 80:
                        self.check(np.load(self.path("out.npy")), scipy.signal.csd(a[:2000], b[:2000])[1])
                        self.path("out.npy").unlink()
                    self.assertFalse(self.path("out.npy").exists())

    def test_all_pairs_of_rows(self):
        x = related(4, 4000)
        pairs = list(itertools.combinations(range(4), 2))
        file = self.save("x.npy", x)
        for ranks in (None, 3):
            self.check(self.output("correlate", file, "--frames-at-once", 3, "--json", "x.json", ranks=ranks),
                       np.array([scipy.signal.csd(x[a], x[b])[1] for a, b in pairs]))
            coherence = self.output("correlate", file, "--coherence", ranks=ranks)
            expected = np.array([scipy.signal.coherence(x[a], x[b])[1] for a, b in pairs])
            self.check(coherence, expected, 1e-11)
        self.assertEqual(json.loads(self.path("x.json").read_text())["settings"]["pairs"], [list(p) for p in pairs])

    def test_channels_of_a_sound(self):
        channels, rate_hz = recording_channels()
        expected = scipy.signal.csd(channels[:, 0], channels[:, 1], rate_hz, nperseg=1000)[1]
        for read in ("root", "parallel"):
            self.check(self.output("correlate", RECORDING, "--nperseg", 1000, "--read", read, ranks=2), expected)

    def test_outputs_agree(self):
        file = self.save("x.npy", related(2, 3000))
        names = ("c.npy", "c.raw", "c.csv", "c.png", "c.svg")
        for more in ((), ("--coherence",), ("--picture", "phase")):
            self.papfft("correlate", file, "--rate", 100, *more, *[a for name in names for a in ("-o", name)])
            numbers = np.load(self.path("c.npy"))
            self.assertEqual(self.path("c.raw").read_bytes(), numbers.tobytes())
            with open(self.path("c.csv"), newline="", encoding="ascii") as lines:
                rows = list(csv.DictReader(lines))
            np.testing.assert_allclose([float(row["frequency_hz"]) for row in rows], scipy.fft.rfftfreq(256, 0.01))
            values = [float(row["value"]) if more == ("--coherence",) else float(row["re"]) + 1j * float(row["im"])
                      for row in rows]
            self.assertEqual(values, list(numbers))
            self.assertEqual(self.path("c.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertTrue(xml.etree.ElementTree.parse(self.path("c.svg")).getroot().tag.endswith("svg"))

    def test_neither_algorithms_nor_arrivals_change_a_bit(self):
        file = self.save("x.npy", related(3, 20000) * np.exp(np.linspace(-8, 8, 20000)))
        options = ("--nperseg", 64, "--frames-at-once", 50)
        expected = self.output("correlate", file, *options, ranks=4).tobytes()
        registry = json.loads(self.papfft("algorithms", "--json").stdout)
        for name in [a["algorithm"] for a in registry if a["op"] == "reduce"]:
            with self.subTest(reduce=name):
                self.assertEqual(self.output("correlate", file, *options, "--reduce", name, "--delay", "uniform:3ms",
                                             ranks=4).tobytes(), expected)
        self.assertEqual(self.output("correlate", file, *options, "--read", "parallel", "--threads", 3, ranks=4).tobytes(),
                         expected)

    def test_refusals(self):
        self.save("x.npy", related(1, 600)[0])
        self.path("a.f32").write_bytes(bytes(4000))
        for code, says, *arguments in (
                (64, "second file", "x.npy"), (65, "missing.npy", "x.npy", "missing.npy"),
                (64, "magnitude", "x.npy", "x.npy", "--picture", "both"), (64, "can be read once", "-", "-"),
                (64, "--noverlap", "x.npy", "x.npy", "--overlap", 300), (64, "--nperseg 600", "x.npy", "x.npy", "--nperseg", 601),
                (65, "a.f32", "x.npy", "a.f32"), (73, "none/o.npy", "x.npy", "x.npy", "-o", "none/o.npy")):
            before = self.files()
            for ranks in (None, 2):
                with self.subTest(arguments=arguments, ranks=ranks):
                    result = run(command_line(["correlate", *arguments, "-o", "out.npy"], ranks), cwd=self.folder)
                    said = complaints(result.stderr)
                    self.assertEqual((result.returncode, len(said)), (code, 1), result.stderr.decode())
                    self.assertIn(says, said[0])
                    self.assertEqual(self.files(), before)
