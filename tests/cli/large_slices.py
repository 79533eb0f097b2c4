# SPDX-License-Identifier: MIT
"""papfft transform of 2^29 complex floats (4.3 GB) by 8 ranks of at most 1.6 GB of address space each.

Checked by Parseval's identity, by 1024 bins that are computed from the definition in long double, and by the way back. Takes minutes, 13 GB
of disk and 10 GB of memory; PAPFFT_LARGE_LOG2 makes it smaller, PAPFFT_LARGE_FOLDER says where its files are.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import command_line, np, relative_l2

LOG2 = int(os.environ.get("PAPFFT_LARGE_LOG2", "29"))
LENGTH = 2**LOG2
SIDE = 1024  # samples are looked at as matrices of SIDE x SIDE, and so many bins are checked
PIECE = SIDE * SIDE
RANKS = 8
LIMIT_KIB = int(1.6e9 / 1024 * max(0.5, LENGTH / 2**29))


def roots(numerators):
    """exp(-2 pi i k / LENGTH) in long double; the angles are reduced in integers."""
    angle = 2 * np.longdouble("3.14159265358979323846264338327950288") / LENGTH
    angles = (numerators % LENGTH).astype(np.longdouble) * angle
    return np.cos(angles) - 1j * np.sin(angles)


def available_bytes():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


class LargeSlicesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="papfft-large-", dir=os.environ.get("PAPFFT_LARGE_FOLDER")))
        self.addCleanup(shutil.rmtree, self.folder)
        disk = 25 * LENGTH + 2**30
        memory = 20 * LENGTH + 2**30
        if shutil.disk_usage(self.folder).free < disk or available_bytes() < memory:
            self.skipTest(f"needs {disk / 1e9:.3g} GB of disk and {memory / 1e9:.3g} GB of memory")

    def pieces(self, name):
        """The samples of a file, piece by piece."""
        with open(self.folder / name, "rb") as file:
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            self.assertEqual((shape, dtype), ((LENGTH,), np.dtype(np.complex64)))
            for _ in range(LENGTH // PIECE):
                yield np.fromfile(file, np.complex64, PIECE)

    def make_noise(self):
        random = np.random.default_rng(29)
        with open(self.folder / "x.npy", "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<c8", "fortran_order": False, "shape": (LENGTH,)})
            for _ in range(LENGTH // PIECE):
                random.standard_normal(2 * PIECE, dtype=np.float32).tofile(file)

    def transform(self, *arguments):
        words = command_line(("transform", *arguments, "--engine", "slices", "--precision", "float", "--threads", 1), RANKS)
        at = words.index(next(w for w in words if pathlib.Path(w).name == "papfft"))
        words[at:at] = ["bash", "-c", 'ulimit -v "$1"; shift; exec "$@"', "bash", str(LIMIT_KIB)]
        result = subprocess.run(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, result.stderr.decode())

    @staticmethod
    def power(piece):
        return float(np.sum(np.square(piece.view(np.float32), dtype=np.float64)))

    def fold(self, first_bin):
        """The bins first_bin + j LENGTH/SIDE, from the definition: with n = m + SIDE l, w^(n k) is w^(n first_bin) times a factor that
        depends on m and j alone. Also the power of the samples."""
        rows = roots(first_bin * SIDE * np.arange(SIDE))
        sums = np.zeros(SIDE, np.clongdouble)
        power = 0.0
        for number, piece in enumerate(self.pieces("x.npy")):
            power += self.power(piece)
            sums += roots(np.array([first_bin * PIECE * number]))[0] * (rows @ piece.reshape(SIDE, SIDE).astype(np.clongdouble))
        sums *= roots(first_bin * np.arange(SIDE))
        j, m = np.arange(SIDE)[:, None], np.arange(SIDE)[None, :]
        return roots((j * m % SIDE) * (LENGTH // SIDE)) @ sums, power

    def test_forward_and_back(self):
        first_bin = 123457 % (LENGTH // SIDE)
        self.make_noise()
        self.transform("x.npy", "-o", "y.npy")
        expected, power = self.fold(first_bin)
        spectrum = np.load(self.folder / "y.npy", mmap_mode="r")
        error = relative_l2(spectrum[first_bin::LENGTH // SIDE].astype(np.clongdouble), expected)
        self.assertLessEqual(error, 1e-6)
        of_spectrum = sum(self.power(piece) for piece in self.pieces("y.npy")) / LENGTH
        self.assertLessEqual(abs(of_spectrum / power - 1), 1e-6)
        self.transform("y.npy", "--inverse", "-o", "back.npy")
        difference = sum(self.power(x - back) for x, back in zip(self.pieces("x.npy"), self.pieces("back.npy")))
        self.assertLessEqual(np.sqrt(difference / power), 1e-6)
        print(f"2^{LOG2}: error of {SIDE} bins {float(error):.2g}, of the power {abs(of_spectrum / power - 1):.2g}, "
              f"of the way back {np.sqrt(difference / power):.2g}")
