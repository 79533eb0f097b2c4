# SPDX-License-Identifier: MIT
"""What jobs do with inputs that do not fit into memory (ulimit -v): the same numbers in pieces, or one line before any reading."""

import json
import pathlib
import re

from support import ProgramTest, command_line, complaints, np, relative_l2, run

ROOM_MB = 48  # what a process may take beyond what it has when it looks


class MemoryTest(ProgramTest):
    def limited(self, kib, *arguments, ranks=None):
        """Each rank with so much address space."""
        words = command_line(arguments, ranks)
        at = words.index(next(w for w in words if pathlib.Path(w).name == "papfft"))
        limit = ["bash", "-c", 'ulimit -v "$1"; shift; exec "$@"', "bash", str(kib)]
        return run([*words[:at], *limit, *words[at:]], cwd=self.folder)

    def told(self, result):
        """Its one line, and nothing is left behind."""
        said = complaints(result.stderr)
        self.assertEqual((result.returncode, len(said)), (70, 1), result.stderr.decode())
        return said[0]

    def limit_kib(self, *arguments, ranks=None, room_mb=ROOM_MB):
        """With so much, a job has room_mb for its data. @param arguments  of one that says what is there, because it needs more"""
        generous_kib = 3_000_000
        said = self.told(self.limited(generous_kib, *arguments, ranks=ranks))
        there = re.search(r"and ([0-9.e+]+) (MB|GB) is there", said)
        there_mb = float(there[1]) * (1000 if there[2] == "GB" else 1)
        return generous_kib - round((there_mb - room_mb) * 1e6 / 1024)

    def sparse(self, name, length):
        """Zeros that take no room on the disk."""
        np.lib.format.open_memmap(self.path(name), mode="w+", dtype=np.float64, shape=(length,))
        return name

    def same_in_pieces(self, kib, *words, ranks=None):
        """With so much address space for each rank, which is less than the input takes, it writes what it writes without a limit."""
        self.papfft(*words, "-o", "whole.npy", ranks=ranks)
        self.assertLess(ROOM_MB * 1e6, self.path("x.npy").stat().st_size)
        pieces = self.limited(kib, *words, "-o", "pieces.npy", "-o", "pieces.raw", ranks=ranks)
        self.assertEqual(pieces.returncode, 0, pieces.stderr.decode())
        self.assertEqual(self.path("pieces.npy").read_bytes(), self.path("whole.npy").read_bytes())
        self.assertEqual(self.path("pieces.raw").read_bytes(), np.load(self.path("whole.npy")).tobytes())

    def test_convolve_goes_in_pieces(self):
        """2^23 samples are 67 MB, and so are the results."""
        self.save("x.npy", np.random.default_rng(1).standard_normal((2, 2**22)))
        self.save("h.npy", np.random.default_rng(2).standard_normal(300))
        self.sparse("huge.npy", 2**32)
        for ranks, mode in ((None, "full"), (2, "same")):
            with self.subTest(ranks=ranks, mode=mode):
                kib = self.limit_kib("convolve", "huge.npy", "h.npy", "-o", "y.csv", ranks=ranks)
                words = ("convolve", "x.npy", "h.npy", "--mode", mode, "--threads", 1, "--nfft", 4096)
                self.same_in_pieces(kib, *words, ranks=ranks)
                said = self.told(self.limited(kib, *words, "-o", "y.csv", ranks=ranks))
                self.assertRegex(said, r"x.npy: rank 0 needs [0-9.]+ MB of memory, and [0-9.]+ MB is there; what would work: -o result.npy")
                self.assertFalse(self.path("y.csv").exists())

    def test_spectrogram_goes_in_pieces(self):
        self.save("x.npy", np.random.default_rng(3).standard_normal(2**23))
        self.sparse("huge.npy", 2**32)
        words = ("spectrogram", "x.npy", "--nperseg", 256, "--threads", 1)
        for ranks in (None, 3):
            with self.subTest(ranks=ranks):
                kib = self.limit_kib("spectrogram", "huge.npy", "-o", "y.csv", ranks=ranks)
                self.same_in_pieces(kib, *words, ranks=ranks)
                self.assertIn("-o frames.npy", self.told(self.limited(kib, *words, "-o", "y.csv", ranks=ranks)))

    def test_psd_and_correlate_take_any_length(self):
        """They add up as they read: the root for all, or each rank its part."""
        self.save("x.npy", np.random.default_rng(4).standard_normal((2, 2**22)))  # 67 MB
        self.save("h.npy", np.ones(3))
        self.sparse("huge.npy", 2**32)
        for ranks, more in ((None, ()), (2, ()), (3, ("--read", "parallel"))):
            kib = self.limit_kib("convolve", "huge.npy", "h.npy", "-o", "y.csv", ranks=ranks)
            for command in ("psd", "correlate"):
                with self.subTest(command, ranks=ranks):
                    self.same_in_pieces(kib, command, "x.npy", "--nperseg", 1024, "--threads", 1, *more, ranks=ranks)

    def test_one_process_takes_slices_for_real_samples(self):
        """2^23 of them are 67 MB. With the bins, roots and work space they are 336 MB, and slice by slice 153 MB at most."""
        x = np.random.default_rng(6).standard_normal(2**23)
        self.save("x.npy", x)
        self.sparse("huge.npy", 2**32)
        kib = self.limit_kib("spectrogram", "huge.npy", "-o", "y.csv", room_mb=175)
        words = ("transform", "x.npy", "--threads", 1, "-o", "y.npy", "--json", "r.json")
        result = self.limited(kib, *words)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(json.loads(self.path("r.json").read_text())["settings"]["engine"], "slices")
        spectrum = np.load(self.path("y.npy"))
        self.assertLessEqual(relative_l2(spectrum, np.fft.rfft(x)), 1e-14)
        self.assertIn("rank 0 needs 336 MB", self.told(self.limited(kib, *words, "--engine", "alone")))

    def test_arrays_that_no_rank_holds(self):
        """2^22 complex samples are 67 MB; a rank of four needs two shares of 17 MB, and some room."""
        z = np.random.default_rng(5).standard_normal((1024, 8192)).view(np.complex128)
        self.save("x.npy", z)
        self.sparse("huge.npy", 2**32)
        kib = self.limit_kib("spectrogram", "huge.npy", "-o", "y.csv", ranks=4, room_mb=60)
        words = ("transform", "x.npy", "--axes", "all", "--threads", 1, "-o", "y.npy")
        result = self.limited(kib, *words, "--engine", "slices", ranks=4)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertLessEqual(relative_l2(np.load(self.path("y.npy")), np.fft.fft2(z)), 1e-14)
        alone = self.limited(self.limit_kib("spectrogram", "huge.npy", "-o", "y.csv"), *words, "--force")
        self.assertRegex(self.told(alone), r"rank 0 needs [0-9.]+ MB of memory.*what would work: --engine slices by 2 ranks")

    def test_short_time_transforms_say_what_they_need(self):
        self.save("x.npy", np.zeros(2**22))
        self.sparse("huge.npy", 2**36)
        for ranks in (None, 2):
            said = self.told(self.limited(3_000_000, "stft", "huge.npy", "-o", "y.npy", ranks=ranks))
            self.assertRegex(said, r"huge.npy: rank 0 needs [0-9.e+]+ GB of memory, and [0-9.]+ GB is there; what would work: --precision float")
        self.papfft("stft", "x.npy", "-o", "s.npy")
        kib = self.limit_kib("stft", "huge.npy", "-o", "y.npy")
        self.assertIn("s.npy: rank 0 needs", self.told(self.limited(kib, "istft", "s.npy", "-o", "y.npy")))
