#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/unit/fft/scipy_golden.inc: what scipy makes of small inputs (Debian: python3-scipy).

The input is a formula that the test evaluates too, in integers, so that only results need to be stored.
Run from the top of the source tree; the output is the same in every run.
"""
import sys

import numpy as np
import scipy
import scipy.signal

CASES = [  # samples, nperseg, noverlap, window, alpha, rate, scaling, detrend, mode, complex input
    (200, 32, 4, "tukey", 0.25, 1.0, "density", "constant", "psd", False),
    (150, 30, 10, "hann", 0.0, 360.0, "spectrum", "constant", "psd", False),
    (100, 25, 12, "hamming", 0.0, 44100.0, "density", "none", "psd", False),
    (100, 16, 8, "blackman", 0.0, 8.0, "density", "constant", "magnitude", False),
    (64, 9, 0, "boxcar", 0.0, 2.0, "spectrum", "none", "magnitude", False),
    (120, 24, 6, "tukey", 0.5, 1e6, "density", "constant", "psd", True),
    (90, 15, 5, "hann", 0.0, 3.0, "spectrum", "none", "magnitude", True),
]
WINDOWS = [("boxcar", 0.0), ("hann", 0.0), ("hamming", 0.0), ("blackman", 0.0), ("tukey", 0.25), ("tukey", 0.6),
           ("tukey", 0.0), ("tukey", 1.0)]
WINDOW_LENGTHS = [1, 2, 7, 16]


def noise(n, seed):
    """Values in [-1, 1) of a linear congruential generator; 0.5 is added so that there is a mean to remove."""
    state, out = seed, []
    for _ in range(n):
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(state / 2**31 - 1 + 0.5)
    return np.array(out)


def name(window, alpha):
    return (window, alpha) if window == "tukey" else window


def numbers(values):
    return "{" + ", ".join(repr(float(v)) for v in values) + "}"


def main():
    out = open("tests/unit/fft/scipy_golden.inc", "w") if len(sys.argv) < 2 else open(sys.argv[1], "w")
    out.write("// SPDX-License-Identifier: MIT\n// clang-format off\n")
    out.write(f"// Made by scripts/make_scipy_golden.py with scipy {scipy.__version__}.\n")
    out.write("const std::vector<GoldenWindow> kGoldenWindows = {\n")
    for window, alpha in WINDOWS:
        for n in WINDOW_LENGTHS:
            values = scipy.signal.get_window(name(window, alpha), n)
            out.write(f'  {{"{window}", {alpha!r}, {numbers(values)}}},\n')
    out.write("};\nconst std::vector<GoldenSpectrogram> kGoldenSpectrograms = {\n")
    for samples, nperseg, noverlap, window, alpha, rate, scaling, detrend, mode, is_complex in CASES:
        x = noise(samples, 1)
        if is_complex:
            x = x + 1j * noise(samples, 2)
        f, t, s = scipy.signal.spectrogram(
            x, fs=rate, window=name(window, alpha), nperseg=nperseg, noverlap=noverlap, scaling=scaling,
            detrend="constant" if detrend == "constant" else False, mode=mode, return_onesided=not is_complex)
        out.write(f'  {{{samples}, {{{rate!r}, Window::{window}, {alpha!r}, {nperseg}, {noverlap}, Scaling::{scaling}, '
                  f"Detrend::{detrend}, SpectrogramMode::{mode}}}, {str(is_complex).lower()},\n"
                  f"   {numbers(f)},\n   {numbers(t)},\n   {numbers(s.T.ravel())}}},\n")
    out.write("};\n// clang-format on\n")
    out.close()


if __name__ == "__main__":
    main()
