# SPDX-License-Identifier: MIT
"""What jobs do with inputs that do not fit into memory (ulimit -v): the same numbers in pieces, or one line before any reading."""

import pathlib
import re

from support import ProgramTest, command_line, complaints, np, run

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

    def limit_kib(self, *arguments, ranks=None):
        """With so much, a job has ROOM_MB for its data. @param arguments  of one that says what is there, because it needs more"""
        generous_kib = 3_000_000
        said = self.told(self.limited(generous_kib, *arguments, ranks=ranks))
        there = re.search(r"and ([0-9.e+]+) (MB|GB) is there", said)
        there_mb = float(there[1]) * (1000 if there[2] == "GB" else 1)
        return generous_kib - round((there_mb - ROOM_MB) * 1e6 / 1024)

    def sparse(self, name, length):
        """Zeros that take no room on the disk."""
        np.lib.format.open_memmap(self.path(name), mode="w+", dtype=np.float64, shape=(length,))
        return name

    def test_convolve_goes_in_pieces(self):
        """2^22 samples are 34 MB, and so are the results: too much together."""
        self.save("x.npy", np.random.default_rng(1).standard_normal((2, 2**21)))
        self.save("h.npy", np.random.default_rng(2).standard_normal(300))
        self.sparse("huge.npy", 2**32)
        for ranks, mode in ((None, "full"), (2, "same")):
            with self.subTest(ranks=ranks, mode=mode):
                kib = self.limit_kib("convolve", "huge.npy", "h.npy", "-o", "y.csv", ranks=ranks)
                words = ("convolve", "x.npy", "h.npy", "--mode", mode, "--threads", 1, "--nfft", 4096)
                self.papfft(*words, "-o", "whole.npy", ranks=ranks)
                pieces = self.limited(kib, *words, "-o", "pieces.npy", "-o", "pieces.raw", ranks=ranks)
                self.assertEqual(pieces.returncode, 0, pieces.stderr.decode())
                self.assertEqual(self.path("pieces.npy").read_bytes(), self.path("whole.npy").read_bytes())
                self.assertEqual(self.path("pieces.raw").read_bytes(), np.load(self.path("whole.npy")).tobytes())
                said = self.told(self.limited(kib, *words, "-o", "y.csv", ranks=ranks))
                self.assertRegex(said, r"x.npy: rank 0 needs [0-9.]+ MB of memory, and [0-9.]+ MB is there; what would work: -o result.npy")
                self.assertFalse(self.path("y.csv").exists())

    def test_spectrogram_goes_in_pieces(self):
        self.save("x.npy", np.random.default_rng(3).standard_normal(2**21))
        self.sparse("huge.npy", 2**32)
        kib = self.limit_kib("spectrogram", "huge.npy", "-o", "y.csv")
        words = ("spectrogram", "x.npy", "--nperseg", 256, "--threads", 1)
        self.papfft(*words, "-o", "whole.npy")
        pieces = self.limited(kib, *words, "-o", "pieces.npy")
        self.assertEqual(pieces.returncode, 0, pieces.stderr.decode())
        self.assertEqual(self.path("pieces.npy").read_bytes(), self.path("whole.npy").read_bytes())
        self.assertIn("-o frames.npy", self.told(self.limited(kib, *words, "-o", "y.csv")))

    def test_psd_and_correlate_take_any_length(self):
        """They add up as they read."""
        self.save("x.npy", np.random.default_rng(4).standard_normal((2, 2**22)))  # 67 MB
        self.save("h.npy", np.ones(3))
        self.sparse("huge.npy", 2**32)
        kib = self.limit_kib("convolve", "huge.npy", "h.npy", "-o", "y.csv")
        for command in ("psd", "correlate"):
            words = (command, "x.npy", "--nperseg", 1024, "--threads", 1)
            self.papfft(*words, "-o", "whole.npy")
            pieces = self.limited(kib, *words, "-o", "pieces.npy")
            self.assertEqual(pieces.returncode, 0, pieces.stderr.decode())
            self.assertEqual(self.path("pieces.npy").read_bytes(), self.path("whole.npy").read_bytes())
