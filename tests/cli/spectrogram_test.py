# SPDX-License-Identifier: MIT
"""papfft spectrogram against scipy.signal.spectrogram."""

import json
import xml.etree.ElementTree

from support import RECORDING, ProgramTest, command_line, complaints, np, recording_samples, run, scipy


def noise(n, seed=3):
    return np.random.default_rng(seed).standard_normal(n)


class SpectrogramTest(ProgramTest):
    def check(self, actual, expected, tolerance=1e-12):
        self.assertEqual(actual.shape, expected.shape)
        self.assertLessEqual(np.max(np.abs(actual - expected)), tolerance * np.max(np.abs(expected)))

    def test_recording(self):
        samples, rate_hz = recording_samples()
        _, _, expected = scipy.signal.spectrogram(samples, rate_hz)
        for ranks in (None, 3):
            self.check(self.output("spectrogram", RECORDING, ranks=ranks), expected.T)
        self.check(self.output("spectrogram", RECORDING, "--precision", "float", ranks=2), expected.T, 1e-5)

    def test_fewer_frames_than_ranks(self):
        x = noise(300)
        _, _, expected = scipy.signal.spectrogram(x)
        self.check(self.output("spectrogram", self.save("x.npy", x), ranks=3), expected.T)

    def test_settings(self):
        real, z = noise(5000), noise(4000) + 1j * noise(4000, seed=4)
        settings = [
            # window, nperseg, noverlap, scaling, detrend, mode
            ("boxcar", 128, 0, "density", "none", "psd"),
            ("hann", 256, 128, "spectrum", "constant", "psd"),
            ("hamming", 100, 75, "density", "constant", "magnitude"),
            ("blackman", 255, 31, "spectrum", "none", "magnitude"),
            ("tukey", 256, 32, "density", "constant", "psd"),
        ]
        for window, nperseg, noverlap, scaling, detrend, mode in settings:
            for samples in (real, z):
                with self.subTest(window=window, complex=np.iscomplexobj(samples)):
                    _, _, expected = scipy.signal.spectrogram(
                        samples, 48000, ("tukey", 0.25) if window == "tukey" else window, nperseg, noverlap,
                        detrend="constant" if detrend == "constant" else False, return_onesided=samples is real,
                        scaling=scaling, mode=mode)
                    self.check(
                        self.output("spectrogram", self.save("x.npy", samples), "--rate", 48000, "--window", window,
                                    "--nperseg", nperseg, "--noverlap", noverlap, "--scaling", scaling, "--detrend", detrend,
                                    "--mode", mode), expected.T)

    def test_ranks_do_not_change_a_bit(self):
        for samples in (noise(10007), noise(5003) + 1j * noise(5003, seed=5)):
            file = self.save("x.npy", samples)
            alone = self.output("spectrogram", file).tobytes()
            for ranks in (1, 3, 4):
                self.assertEqual(self.output("spectrogram", file, ranks=ranks).tobytes(), alone)

    def test_delays_and_arrival_aware_gathers_do_not_change_a_bit(self):
        file = self.save("x.npy", noise(30011))
        expected = self.output("spectrogram", file).tobytes()
        for options in (("--delay", "uniform:5ms"), ("--gather", "bsls", "--delay", "root-late:20ms"),
                        ("--gather", "bcredit", "--scatter", "bsln"), ("--gather", "sbn", "--delay", "late:1:5ms")):
            with self.subTest(options):
                self.assertEqual(self.output("spectrogram", file, *options, ranks=4).tobytes(), expected)

    def test_pictures_and_report(self):
        self.papfft("spectrogram", RECORDING, "-o", "s.png", "-o", "s.svg", "--log-frequency", "--json", "s.json", ranks=2)
        self.assertEqual(self.path("s.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertTrue(xml.etree.ElementTree.parse(self.path("s.svg")).getroot().tag.endswith("svg"))
        settings = json.loads(self.path("s.json").read_text())["settings"]
        self.assertEqual((settings["samples"], settings["bins"], settings["sample_rate_hz"]), (296317, 129, 44100))
        self.assertEqual(settings["frames"], (296317 - 32) // (256 - 32))

    def test_a_pipe_is_dealt_out_as_it_comes(self):
        z = (noise(100_000) + 1j * noise(100_000, seed=4)).astype(np.complex64)
        self.path("z.cf32").write_bytes(z.tobytes())
        for ranks, nperseg in ((None, 256), (3, 1000)):
            options = ("--format", "cf32_le", "--precision", "float", "--nperseg", nperseg)
            expected = self.output("spectrogram", "z.cf32", *options)
            out = self.path("piped.npy")
            piped = run(command_line(("spectrogram", "-", *options, "-o", out), ranks), input=z.tobytes(), cwd=self.folder)
            self.assertEqual(piped.returncode, 0, piped.stderr)
            self.check(np.load(out), expected, 1e-6)
        short = run(command_line(("spectrogram", "-", *options, "-o", "no.npy")), input=bytes(800), cwd=self.folder)
        self.assertEqual(short.returncode, 65)
        self.assertIn("--nperseg 100", complaints(short.stderr)[0])
        self.assertFalse(self.path("no.npy").exists())
