# SPDX-License-Identifier: MIT
"""No output replaces a file that the command reads, under whatever name, unless the user says --force."""

import os
import unittest

import numpy as np
from support import ProgramTest, command_line, complaints, run

DELAYS = "iteration,rank,delay_ns\n0,0,0\n0,1,1000\n"
PLATFORM = """<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="1us"/><route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>
"""


class InputsKeptTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.save("x.npy", np.arange(64.0))
        self.save("h.npy", np.ones(8))

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def refused(self, name, *arguments, ranks=None, force=True):
        """One line, which names the output; nothing has changed."""
        before = self.contents()
        with self.subTest(arguments):
            result = run(command_line(arguments, ranks), cwd=self.folder)
            said = complaints(result.stderr)
            self.assertEqual((result.returncode, len(said)), (64, 1), result.stderr.decode())
            self.assertIn(f"cannot write {name}: it is an input", said[0])
            self.assertEqual("--force" in said[0], force)
            self.assertEqual(self.contents(), before)

    def test_of_jobs(self):
        os.symlink("x.npy", self.path("link.npy"))
        os.link(self.path("x.npy"), self.path("other.npy"))
        for name in ("x.npy", "./x.npy", "link.npy", "other.npy"):
            self.refused(name, "transform", "x.npy", "-o", name)
            self.refused(name, "transform", "x.npy", "-o", "o.npy", "--json", name)
        self.refused("x.npy", "transform", "x.npy", "-o", "o.npy", "--timeline", "x.npy")
        self.refused("x.npy", "transform", "x.npy", "-o", "o.npy", "--record", "x.npy", ranks=2)
        self.refused("x.npy", "psd", "x.npy", "-o", "x.npy")
        for command in ("convolve", "correlate"):
            self.refused("h.npy", command, "x.npy", "h.npy", "-o", "h.npy")
            self.refused("h.npy", command, "x.npy", "h.npy", "-o", "o.npy", "--json", "h.npy")
        self.path("delays.csv").write_text(DELAYS)
        self.refused("delays.csv", "transform", "x.npy", "-o", "o.npy", "--delay", "trace:delays.csv", "--record", "delays.csv", ranks=2)

    def test_of_several_files(self):
        self.path("s.sigmf-meta").write_text('{"global": {"core:datatype": "rf64_le"}, "captures": [], "annotations": []}')
        self.path("s.sigmf-data").write_bytes(np.arange(64.0).tobytes())
        self.refused("s.sigmf-data", "transform", "s.sigmf-meta", "-o", "o.npy", "--json", "s.sigmf-data")
        self.refused("s.sigmf-meta", "transform", "s.sigmf-data", "-o", "o.npy", "--json", "s.sigmf-meta")
        self.papfft("transform", "x.npy", "--full", "-o", "d.npy", "--leave-distributed", ranks=2)
        self.refused("d.index.json", "transform", "d.index.json", "--inverse", "-o", "d.npy", "--leave-distributed", ranks=2)
        self.refused("d.rank1.npy", "transform", "d.index.json", "--inverse", "-o", "d.rank1.npy")
        self.refused("d.rank1.npy", "transform", "d.rank1.npy", "-o", "d.npy", "--leave-distributed", ranks=2)
        self.refused("d.rank1.npy", "transform", "d.rank1.npy", "-o", "d.npy", "--parts", ranks=2)

    def test_of_other_commands(self):
        self.path("p.xml").write_text(PLATFORM)
        self.refused("p.xml", "simulate", "--op", "bcast", "--ranks", "2", "--platform", "p.xml", "--json", "p.xml", force=False)
        self.papfft("simulate", "--op", "bcast", "--algorithms", "bnom", "--ranks", "2", "--json", "s.json")
        self.refused("s.json", "report", "s.json", "-o", "s.json", force=False)

    def test_force(self):
        self.papfft("convolve", "x.npy", "h.npy", "-o", "h.npy", "--force")
        np.testing.assert_allclose(np.load(self.path("h.npy")), np.convolve(np.arange(64.0), np.ones(8)), atol=1e-9)
        self.papfft("transform", "x.npy", "--full", "-o", "d.npy", "--leave-distributed", ranks=2)
        self.papfft("transform", "d.index.json", "--inverse", "-o", "d.npy", "--leave-distributed", "--force", ranks=2)
        self.papfft("transform", "d.index.json", "--full", "-o", "y.npy")
        np.testing.assert_allclose(np.load(self.path("y.npy")), np.fft.fft(np.arange(64.0)), atol=1e-9)

    def test_a_link_to_what_is_not_there_yet_is_followed(self):
        os.symlink("later.npy", self.path("link.npy"))
        os.symlink("link.npy", self.path("far.npy"))
        self.papfft("transform", "x.npy", "-o", "far.npy")
        self.assertTrue(self.path("far.npy").is_symlink() and self.path("link.npy").is_symlink())
        self.assertEqual(np.load(self.path("later.npy")).shape, (33,))
        os.symlink("round.npy", self.path("round.npy"))
        result = run(command_line(("transform", "x.npy", "-o", "round.npy")), cwd=self.folder)
        self.assertEqual((result.returncode, len(complaints(result.stderr))), (73, 1), result.stderr)


if __name__ == "__main__":
    unittest.main()
