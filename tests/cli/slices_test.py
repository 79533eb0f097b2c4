# SPDX-License-Identifier: MIT
"""papfft transform by slices: each rank reads its part of the input and writes its part of the result."""

import json
import pathlib

from support import ProgramTest, command_line, complaints, np, relative_l2, run

SLICES = ("--engine", "slices")


def noise(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


def complex_noise(*shape, seed=2):
    return noise(*shape, seed=seed) + 1j * noise(*shape, seed=seed + 100)


def owners(layout, length, ranks):
    """By the words of an index: which file has each element of a row."""
    k = np.arange(length)
    if "where it is odd" in layout:
        return np.where(k // ranks % 2 == 0, k % ranks, -k % ranks)
    return (k // 2 if "k / 2" in layout else k) % ranks


class SlicesCase(ProgramTest):
    def read_index(self, name):
        """What the ranks have left, put together by the words of the index alone."""
        index = json.loads(self.path(name).read_text())
        parts = [np.load(self.path(file)) for file in index["files"]]
        if "part" in index:
            self.assertTrue(all(part.shape[-1] <= index["part"] for part in parts[:-1]))
            return np.concatenate(parts, axis=-1)
        whole = np.empty((*parts[0].shape[:-1], index["length"]), dtype=index["element"])
        owner = owners(index["layout"], index["length"], index["ranks"])
        for r, part in enumerate(parts):
            whole[..., owner == r] = part
        return whole

    def check(self, actual, expected, tolerance=1e-15):
        self.assertEqual(actual.shape, expected.shape)
        self.assertLessEqual(relative_l2(actual, expected), tolerance)

    def refused(self, code, *arguments, ranks=3, **options):
        """The one line that it says; nothing may be left behind."""
        before = self.files()
        result = run(command_line(("transform", *arguments), ranks), cwd=self.folder, **options)
        said = complaints(result.stderr)
        self.assertEqual((result.returncode, len(said)), (code, 1), result.stderr.decode())
        self.assertEqual(self.files(), before)
        return said[0]


class SlicesAgreeWithNumpyTest(SlicesCase):
    def test_complex_vectors_by_every_number_of_ranks(self):
        for ranks in range(1, 9):
            for length in (ranks * ranks * 32, ranks * 7):  # equal slices, and unequal ones
                with self.subTest(ranks=ranks, length=length):
                    z = complex_noise(length)
                    file = self.save("z.npy", z)
                    self.check(self.output("transform", file, *SLICES, ranks=ranks), np.fft.fft(z))
                    self.check(self.output("transform", file, *SLICES, "--inverse", ranks=ranks), np.fft.ifft(z))

    def test_real_vectors_by_every_number_of_ranks(self):
        lengths = [(ranks, 2 * ranks * 7) for ranks in range(1, 9)]
        for ranks, length in (*lengths, (4, 1 << 15), (3, 27)):  # the last one goes as complex samples
            with self.subTest(ranks=ranks, length=length):
                x = noise(length)
                half = np.fft.rfft(x)
                self.check(self.output("transform", self.save("x.npy", x), *SLICES, ranks=ranks), half)
                back = ("--inverse", "--real", "--length", length)
                self.check(self.output("transform", self.save("half.npy", half), *SLICES, *back, ranks=ranks), x)
        x = noise(3, 120)
        for more, expected in (((), np.fft.rfft(x)), (("--norm", "ortho"), np.fft.rfft(x, norm="ortho")),
                               (("--length", 96), np.fft.rfft(x, 96)), (("--length", 144), np.fft.rfft(x, 144))):
            with self.subTest(options=more):
                self.check(self.output("transform", self.save("x.npy", x), *SLICES, *more, ranks=4), expected)

    def test_real_samples_send_half_of_the_bytes_on_both_ways(self):
        x = noise(4096)
        back = (np.fft.rfft(x), "--inverse", "--real")
        for keep in ((), ("--parts",), ("--leave-distributed",)):
            sent = []
            for samples, *more in ((complex_noise(4096),), (x,), back):
                self.papfft("transform", self.save("in.npy", samples), *SLICES, *more, *keep, "-o", "out.npy", "--json", "r.json", ranks=4)
                report = json.loads(self.path("r.json").read_text())
                sent.append(report["bytes_out"] + report["bytes_back"])
            self.assertEqual(sent, [sent[0], sent[0] / 2, sent[0] / 2], keep)

    def test_real_samples_come_back_from_what_ranks_have_left(self):
        """Folded by some ranks, read by others; rows, too."""
        x = noise(3, 240)
        self.papfft("transform", self.save("x.npy", x), *SLICES, "--leave-distributed", "-o", "half.npy", ranks=4)
        for ranks, more, expected in ((2, (), x), (5, ("--norm", "forward"), np.fft.irfft(np.fft.rfft(x), norm="forward")),
                                      (3, ("--length", 180), np.fft.irfft(np.fft.rfft(x), 180))):
            with self.subTest(ranks=ranks, options=more):
                back = ("transform", "half.index.json", "--inverse", "--real", *SLICES, *more)
                self.check(self.output(*back, ranks=ranks), expected)
                for keep in ("--leave-distributed", "--parts"):
                    self.papfft(*back, keep, "-o", "left.npy", ranks=ranks)
                    self.check(self.read_index("left.index.json"), expected)

    def test_alone_without_mpirun(self):
        z = complex_noise(1000)
        self.check(self.output("transform", self.save("z.npy", z), "--read", "parallel"), np.fft.fft(z))

    def test_kinds_of_samples(self):
        z, x = complex_noise(720), noise(720)
        half, odd = np.fft.rfft(x), np.fft.rfft(noise(729))
        for samples, more, expected in ((x, (), half), (x, ("--full",), np.fft.fft(x)), (half, ("--inverse", "--real"), x),
                                        (z, ("--length", 540), np.fft.fft(z, 540)), (z, ("--length", 900), np.fft.fft(z, 900)),
                                        (odd, ("--inverse", "--real", "--length", 729), np.fft.irfft(odd, 729)),
                                        (half, ("--inverse", "--real", "--length", 540), np.fft.irfft(half, 540)),
                                        (half, ("--inverse", "--real", "--length", 900), np.fft.irfft(half, 900)),
                                        (complex_noise(4, 90), (), np.fft.fft(complex_noise(4, 90))),
                                        (z, ("--batch", "--length", 90), np.fft.fft(z.reshape(8, 90))),
                                        (noise(2, 90), ("--length", 60), np.fft.rfft(noise(2, 90), 60))):
            with self.subTest(options=more, shape=samples.shape):
                self.check(self.output("transform", self.save("in.npy", samples), *SLICES, *more, ranks=3), expected)

    def test_float(self):
        z = complex_noise(4096).astype(np.complex64)
        spectrum = self.output("transform", self.save("z.npy", z), *SLICES, "--precision", "float", ranks=4)
        self.assertEqual(spectrum.dtype, np.complex64)
        self.check(spectrum, np.fft.fft(z), 6e-7)

    def test_the_bits_are_those_of_a_vector_shared_from_the_root(self):
        for samples, more in ((complex_noise(5 * 1000), ()), (noise(5 * 1000), ()), (complex_noise(2501), ("--inverse", "--real"))):
            file = self.save("in.npy", samples)
            by_slices, by_root = (self.output("transform", file, "--engine", e, *more, ranks=5).tobytes() for e in ("slices", "dif"))
            self.assertEqual(by_slices, by_root)

    def test_formats(self):
        z = complex_noise(240).astype(np.complex64)
        z.tofile(self.path("z.cf32"))
        z.tofile(self.path("z.sigmf-data"))
        self.path("z.sigmf-meta").write_text(json.dumps(
            {"global": {"core:datatype": "cf32_le", "core:version": "1.0.0", "core:sample_rate": 8000}, "captures": [{"core:sample_start": 0}]}))
        for given in (("z.cf32", "--format", "cf32_le"), ("z.sigmf-meta",)):
            self.papfft("transform", *given, *SLICES, "-o", "out.npy", "-o", "out.raw", ranks=4)
            self.check(np.load(self.path("out.npy")), np.fft.fft(z))
            self.check(np.fromfile(self.path("out.raw"), np.complex128), np.fft.fft(z))

    def test_several_chunks_overlap(self):
        z = complex_noise(4 * 163840)  # 2.5 MiB a rank: chunks of 1 MiB
        self.check(self.output("transform", self.save("z.npy", z), *SLICES, ranks=4), np.fft.fft(z))

    def test_report(self):
        z = self.save("z.npy", complex_noise(960))
        said = self.papfft("transform", z, *SLICES, "-o", "out.npy", "--stats", "--json", "r.json", ranks=4).stdout.decode()
        self.assertIn("slices (as asked), kernel", said)
        report = json.loads(self.path("r.json").read_text())
        self.assertEqual(report["settings"]["engine"], "slices")
        self.assertTrue(all(seconds >= 0 for seconds in report["phases_s"].values()), report["phases_s"])


class SlicesLeftWithTheRanksTest(SlicesCase):
    def test_files_and_reading_them_back(self):
        z, x, rows = complex_noise(360), noise(360), complex_noise(3, 120)
        half = complex_noise(181)  # the imaginary parts at its ends are ignored
        for ranks in (1, 3, 8):
            for samples, more, expected in ((z, (), np.fft.fft(z)), (x, (), np.fft.rfft(x)), (rows, (), np.fft.fft(rows)),
                                            (half, ("--inverse", "--real"), np.fft.irfft(half))):
                with self.subTest(ranks=ranks, options=more, shape=samples.shape):
                    self.save("in.npy", samples)
                    self.papfft("transform", "in.npy", "--leave-distributed", *SLICES, *more, "-o", "left.npy", ranks=ranks)
                    self.check(self.read_index("left.index.json"), expected)
                    layout = json.loads(self.path("left.index.json").read_text())["layout"]
                    splits = 360 % (2 * ranks) == 0  # else real samples go as complex ones
                    self.assertEqual("where it is odd" in layout, splits and samples is x)
                    self.assertEqual("files[k / 2 % ranks]" in layout, splits and samples is half)
        # Back, by others than those who wrote it; once read by rank 0, once by all.
        self.save("in.npy", z)
        self.papfft("transform", "in.npy", "--leave-distributed", *SLICES, "-o", "left.npy", ranks=8)
        for read in ("root", "parallel"):
            self.check(self.output("transform", "left.index.json", "--inverse", "--read", read, ranks=3), z)
        self.save("in.npy", x)
        self.papfft("transform", "in.npy", "--leave-distributed", *SLICES, "-o", "half.npy", ranks=3)
        self.check(self.output("transform", "half.index.json", "--inverse", "--real", "--read", "parallel", ranks=2), x)
        self.save("in.npy", z)
        self.papfft("transform", "in.npy", "--leave-distributed", *SLICES, "-o", "left.raw", ranks=4)
        self.check(self.output("transform", "left.index.json", "--inverse"), z)

    def test_real_samples_there_and_back(self):
        """Each time by other numbers of ranks; rows, too."""
        x = noise(2, 480)
        for precision, tolerance in (("float", 1.2e-6), ("double", 2e-15)):
            for keeps, ranks in ((("--leave-distributed", "--leave-distributed"), (4, 3)), (("--parts", "--leave-distributed"), (3, 5)),
                                 (("--leave-distributed", "--parts"), (5, 8)), (("--parts", "--parts"), (8, 1))):
                with self.subTest(precision=precision, keeps=keeps):
                    how = (*SLICES, "--precision", precision)
                    self.papfft("transform", self.save("x.npy", x), *how, keeps[0], "-o", "half.npy", ranks=ranks[0])
                    self.papfft("transform", "half.index.json", "--inverse", "--real", *how, keeps[1], "-o", "back.npy", ranks=ranks[1])
                    back = self.read_index("back.index.json")
                    self.assertEqual(back.dtype, np.float32 if precision == "float" else np.float64)
                    self.check(back, x, tolerance)
                    self.check(self.output("transform", "back.index.json", *how, ranks=2), np.fft.rfft(back), tolerance)

    def test_what_is_not_finite_is_counted_once(self):
        half = np.fft.rfft(noise(48))
        half[[0, 5, 24]] = np.nan
        for keep in ("--leave-distributed", "--parts"):
            words = ("transform", self.save("half.npy", half), "--inverse", "--real", *SLICES, keep, "-o", "x.npy")
            self.assertIn("note: 3 of the samples", complaints(run(command_line(words, 4), cwd=self.folder).stderr)[0])

    def test_shares_that_do_not_fit_their_index(self):
        self.papfft("transform", self.save("x.npy", noise(240)), *SLICES, "--leave-distributed", "-o", "half.npy", ranks=4)
        part = self.path("half.rank2.npy")
        good = part.read_bytes()
        for spoil in (part.unlink, lambda: part.write_bytes(good[:-16]), lambda: part.write_bytes(good[:40]), lambda: part.write_bytes(b""),
                      lambda: np.save(part, complex_noise(31)), lambda: np.save(part, complex_noise(2, 15)[:, :14]), lambda: np.save(part, noise(30))):
            spoil()
            for keep in ("--leave-distributed", "--parts"):
                said = self.refused(65, "half.index.json", "--inverse", "--real", *SLICES, keep, "-o", "out.npy")
                self.assertIn("half.rank2.npy", said)
            part.write_bytes(good)
        self.assertEqual(self.output("transform", "half.index.json", "--inverse", "--real", *SLICES, ranks=3).shape, (240,))

    def test_contiguous_parts(self):
        z, x, rows = complex_noise(360), noise(360), noise(3, 120)
        for ranks in (1, 3, 8):
            for samples, more, expected in ((z, (), np.fft.fft(z)), (x, (), np.fft.rfft(x)), (rows, (), np.fft.rfft(rows)),
                                            (noise(ranks * 2), (), None), (np.fft.rfft(x), ("--inverse", "--real"), x)):
                with self.subTest(ranks=ranks, options=more, shape=samples.shape):
                    expected = np.fft.rfft(samples) if expected is None else expected
                    self.papfft("transform", self.save("in.npy", samples), "--parts", *more, "-o", "out.npy", ranks=ranks)
                    self.check(self.read_index("out.index.json"), expected)
                    self.check(self.output("transform", "out.index.json", *(() if more else ("--inverse",)),
                                           *(() if samples is z or more else ("--real",)), "--read", "parallel", ranks=2),
                               np.fft.rfft(x) if more else samples)

    def test_parts_need_no_folder_that_all_see(self):
        z = complex_noise(64)
        for rank in range(2):
            self.path(f"of-{rank}").mkdir()
            np.save(self.path(f"of-{rank}/z.npy"), z)
        where = ["sh", "-c", 'cd of-$OMPI_COMM_WORLD_RANK && exec "$@"', "sh"]
        words = command_line(("transform", "z.npy", "--parts", "-o", "out.npy"), 2)
        words[-6:-6] = where
        result = run(words, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        parts = [np.load(self.path(f"of-{rank}/out.rank{rank}.npy")) for rank in range(2)]
        self.check(np.concatenate(parts), np.fft.fft(z))
        self.assertEqual([f for f in self.files() if "out" in f], ["of-0/out.index.json", "of-0/out.rank0.npy", "of-1/out.rank1.npy"])

    def test_an_index_that_is_none(self):
        for text in ("{}", "no", json.dumps({"rows": 1, "length": 4, "element": "complex128", "sample_rate_hz": 0, "ranks": 1,
                                             "layout": "", "files": ["gone.npy"]})):
            self.path("bad.index.json").write_text(text)
            self.refused(65, "bad.index.json", "-o", "out.npy", ranks=None)


class SlicesRefusalsTest(SlicesCase):
    def test_what_cannot_be_done(self):
        self.save("z.npy", complex_noise(100))
        self.save("seven.npy", complex_noise(7))
        for arguments, what in ((("z.npy", *SLICES, "-o", "y.npy"), "3 ranks cannot share a vector of 100 samples"),
                                (("z.npy", *SLICES, "-o", "y.csv"), ".npy and raw files"),
                                (("z.npy", *SLICES, "-o", "-"), ".npy and raw files"),
                                (("z.npy", *SLICES, "--read", "root", "-o", "y.npy"), "--read parallel"),
                                (("z.npy", "--engine", "farm", "--read", "parallel", "-o", "y.npy"), "engine slices"),
                                (("z.npy", *SLICES, "--resume", "-o", "y.npy"), "the same without --engine slices"),
                                (("z.npy", *SLICES, "--everywhere", "-o", "y.npy"), "the same without --engine slices"),
                                (("z.npy", "--read", "parallel", "--everywhere", "-o", "y.npy"), "work: --read root"),
                                (("z.npy", "--engine", "farm", "--everywhere", "-o", "y.npy"), "work: --engine dif"),
                                (("z.npy", "--engine", "farm", "--parts", "-o", "y.npy"), "work: --engine slices"),
                                (("seven.npy", "--parts", "-o", "y.npy"), "work: one rank"),
                                (("z.npy", "--parts", "--leave-distributed", "-o", "y.npy"), "--leave-distributed"),
                                (("z.npy", "--parts", "--engine", "dif", "-o", "y.npy"), "engine slices"),
                                (("z.npy", "--parts", "-o", "y.csv"), ".npy and raw files")):
            with self.subTest(arguments):
                said = self.refused(64, *arguments)
                self.assertIn(what, said)
                self.assertNotIn("--length", said)  # nobody shall change the data first
        with open(self.path("z.npy"), "rb") as pipe:
            said = self.refused(64, "-", *SLICES, "-o", "y.npy", ranks=None, stdin=pipe)
        self.assertIn("the same without --engine slices", said)

    def test_a_rank_that_does_not_see_the_input(self):
        """Each rank runs in a folder of its own; only rank 0's has the file."""
        for rank in range(2):
            self.path(f"of-{rank}").mkdir()
        np.save(self.path("of-0/z.npy"), complex_noise(64))
        words = command_line(("transform", "z.npy", *SLICES, "-o", "out.npy"), 2)
        words[-7:-7] = ["sh", "-c", 'cd of-$OMPI_COMM_WORLD_RANK && exec "$@"', "sh"]
        result = run(words, cwd=self.folder)
        said = complaints(result.stderr)
        self.assertEqual((result.returncode, len(said)), (65, 1), result.stderr.decode())
        self.assertIn("z.npy", said[0])
        self.assertEqual([f for f in self.files() if "out" in f or "tmp" in f], [])
        # Where all have the input, the result goes where rank 0 wants it.
        np.save(self.path("of-1/z.npy"), np.load(self.path("of-0/z.npy")))
        self.assertEqual(run(words, cwd=self.folder).returncode, 0)
        self.check(np.load(self.path("of-0/out.npy")), np.fft.fft(np.load(self.path("of-0/z.npy"))))
        self.assertEqual([f for f in self.files() if "out" in f or "tmp" in f], ["of-0/out.npy"])

    def test_a_disk_that_fills_up_leaves_nothing(self):
        self.save("z.npy", complex_noise(2**21))  # 32 MiB; the MPI library has files of its own, which are shorter
        words = command_line(("transform", "z.npy", *SLICES, "-o", "out.npy"), 2)
        words[-7:-7] = ["bash", "-c", 'ulimit -f 28000; exec "$@"', "bash"]
        result = run(words, cwd=self.folder)
        self.assertEqual((result.returncode, len(complaints(result.stderr))), (73, 1), result.stderr.decode())
        self.assertEqual(self.files(), ["z.npy"])

    def test_more_than_any_memory_holds_is_said_before_it_is_read(self):
        length = 2**36
        header = self.path("huge.npy")
        np.lib.format.open_memmap(header, mode="w+", dtype=np.complex64, shape=(1,))
        with open(header, "r+b") as file:
            file.seek(0)
            np.lib.format.write_array_header_1_0(file, {"descr": "<c8", "fortran_order": False, "shape": (length,)})
            file.truncate(file.tell() + 8 * length)
        for ranks, engine in ((None, "auto"), (4, "auto"), (4, "dif"), (4, "slices")):
            with self.subTest(ranks=ranks, engine=engine):
                said = self.refused(70, "huge.npy", "--precision", "float", "--engine", engine, "-o", "out.npy", ranks=ranks)
                self.assertRegex(said, r"needs [0-9.e+]+ GB of memory.*what would work: --engine slices by \d+ ranks")

    def test_address_space_decides_too(self):
        """2^25 complex floats are 268 MB: twice as much is too much for one process here, and not for four."""
        z = np.zeros(2**25, np.complex64)
        z[1] = 1
        self.save("z.npy", z)
        limited = ["bash", "-c", 'ulimit -v "$1"; shift; exec "$@"', "bash"]

        def transform(kib, ranks, *more):
            words = command_line(("transform", "z.npy", "--precision", "float", "--threads", 1, "-o", "out.npy", *more), ranks)
            at = words.index(next(w for w in words if pathlib.Path(w).name == "papfft"))
            return run([*words[:at], *limited, str(kib), *words[at:]], cwd=self.folder)

        alone = transform(500000, None)
        self.assertEqual((alone.returncode, len(complaints(alone.stderr))), (70, 1), alone.stderr.decode())
        self.assertIn("rank 0 needs 537 MB of memory", complaints(alone.stderr)[0])
        shared = transform(900000, 4, "--json", "r.json")  # rank 0 could not hold it, so that auto has all ranks read it
        self.assertEqual(shared.returncode, 0, shared.stderr.decode())
        settings = json.loads(self.path("r.json").read_text())["settings"]
        self.assertEqual(settings["engine"], "slices")
        self.assertIn("rank 0 lacks the ", settings["engine_because"])
        spectrum = np.load(self.path("out.npy"), mmap_mode="r")
        for k in (0, 1, 12345678, 2**24, 2**25 - 1):
            self.assertLessEqual(abs(spectrum[k] - np.exp(-2j * np.pi * k / 2**25)), 1e-6)
