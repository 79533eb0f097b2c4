#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/unit/io/golden/*.npy with numpy itself: make_numpy_golden.py [FOLDER]

Sample k of each array is 3k - 4 (signed integers), 3k (unsigned), 0.5k - 1 (floating) or (0.5k - 1) + 0.25k i (complex).
Needs python3-numpy (1.24 wrote the committed files).
"""
import pathlib
import sys

import numpy as np
from numpy.lib import format as npy

COUNT = 6


def samples(dtype):
    k = np.arange(COUNT)
    kind = np.dtype(dtype).kind
    values = {"i": 3 * k - 4, "u": 3 * k, "f": 0.5 * k - 1, "c": (0.5 * k - 1) + 0.25j * k}[kind]
    return values.astype(dtype)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "tests/unit/io/golden"
    folder.mkdir(parents=True, exist_ok=True)
    for code in ("f4", "f8", "c8", "c16", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        for order, name in (("<", "le"), (">", "be")):
            if code[1:] != "1" or order == "<":
                np.save(folder / f"{code}_{name}.npy", samples(order + code))
    np.save(folder / "rows_f8.npy", samples("<f8").reshape(2, 3))
    np.save(folder / "rows_c8.npy", samples("<c8").reshape(3, 2))
    np.save(folder / "one_row_f4.npy", samples("<f4").reshape(1, COUNT))
    np.save(folder / "fortran_one_column_f8.npy", np.asfortranarray(samples("<f8").reshape(COUNT, 1)))
    np.save(folder / "fortran_rows_f8.npy", np.asfortranarray(samples("<f8").reshape(2, 3)))
    np.save(folder / "cube_f8.npy", samples("<f8").reshape(1, 2, 3))
    np.save(folder / "text.npy", np.array(["a", "b"]))
    np.save(folder / "records.npy", np.zeros(2, dtype=[("a", "<f8"), ("b", "<i4")]))
    np.save(folder / "none_f8.npy", np.zeros(0))
    np.save(folder / "scalar_f8.npy", np.float64(1))
    for version in ((2, 0), (3, 0)):
        with open(folder / f"version{version[0]}_c16.npy", "wb") as file:
            npy.write_array(file, samples("<c16"), version=version)


if __name__ == "__main__":
    main()
