# SPDX-License-Identifier: MIT
"""papfft transform along any axes of arrays, and cosine transforms, against scipy.fft; what else users of scipy expect."""

import json

import scipy.fft
import scipy.io.wavfile
from support import ProgramTest, command_line, complaints, np, relative_l2, run

NORMS = ("backward", "ortho", "forward")


def noise(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


def complex_noise(*shape, seed=2):
    return noise(*shape, seed=seed) + 1j * noise(*shape, seed=seed + 100)


class ArrayCase(ProgramTest):
    def check(self, actual, expected, tolerance=1e-14):
        self.assertEqual((actual.shape, actual.dtype.kind), (expected.shape, expected.dtype.kind))
        self.assertLessEqual(relative_l2(actual, expected), tolerance)

    def transform(self, samples, *options, **run_options):
        return self.output("transform", self.save("in.npy", samples), *options, **run_options)

    def refused(self, code, *arguments, ranks=None):
        """The one line that it says; nothing may be left behind."""
        before = self.files()
        result = run(command_line(("transform", *arguments), ranks), cwd=self.folder)
        said = complaints(result.stderr)
        self.assertEqual((result.returncode, len(said)), (code, 1), result.stderr.decode())
        self.assertEqual(self.files(), before)
        return said[0]


class TransformOfArraysTest(ArrayCase):
    def test_any_axes_of_complex_samples(self):
        z = complex_noise(6, 5, 8)
        axes_of = {"all": (0, 1, 2), "0": (0,), "1": (1,), "2,0": (2, 0), "-2": (1,), "-1": (2,)}
        for text, axes in axes_of.items():
            for ranks, more in ((None, ()), (3, ("--engine", "slices"))):
                if ranks and text not in ("all", "2,0"):
                    continue
                with self.subTest(ranks=ranks, axes=text):
                    self.check(self.transform(z, f"--axes={text}", *more, ranks=ranks), scipy.fft.fftn(z, axes=axes))
        for ranks, more in ((None, ()), (7, ("--read", "parallel"))):
            self.check(self.transform(z, "--axes", "all", "--inverse", *more, ranks=ranks), scipy.fft.ifftn(z))
        self.check(self.transform(z, "--axes", "-2"), scipy.fft.fft(z, axis=1))

    def test_real_samples_have_half_a_spectrum_along_the_last_axis(self):
        x = noise(9, 6, 7)
        for text, axes in (("all", (0, 1, 2)), ("1,0", (1, 0)), ("0,2", (0, 2)), ("0", (0,))):
            for ranks, more in ((None, ()), (4, ("--engine", "slices"))):
                if ranks and text != "1,0":
                    continue
                with self.subTest(ranks=ranks, axes=text):
                    half = scipy.fft.rfftn(x, axes=axes)
                    self.check(self.transform(x, "--axis", text, *more, ranks=ranks), half)
                    self.check(self.transform(half, "--axis", text, "--inverse", "--real", "--length", x.shape[axes[-1]], *more,
                                              ranks=ranks), x)
            self.check(self.transform(x, "--axis", text, "--full"), scipy.fft.fftn(x, axes=axes))

    def test_lines_are_cut_and_padded(self):
        z = complex_noise(10, 6)
        for ranks, more, lengths in ((None, (), (4, 25)), (3, ("--engine", "slices"), (25,))):
            for length in lengths:
                self.check(self.transform(z, "--axis", 0, "--length", length, *more, ranks=ranks), scipy.fft.fft(z, length, axis=0))

    def test_float(self):
        z = complex_noise(32, 48).astype(np.complex64)
        result = self.transform(z, "--axes", "all", "--precision", "float", "--engine", "slices", ranks=2)
        self.assertEqual(result.dtype, np.complex64)
        self.check(result, scipy.fft.fftn(z), 6e-7)

    def test_the_ranks_share_what_lies_in_tiles(self):
        """Lines in many tiles, some of them shorter than others."""
        z = complex_noise(300, 1100)
        for more, ranks in (((), None), (("--engine", "slices"), 3)):
            self.check(self.transform(z, "--axes", "all", *more, ranks=ranks), scipy.fft.fft2(z))

    def test_other_outputs_and_inputs(self):
        z = complex_noise(4, 6)
        self.papfft("transform", self.save("z.npy", z), "--axes", "all", "-o", "out.raw", "-o", "out.csv")
        self.check(np.fromfile(self.path("out.raw"), np.complex128), scipy.fft.fft2(z).ravel())
        table = np.genfromtxt(self.path("out.csv"), delimiter=",", names=True)
        self.check(table["re"] + 1j * table["im"], scipy.fft.fft2(z).ravel())
        contents = self.path("z.npy").read_bytes()
        self.check(self.output("transform", "-", "--axes", "all", input=contents), scipy.fft.fft2(z))
        self.check(self.output("transform", "-", "--axes", "all", ranks=3, input=contents), scipy.fft.fft2(z))

    def test_the_report_says_what_was_done(self):
        self.save("z.npy", complex_noise(4, 6, 2))
        said = self.papfft("transform", "z.npy", "--axes", "0,1", "-o", "out.npy", "--stats", "--json", "r.json", "--engine", "slices",
                           ranks=2).stdout.decode()
        self.assertIn("an array of 4 x 6 x 2 samples along axes 0,1", said)
        settings = json.loads(self.path("r.json").read_text())["settings"]
        self.assertEqual((settings["shape"], settings["axes"], settings["engine"]), ([4, 6, 2], [0, 1], "slices"))

    def test_what_cannot_be(self):
        self.save("z.npy", complex_noise(4, 6, 2))
        self.save("rows.npy", noise(4, 6))
        for arguments, what in ((("z.npy", "--axis", "3", "-o", "o.npy"), "some of 0 to 2"),
                                (("z.npy", "--axes", "0,-3", "-o", "o.npy"), "each axis once"),
                                (("z.npy", "--axes", "x", "-o", "o.npy"), "what would work: all"),
                                (("z.npy", "--axes", "all", "--length", "4", "-o", "o.npy"), "along one axis"),
                                (("z.npy", "--resume", "-o", "o.npy"), "--resume"),
                                (("rows.npy", "--axes", "all", "--batch", "-o", "o.npy"), "--batch"),
                                (("rows.npy", "--axes", "all", "--engine", "farm", "-o", "o.npy"), "alone or slices"),
                                (("z.npy", "--dct", "2", "-o", "o.npy"), "real samples"),
                                (("rows.npy", "--dct", "2", "--full", "-o", "o.npy"), "--full")):
            with self.subTest(arguments):
                self.assertIn(what, self.refused(64, *arguments))
        self.assertIn(".npy or raw", self.refused(64, "z.npy", "-o", "o.csv"))
        self.assertIn("two (rows of samples)", complaints(
            run(command_line(("psd", "z.npy", "-o", "o.npy")), cwd=self.folder).stderr)[0])


class NormsAndCosinesTest(ArrayCase):
    def test_norms_by_every_engine(self):
        z, x = complex_noise(360), noise(360)
        half = np.fft.rfft(x)
        for norm, engine, ranks in (("ortho", "alone", None), ("forward", "alone", None), ("ortho", "dif", 3), ("forward", "slices", 4)):
            with self.subTest(norm=norm, engine=engine):
                how = ("--norm", norm, "--engine", engine)
                self.check(self.transform(z, *how, ranks=ranks), scipy.fft.fft(z, norm=norm))
                self.check(self.transform(half, *how, "--inverse", "--real", ranks=ranks), scipy.fft.irfft(half, norm=norm))
                if ranks is None:
                    self.check(self.transform(z, *how, "--inverse", ranks=ranks), scipy.fft.ifft(z, norm=norm))
                    self.check(self.transform(x, *how, ranks=ranks), scipy.fft.rfft(x, norm=norm))

    def test_norms_of_batches(self):
        rows = complex_noise(7, 60)
        expected = scipy.fft.fft(rows, norm="ortho")
        for engine, ranks in (("alone", None), ("stream", 3), ("farm", 2)):
            with self.subTest(engine):
                self.check(self.transform(rows, "--norm", "ortho", "--engine", engine, ranks=ranks), expected)
        self.papfft("transform", self.save("in.npy", rows), "--norm", "ortho", "-o", "out.csv")
        table = np.genfromtxt(self.path("out.csv"), delimiter=",", names=True)
        self.check(table["re"] + 1j * table["im"], expected.ravel())
        self.papfft("transform", "in.npy", "--norm", "ortho", "--leave-distributed", "-o", "left.npy", ranks=3)
        self.check(np.load(self.path("left.rank1.npy")), expected[:, 1::3])

    def test_norms_of_arrays(self):
        z = complex_noise(4, 6, 5)
        for norm in NORMS:
            self.check(self.transform(z, "--axes", "all", "--norm", norm), scipy.fft.fftn(z, norm=norm))
            self.check(self.transform(z, "--axes", "0,1", "--norm", norm, "--inverse"), scipy.fft.ifftn(z, axes=(0, 1), norm=norm))

    def test_cosine_transforms(self):
        for length in (1, 2, 15, 64, 1000):
            x = noise(3, length)
            for norm in NORMS if length == 15 else NORMS[:1]:
                for kind in (2, 3):
                    with self.subTest(length=length, norm=norm, kind=kind):
                        how = ("--dct", kind, "--norm", norm)
                        self.check(self.transform(x, *how), scipy.fft.dct(x, kind, norm=norm))
                        self.check(self.transform(x, *how, "--inverse"), scipy.fft.idct(x, kind, norm=norm))
        x = noise(12, 10)
        for ranks, more in ((None, ()), (3, ("--engine", "slices"))):
            self.check(self.transform(x, "--dct", 2, "--axes", "all", "--norm", "ortho", *more, ranks=ranks),
                       scipy.fft.dctn(x, norm="ortho"))
        self.check(self.transform(x, "--dct", 3, "--axes", "all", "--inverse"), scipy.fft.idctn(x, 3))
        self.check(self.transform(x, "--dct", 2, "--axis", 0, "--length", 16), scipy.fft.dct(x, 2, 16, axis=0))
        self.path("x.f32").write_bytes(x.astype(np.float32).tobytes())
        self.check(self.output("transform", "x.f32", "--format", "rf32_le", "--dct", 2), scipy.fft.dct(x.astype(np.float32).ravel().astype(float)))


class InputsOfScipyUsersTest(ArrayCase):
    def test_any_length_by_as_many_ranks_as_can(self):
        for length, ranks, sharing, real in ((1002, 4, 3, False), (1002, 4, 3, True), (26, 8, 2, False), (101, 3, 3, True),
                                             (999, 3, 3, True)):
            samples = noise(length) if real else complex_noise(length)
            with self.subTest(length=length, real=real):
                self.check(self.transform(samples, "--json", "r.json", ranks=ranks), (np.fft.rfft if real else np.fft.fft)(samples))
                report = json.loads(self.path("r.json").read_text())
                self.assertEqual(report["ranks"], sharing)
                why = report["settings"]["engine_because"]
                idle = f"{sharing} of {ranks} ranks share it, as {ranks} do not divide {length} samples"
                self.assertEqual(idle in why, sharing < ranks, why)
        said = self.papfft("transform", self.save("z.npy", complex_noise(1002)), "-o", "out.npy", "--stats", ranks=4).stdout.decode()
        self.assertIn("3 of 4 ranks share it", said)

    def test_ranks_that_have_nothing_to_do_end_as_the_others(self):
        self.save("z.npy", complex_noise(1002))
        result = run(command_line(("transform", "z.npy", "-o", "/dev/full"), 4), cwd=self.folder)
        self.assertEqual((result.returncode, len(complaints(result.stderr))), (73, 1), result.stderr.decode())

    def test_fortran_order_and_half_precision(self):
        z = complex_noise(6, 10)
        for ranks in (None, 2):
            self.check(self.transform(np.asfortranarray(z), ranks=ranks), scipy.fft.fft(z))
        cube = complex_noise(3, 4, 5)
        self.check(self.transform(np.asfortranarray(cube), "--axes", "all"), scipy.fft.fftn(cube))
        self.check(self.transform(np.asfortranarray(cube), "--axes", "all", "--engine", "slices", ranks=2), scipy.fft.fftn(cube))
        contents = self.save("in.npy", np.asfortranarray(z)).read_bytes()
        self.check(self.output("transform", "-", input=contents), scipy.fft.fft(z))
        half = np.array([0, -0.0, 1, -2.5, 65504, 6e-8, -6.1e-5, 1e-3, 0.1, 3.14159], dtype=np.float16)
        for given in (half, half.astype(">f2")):
            self.check(self.transform(given), scipy.fft.rfft(half.astype(float)))

    def test_rows_that_are_cut_or_padded_are_a_stream_too(self):
        rows = complex_noise(50, 40)
        for length in (24, 100):
            for ranks, engine in ((None, "auto"), *([(2, "stream")] if length == 100 else [])):
                self.check(self.transform(rows, "--length", length, "--engine", engine, "--resume", ranks=ranks),
                           scipy.fft.fft(rows, length))

    def test_the_inverse_reads_what_was_written(self):
        rows, x = complex_noise(5, 32), noise(4, 33)
        for ranks in (None, 2):
            self.check(self.transform(self.transform(rows), "--inverse", ranks=ranks), rows)
        self.check(self.transform(self.transform(x), "--inverse", "--real", "--length", 33), x)

    def test_channels_of_a_sound(self):
        frames = (noise(5000, 2) * 3000).astype(np.int16)
        scipy.io.wavfile.write(self.path("two.wav"), 8000, frames)
        scaled = frames / 32768
        for ranks in (None, 2):
            self.check(self.output("transform", "two.wav", "--each-channel", ranks=ranks), scipy.fft.rfft(scaled.T))
            self.check(self.output("transform", "two.wav", "--iq", ranks=ranks), scipy.fft.fft(scaled[:, 0] + 1j * scaled[:, 1]))
        self.papfft("transform", "two.wav", "--each-channel", "--dct", 2, "-o", "out.npy")
        self.check(np.load(self.path("out.npy")), scipy.fft.dct(scaled.T))
        self.save("x.npy", noise(8))
        for flag in ("--iq", "--each-channel"):
            self.assertIn("for sounds", self.refused(64, "x.npy", flag, "-o", "o.npy"))
        scipy.io.wavfile.write(self.path("three.wav"), 8000, np.zeros((10, 3), np.int16))
        self.assertIn("I and Q are two", self.refused(65, "three.wav", "--iq", "-o", "o.npy"))

    def test_the_input_is_replaced_on_purpose_alone(self):
        z = complex_noise(32)
        self.save("z.npy", z)
        for name in ("z.npy", "./z.npy"):
            self.assertIn("--force", self.refused(64, "z.npy", "-o", name))
        self.check(np.load(self.path("z.npy")), z)
        self.papfft("transform", "z.npy", "--force", "-o", "z.npy")
        self.check(np.load(self.path("z.npy")), np.fft.fft(z))
