# SPDX-License-Identifier: MIT
"""What input from somebody who means harm may do: nothing but end the job with one plain line (docs/explanation/security.md)."""

import json
import os
import resource
import unittest

import numpy as np
from support import PROGRAM, ProgramTest, run

ESCAPES = b"a\x1b[31m\x9b31m\xc2\x9b31m\x07\rb\nc"


class HostileTest(ProgramTest):
    def refused(self, code, *arguments, memory_bytes=None, **options):
        """One printable line on stderr, and no output file. Returns the line."""
        limit = None
        if memory_bytes is not None:
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        before = self.files()
        result = run([os.fsencode(PROGRAM), *map(os.fsencode, arguments)], cwd=self.folder, preexec_fn=limit, **options)
        said = result.stderr.decode()  # which must be UTF-8
        self.assertEqual(result.returncode, code, said)
        self.assertRegex(said, r"\Apapfft: [^\n]*\n\Z")
        self.assertFalse([c for c in said[:-1] if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0], repr(said))
        self.assertEqual(self.files(), before)
        return said

    def write(self, name, content):
        path = self.path(name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def test_metadata_choose_no_file_outside_of_their_folder(self):
        self.path("in").mkdir()
        np.save(self.path("secret.npy"), np.ones(4))
        self.write("secret.bin", bytes(32))
        for name in ("../secret.npy", str(self.path("secret.npy")), "./../secret.npy", "", "in.index.json"):
            with self.subTest(index=name):
                self.write("in/in.index.json", json.dumps({
                    "rows": 1, "length": 4, "sample_rate_hz": 0, "element": "float64", "layout": "", "files": [name]}))
                self.assertIn("same folder", self.refused(65, "transform", "in/in.index.json", "-o", "out.npy"))
        for name in ("../secret.bin", str(self.path("secret.bin")), "..", ""):
            with self.subTest(sigmf=name):
                self.write("in/in.sigmf-meta", json.dumps({
                    "global": {"core:datatype": "rf64_le", "core:dataset": name}, "captures": [], "annotations": []}))
                self.refused(65, "transform", "in/in.sigmf-meta", "-o", "out.npy")

    def test_no_terminal_escape_and_no_second_line_is_printed(self):
        for code, *command in ((65, "transform", ESCAPES, "-o", "out.npy"),  # no such file
                               (64, "transform", "x.npy", ESCAPES, "y", "-o", "out.npy"),
                               (64, ESCAPES), (64, "transform", b"--" + ESCAPES),
                               (64, "bench", "collective", "--op", ESCAPES),
                               (65, "report", ESCAPES, "-o", "out.html")):
            with self.subTest(command=command):
                self.refused(code, *command)
        self.write("bad.npy", b"\x93NUMPY\x01\x00\x76\x00" + (b"{'descr': '\x1b]0;title\x07', 'fortran_order': False, 'shape': (4,), }"
                                                              .ljust(117) + b"\n"))
        self.refused(65, "transform", "bad.npy", "-o", "out.npy")
        # A note about a job that succeeds.
        os.mkdir(os.fsencode(self.folder) + b"/" + ESCAPES)
        name = ESCAPES + b"/rows.npy"
        np.save(open(os.fsencode(self.folder) + b"/" + name, "wb"), np.ones((2, 4)))
        result = run([PROGRAM, "transform", name, "--batch", "--length", "4", "-o", "out.npy"], cwd=self.folder)
        self.assertFalse([c for c in result.stderr.decode() if ord(c) < 0x20 and c != "\n" or 0x7f <= ord(c) < 0xa0])

    def test_headers_get_no_more_memory_than_there_are_samples(self):
        claims = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**55},), }}".encode()
        header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + claims.ljust(117) + b"\n"
        wav = (b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\xf0\xff\xff\xff" + bytes(8))
        for name, content in (("big.npy", header + bytes(8)), ("pipe", header + bytes(8)), ("deep.json", b"[" * 10**6)):
            with self.subTest(name=name):
                path = self.write(name, content)
                options = {"stdin": open(path, "rb")} if name == "pipe" else {}
                command = ["report", path, "-o", "out.html"] if name == "deep.json" else \
                    ["transform", "-" if name == "pipe" else path, "-o", "out.npy"]
                self.refused(65, *command, memory_bytes=2**31, **options)
        # What is there of a recording that claims 4 GiB is taken, or refused; it never needs the memory.
        path = self.write("long.wav", wav)
        result = run([PROGRAM, "transform", path, "-o", "out.npy"], cwd=self.folder,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)))
        self.assertIn(result.returncode, (0, 65), result.stderr.decode())

    def test_no_link_is_followed_where_a_name_can_be_guessed(self):
        victim = self.write("victim", "precious")
        np.save(self.path("in.npy"), np.ones((4, 8)))
        for make in (lambda name: os.symlink("victim", name), lambda name: os.symlink("nowhere", name), os.mkfifo):
            make(self.path("out.npy.partial"))
            said = self.refused(73, "transform", "in.npy", "-o", "out.npy", "--resume")
            self.assertIn("out.npy.partial", said)
            self.path("out.npy.partial").unlink()
            self.assertFalse(self.path("nowhere").exists())
        self.assertEqual(victim.read_text(), "precious")


if __name__ == "__main__":
    unittest.main()
