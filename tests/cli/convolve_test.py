# SPDX-License-Identifier: MIT
"""papfft convolve against scipy.signal.fftconvolve."""

import csv
import json
import xml.etree.ElementTree

from support import (RECORDING, ProgramTest, command_line, complaints, np, recording_samples, relative_l2, run, scipy)

TOLERANCE = {"double": 1e-12, "float": 1e-5}


def noise(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


def complex_noise(*shape, seed=2):
    return noise(*shape, seed=seed) + 1j * noise(*shape, seed=seed + 100)


class ConvolveTest(ProgramTest):
    def check(self, actual, expected, precision="double"):
        self.assertEqual(actual.shape, expected.shape)
        self.assertLessEqual(relative_l2(actual, expected), TOLERANCE[precision])

    def test_recording(self):
        samples, _ = recording_samples()
        taps = noise(3000) * np.exp(-np.arange(3000) / 500)
        self.save("h.npy", taps)
        for mode in ("full", "same", "valid"):
            expected = scipy.signal.fftconvolve(samples, taps, mode)
            for ranks in (None, 3):
                with self.subTest(mode=mode, ranks=ranks):
                    self.check(self.output("convolve", RECORDING, "h.npy", "--mode", mode, ranks=ranks), expected)
            single = self.output("convolve", RECORDING, "h.npy", "--mode", mode, "--precision", "float", ranks=2)
            self.assertEqual(single.dtype, np.float32)
            self.check(single, expected, "float")

    def test_lengths_and_types(self):
        for n, m in ((1000, 1), (1000, 2), (1000, 99), (1, 1), (1, 40), (30, 100), (257, 256)):
            for x, h in ((noise(n), noise(m)), (complex_noise(n), noise(m)), (noise(n), complex_noise(m)),
                         (complex_noise(n), complex_noise(m))):
                self.save("x.npy", x), self.save("h.npy", h)
                for mode, ranks in (("full", None), ("same", 2), ("valid", None)):
                    with self.subTest(n=n, m=m, types=(x.dtype, h.dtype), mode=mode):
                        self.check(self.output("convolve", "x.npy", "h.npy", "--mode", mode, ranks=ranks),
                                   scipy.signal.fftconvolve(x, h, mode))

    def test_more_ranks_than_samples(self):
        x, h = noise(3), noise(2)
        self.save("x.npy", x), self.save("h.npy", h)
        self.check(self.output("convolve", "x.npy", "h.npy", ranks=7), scipy.signal.fftconvolve(x, h))

    def test_rows(self):
        x, h = noise(5, 700), noise(64)
        self.save("x.npy", x), self.save("h.npy", h)
        for ranks in (None, 4):
            self.check(self.output("convolve", "x.npy", "h.npy", "--mode", "same", ranks=ranks),
                       scipy.signal.fftconvolve(x, h[None, :], "same", axes=1))

    def test_channels_of_a_sound(self):
        sound = np.round(8000 * noise(900, 3)).astype(np.int16)
        scipy.io.wavfile.write(self.path("x.wav"), 8000, sound)
        taps = noise(70)
        self.save("h.npy", taps)
        channels = sound.T / 32768
        for mode, ranks in (("full", None), ("same", 4)):
            expected = scipy.signal.fftconvolve(channels, taps[None, :], mode, axes=1)
            with self.subTest(mode=mode, ranks=ranks):
                self.check(self.output("convolve", "x.wav", "h.npy", "--each-channel", "--mode", mode, ranks=ranks), expected)
                self.check(self.output("convolve", "x.wav", "h.npy", "--channel", 1, "--mode", mode,
                                       ranks=ranks), expected[1])
                self.check(self.output("convolve", "x.wav", "h.npy", "--mode", mode, ranks=ranks), expected.mean(axis=0))

    def test_lengths_of_the_transforms(self):
        x, h = noise(5000), noise(64)
        self.save("x.npy", x), self.save("h.npy", h)
        for nfft in (64, 65, 100, 1024, 10000):
            self.check(self.output("convolve", "x.npy", "h.npy", "--nfft", nfft, ranks=3), scipy.signal.fftconvolve(x, h))

    def test_neither_algorithms_nor_arrivals_nor_threads_change_a_bit(self):
        self.save("x.npy", complex_noise(3, 9000)), self.save("h.npy", complex_noise(500))
        job = ("convolve", "x.npy", "h.npy", "--nfft", 1024)
        expected = self.output(*job, ranks=4).tobytes()
        registry = json.loads(self.papfft("algorithms", "--json").stdout)
        for a in registry:
            if a["op"] in ("scatter", "gather", "bcast", "reduce"):
                with self.subTest(op=a["op"], algorithm=a["algorithm"]):
                    self.assertEqual(self.output(*job, f"--{a['op']}", a["algorithm"], ranks=4).tobytes(), expected)
        for options in (("--threads", 3), ("--gather", "bsls", "--delay", "uniform:5ms"),
                        ("--gather", "bcredit", "--scatter", "bsln", "--delay", "root-late:5ms", "--edge", 0.3)):
            with self.subTest(options):
                self.assertEqual(self.output(*job, *options, ranks=4).tobytes(), expected)
        self.assertEqual(self.output(*job).tobytes(), expected)

    def test_outputs_agree(self):
        self.save("x.npy", noise(500)), self.save("h.npy", noise(9))
        names = ("y.npy", "y.raw", "y.csv", "y.png", "y.svg")
        text = self.papfft("convolve", "x.npy", "h.npy", "--mode", "same", *[a for name in names for a in ("-o", name)],
                           "--json", "y.json", "--stats", ranks=2).stdout.decode()
        y = np.load(self.path("y.npy"))
        self.assertEqual(self.path("y.raw").read_bytes(), y.tobytes())
        with open(self.path("y.csv"), newline="", encoding="ascii") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual([float(row["value"]) for row in rows], list(y))
        self.assertEqual([float(row["sample"]) for row in rows], list(range(4, 504)))  # the first result that is wanted
        self.assertEqual(self.path("y.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertTrue(xml.etree.ElementTree.parse(self.path("y.svg")).getroot().tag.endswith("svg"))
        report = json.loads(self.path("y.json").read_text())
        self.assertEqual((report["settings"]["taps"], report["settings"]["samples"], report["ranks"]), (9, 500, 2))
        self.assertEqual(set(report["phases_s"]), {"read", "filter", "split", "scatter", "compute", "gather", "write"})
        self.assertGreater(report["single_process_s"], 0)
        self.assertIn("same convolution", text)

    def test_sound_out(self):
        sound = np.round(800 * noise(900, 2)).astype(np.int16)
        scipy.io.wavfile.write(self.path("dry.wav"), 8000, sound)
        taps = (0.1 * noise(70)).astype(np.float32)
        scipy.io.wavfile.write(self.path("room.wav"), 8000, taps)
        expected = scipy.signal.fftconvolve(sound.T / 32768, taps[None, :].astype(float), axes=1)
        for ranks in (None, 3):
            with self.subTest(ranks=ranks):
                self.papfft("convolve", "dry.wav", "room.wav", "--each-channel", "-o", "wet.wav", ranks=ranks)
                rate_hz, wet = scipy.io.wavfile.read(self.path("wet.wav"))
                self.assertEqual((rate_hz, wet.dtype), (8000, np.float32))
                self.check(wet.T, expected, "float")
        self.papfft("convolve", "dry.wav", "room.wav", "--precision", "float", "-o", "mono.WAV")
        self.check(scipy.io.wavfile.read(self.path("mono.WAV"))[1], expected.mean(axis=0), "float")
        # What is beyond full scale stays, and is told. A filter's rate is that of samples that have none.
        loud = noise(50)
        self.save("x.npy", loud), self.save("two.npy", np.array([2.0]))
        scipy.io.wavfile.write(self.path("one.wav"), 8000, np.array([1], dtype=np.float32))
        said = run(command_line(["convolve", "x.npy", "one.wav", "-o", "loud.wav"]), cwd=self.folder)
        self.assertEqual(said.returncode, 0)
        self.assertIn(f"loud.wav goes up to {abs(loud).max():.3g}; full scale is 1", complaints(said.stderr)[0])
        self.check(scipy.io.wavfile.read(self.path("loud.wav"))[1], loud, "float")
        self.save("z.npy", complex_noise(50))
        scipy.io.wavfile.write(self.path("other.wav"), 44100, taps)
        for code, says, *arguments in (
                (64, "does not tell its sample rate", "convolve", "x.npy", "two.npy", "-o", "no.wav"),
                (64, "complex samples are no sound", "convolve", "z.npy", "one.wav", "-o", "no.wav"),
                (64, "dry.wav has 8000 samples per second, and other.wav has 44100", "convolve", "dry.wav", "other.wav", "-o", "no.wav"),
                (64, "cannot write no.wav: what this command writes is no sound; what would work: .npy", "psd", "dry.wav",
                 "-o", "no.wav")):
            with self.subTest(says):
                result = run(command_line(arguments), cwd=self.folder)
                self.assertEqual(result.returncode, code, result.stderr.decode())
                self.assertEqual(len(complaints(result.stderr)), 1)
                self.assertIn(says, complaints(result.stderr)[0])
        self.assertFalse(self.path("no.wav").exists())

    def test_raw_samples(self):
        x, h = complex_noise(300).astype(np.complex64), noise(20).astype(np.float32)
        self.path("h.f32").write_bytes(h.tobytes())
        self.check(self.output("convolve", "-", "h.f32", "--format", "cf32_le", "--filter-format", "rf32_le", ranks=2,
                               input=x.tobytes()),
                   scipy.signal.fftconvolve(x.astype(complex), h.astype(float)))

    def test_refusals(self):
        self.save("x.npy", noise(600)), self.save("h.npy", noise(20)), self.save("rows.npy", noise(2, 20))
        self.path("bad.npy").write_bytes(b"this is no array")
        for code, says, *arguments in (
                (64, "FILTER", "x.npy"), (64, "rows.npy: a filter is one vector", "x.npy", "rows.npy"),
                (65, "missing.npy", "x.npy", "missing.npy"), (65, "bad.npy", "x.npy", "bad.npy"), (65, "bad.npy", "bad.npy", "h.npy"),
                (64, "what would work: --nfft", "x.npy", "h.npy", "--nfft", 19), (64, "valid", "x.npy", "h.npy", "--mode", "middle"),
                (64, "bnom", "x.npy", "h.npy", "--bcast", "nonsense"), (64, "can be read once", "-", "-"),
                (65, "h.npy", "x.npy", "h.npy", "--filter-format", "rf32_le"),
                (73, "none/y.npy", "x.npy", "h.npy", "-o", "none/y.npy"), (73, "No space left", "x.npy", "h.npy", "-o", "/dev/full")):
            before = self.files()
            output = () if "-o" in arguments else ("-o", "out.npy")
            for ranks in (None, 2):
                with self.subTest(arguments=arguments, ranks=ranks):
                    result = run(command_line(["convolve", *arguments, *output], ranks), cwd=self.folder)
                    said = complaints(result.stderr)
                    self.assertEqual((result.returncode, len(said)), (code, 1), result.stderr.decode())
                    self.assertIn(says, said[0])
                    self.assertEqual(self.files(), before)
