# SPDX-License-Identifier: MIT
"""papfft stft and istft against scipy.signal."""

import scipy.signal
from support import ProgramTest, command_line, complaints, np, relative_l2, run


def noise(count, seed=1):
    return np.random.default_rng(seed).standard_normal(count)


class ShortTimeTransformsTest(ProgramTest):
    def check(self, actual, expected, tolerance=1e-14):
        self.assertEqual((actual.shape, actual.dtype.kind), (expected.shape, expected.dtype.kind))
        self.assertLessEqual(relative_l2(actual, expected), tolerance)

    def test_there_and_back_as_scipy_does_it(self):
        x = noise(5000)
        z = x + 1j * noise(5000, seed=2)
        for samples in (x, z):
            real = samples is x
            for ranks, nperseg, noverlap, window in ((None, 256, 128, "hann"), (3, 100, 75, "hamming"), (None, 65, 20, "boxcar")):
                with self.subTest(real=real, ranks=ranks, nperseg=nperseg):
                    how = dict(window=window, nperseg=nperseg, noverlap=noverlap)
                    _, _, expected = scipy.signal.stft(samples, return_onesided=real, **how)
                    frames = ("--nperseg", nperseg, "--noverlap", noverlap, "--window", window)
                    spectra = self.output("stft", self.save("in.npy", samples), *frames, ranks=ranks)
                    self.check(spectra, expected.T)
                    _, again = scipy.signal.istft(expected, input_onesided=real, **how)
                    two_sided = () if real else ("--two-sided",)
                    self.check(self.output("istft", self.save("s.npy", spectra), *frames, *two_sided, ranks=ranks), again)
                    self.check(self.output("istft", "s.npy", *frames, *two_sided, "--length", 5000), samples)

    def test_defaults_and_no_boundary(self):
        x = noise(4096)
        _, _, expected = scipy.signal.stft(x, boundary=None, padded=False)
        self.check(self.output("stft", self.save("x.npy", x), "--no-boundary", ranks=2), expected.T)
        spectra = self.save("s.npy", self.output("stft", "x.npy"))
        self.check(self.output("istft", spectra, "--precision", "float"), x.astype(np.float32), 1e-6)

    def test_what_cannot_be(self):
        self.save("x.npy", noise(100))
        self.save("s.npy", np.ones((3, 20)))
        for arguments, code, what in ((("stft", "x.npy", "-o", "o.npy"), 64, "--nperseg 100"),
                                      (("stft", "s.npy", "-o", "o.npy"), 64, "one vector"),
                                      (("stft", "x.npy", "--nperseg", 8, "--overlap", 8, "-o", "o.npy"), 64, "must be below"),
                                      (("istft", "x.npy", "-o", "o.npy"), 64, "two-dimensional"),
                                      (("istft", "s.npy", "--nperseg", 20, "-o", "o.npy"), 64, "--two-sided"),
                                      (("istft", "s.npy", "--length", 1000, "-o", "o.npy"), 64, "there are"),
                                      (("istft", "s.npy", "-o", "o.png"), 64, "no picture")):
            with self.subTest(arguments):
                result = run(command_line(arguments), cwd=self.folder)
                said = complaints(result.stderr)
                self.assertEqual((result.returncode, len(said)), (code, 1), result.stderr.decode())
                self.assertIn(what, said[0])
                self.assertEqual(self.files(), ["s.npy", "x.npy"])
