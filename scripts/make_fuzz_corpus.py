#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the fuzzers' first inputs, tests/fuzz/corpus/TARGET/*: make_fuzz_corpus.py [FOLDER]

Small files of every supported kind. Needs python3-numpy and libsndfile1 (called directly, as the encoder of the sounds).
Inputs that once made the library fail are kept beside them by hand, as crash-*.
"""
import ctypes
import io
import json
import pathlib
import struct
import sys

import numpy as np
from numpy.lib import format as npy


def npy_inputs():
    ramp = np.arange(6)
    for code in ("<f4", ">f8", "<c8", ">c16", "|i1", "|u1", "<i2", ">i4", "<i8", ">u2"):
        yield code.strip("<>|") + ("_be" if code[0] == ">" else "_le"), saved(ramp.astype(code))
    yield "rows", saved(ramp.astype("<f8").reshape(2, 3))
    yield "fortran", saved(np.asfortranarray(ramp.astype("<f8").reshape(2, 3)))
    yield "version2", saved(ramp.astype("<f4"), (2, 0))
    yield "version3", saved(ramp.astype("<f4"), (3, 0))
    yield "text", saved(np.array(["a", "b"]))
    yield "records", saved(np.zeros(2, dtype=[("a", "<f8")]))
    yield "truncated", saved(ramp.astype("<c16"))[:-7]
    yield "overflow", saved(ramp.astype("<f8").reshape(2, 3)).replace(b"(2, 3)", b"(4294967296, 4294967297)")
    yield "python2", saved(ramp.astype("<f8")).replace(b"(6,)", b"(6L,)")


def saved(array, version=None):
    file = io.BytesIO()
    npy.write_array(file, array, version=version)
    return file.getvalue()


def trace_inputs():
    heading = "call,rank,operation,algorithm,root,bytes,compute_ns,arrival_ns,predicted_ns,exit_ns\n"
    rows = ("0,0,scatter,sln,0,800,0,0,,90\n", "0,1,scatter,sln,0,800,0,7,-5,95\n",
            "1,0,gather,bsls,0,800,30,140,139,150\n", "1,1,gather,bsls,0,800,1,100,180,100\n")

    def recording(rows=rows, version=1, heading=heading, end=None):
        count = len(rows) if end is None else end
        return f"# papfft arrivals {version}\n# a remark\n{heading}{''.join(rows)}# end: {count} rows\n".encode()

    yield "recording", recording()
    yield "shuffled", recording(rows[::-1])
    yield "no_calls", recording(())
    yield "dropped", recording().replace(b"# a remark", b"# dropped calls: 7")
    yield "version", recording(version=2)
    yield "heading", recording(heading=heading[5:])
    yield "twice", recording((*rows, rows[0]))
    yield "hole", recording(rows[1:])
    yield "count", recording(end=9)
    yield "cut_off", recording()[:-30]
    yield "large", recording([rows[0].replace("800", str(1 << 60)).replace(",90", ",864000000000000")])
    yield "delays", b"# by hand\niteration,rank,delay_ns\r\n1,0,30\n0,1,20\n\n0,0,10\n1,1,40\n"
    yield "far", b"0,0,0\n1000000000,1000000000,864000000000000\n"


def decision_inputs():
    heading = "papfft-decisions 1\n"
    group = heading + "library Open MPI v4.1.4\nranks 8\nhosts 8\ncrowded yes\n# operation, bytes, ways\n"
    inputs = {
        "auto": heading + "bcast 5 auto\n",
        "binary": heading + "library \x01\x7f\nbcast 5 ch\x00ain\n",
        "by_hand": heading + "\n# by hand\ngather 100 lin mpi=1\n",
        "carriage_returns": group.replace("\n", "\r\n"),
        "crowded": heading + "crowded perhaps\n",
        "empty_table": group,
        "huge_size": heading + "bcast 18446744073709551615 chain=5.5 mpi=6\nbcast 18446744073709551616 chain=5\n",
        "huge_time": heading + "bcast 5 chain=1e300 bnom=inf\n",
        "largest_size": heading + "bcast 18446744073709551615 chain=5.5 mpi=6\nbcast 0 chain=5\n",
        "nan": heading + "bcast 5 chain=nan\n",
        "negative": heading + "bcast -5 chain=-1\n",
        "no_newline": heading + "scatter 1 sln",
        "no_ways": heading + "bcast 5\n",
        "tiny_time": heading + "bcast 5 chain=0.01\n",
        "twice": heading + "bcast 64 chain=3 chain=2\nbcast 64 mpi:3/64K=9 mpi=9\nbcast 64 chain@hosts=9\n",
        "typical": group + "bcast 65536 mpi:2/64K=512.3 mpi=800.1 circulant=900.2\n"
                   "bcast 1048576 circulant/24=9801.5 mpi:3/64K=9910.2 mpi=62170.0\n"
                   "reduce 65536 mpi=700.0 papbi=912.1\n",
        "unknown_algorithm": heading + "bcast 5 nonsense=1\n",
        "version2": "papfft-decisions 2\n",
        "zero_ranks": heading + "ranks 0\n",
    }
    return [(name, text.encode()) for name, text in inputs.items()]


def sigmf_inputs():
    metadata = {"global": {"core:datatype": "cf32_le", "core:sample_rate": 1e6, "core:version": "1.0.0"},
                "captures": [{"core:sample_start": 0, "core:frequency": 100e6}],
                "annotations": [{"core:sample_start": 3, "core:label": "x"}]}
    yield "plain", json.dumps(metadata).encode()
    for key, value in (("core:num_channels", 2), ("core:dataset", "other.bin"), ("core:dataset", "../x"),
                       ("core:trailing_bytes", 4), ("core:metadata_only", True), ("core:sample_rate", -1),
                       ("core:datatype", "cf16_le"), ("core:datatype", 3)):
        changed = json.loads(json.dumps(metadata))
        changed["global"][key] = value
        yield f"{key[5:]}_{str(value).strip('./').replace('.', '_')}", json.dumps(changed).encode()
    metadata["captures"][0]["core:header_bytes"] = 16
    yield "header_bytes", json.dumps(metadata).encode()
    yield "nested", b"[" * 400
    yield "empty_object", b"{}"


def raw_inputs():
    for name in ("cf32_le", "cf64_be", "rf32_le", "rf64_le", "ci16_le", "ri16_be", "ci8", "ri8", "cu8", "ru8", "cu32_le"):
        yield name, name.encode() + b" out.npy\n" + bytes(range(32))
    yield "odd", b"cf32_le out.csv\n1234567"
    yield "unknown", b"cf16_le out\n"


WAV, AIFF, FLAC, OGG = 0x010000, 0x020000, 0x170000, 0x200000
PCM_16, PCM_24, FLOAT, DOUBLE, ULAW, OPUS = 2, 3, 6, 7, 0x10, 0x64


class SoundInfo(ctypes.Structure):
    _fields_ = [("frames", ctypes.c_int64), ("samplerate", ctypes.c_int), ("channels", ctypes.c_int),
                ("format", ctypes.c_int), ("sections", ctypes.c_int), ("seekable", ctypes.c_int)]


def sound_inputs(folder):
    sndfile = ctypes.CDLL("libsndfile.so.1")
    sndfile.sf_open.restype = ctypes.c_void_p
    for name, kind, channels, frames in (
            ("pcm16.wav", WAV | PCM_16, 2, 64), ("pcm24.wav", WAV | PCM_24, 1, 64), ("float.wav", WAV | FLOAT, 1, 64),
            ("double.wav", WAV | DOUBLE, 3, 16), ("ulaw.wav", WAV | ULAW, 1, 64), ("pcm16.aiff", AIFF | PCM_16, 2, 64),
            ("pcm16.flac", FLAC | PCM_16, 2, 64), ("pcm24.flac", FLAC | PCM_24, 1, 64),
            ("silence.flac", FLAC | PCM_16, 1, 20000), ("opus.ogg", OGG | OPUS, 1, 960)):
        info = SoundInfo(0, 48000, channels, kind, 0, 0)
        path = str(folder / name).encode()
        file = sndfile.sf_open(path, 0x20, ctypes.byref(info))
        assert file, name
        k = np.arange(frames * channels)
        values = (0 * k if "silence" in name else 0.5 * np.sin(0.1 * k)).astype("<f8")
        sndfile.sf_writef_double(ctypes.c_void_p(file), values.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(frames))
        sndfile.sf_close(ctypes.c_void_p(file))
    whole = (folder / "pcm16.wav").read_bytes()
    (folder / "truncated.wav").write_bytes(whole[:-9])
    (folder / "unknown_length.wav").write_bytes(whole[:40] + b"\xff" * 4 + whole[44:])
    (folder / "truncated.flac").write_bytes((folder / "pcm16.flac").read_bytes()[:-9])


def wire_inputs():
    """The first byte is the format; what follows is explained in tests/support/hostile_transport.hpp."""
    def message(data, which=0):
        return bytes([which]) + data

    def numbers(*values):
        return struct.pack(f"<{len(values)}q", *values)

    def report(call, arrival_ns, predicted_ns=-2**63, arrived_ns=0, basis=3):
        return message(struct.pack("<4q2i", call, arrival_ns, predicted_ns, arrived_ns, basis, 0))

    def decision(call, *arrival_ns):
        return message(numbers(call, 0 if arrival_ns else 1, 0, 0, *(arrival_ns or (0, 0, 0))))

    def letter(size, pipe, rest_tag=-1, tag=3, enclosed=0):
        return b"\4" + struct.pack("<Q3i4x", size, tag, pipe, rest_tag) + bytes((enclosed // 16,)) + b"\0"

    nothing, least, most = b"\xff", -2**63, 2**63 - 1
    decider, other, asked, asks, root, worker = b"\0\0", b"\0\1", b"\1\0", b"\1\1", b"\3\0", b"\3\1"
    yield "arrivals_decider", decider + b"".join(2 * report(i, 5000 * i, 100, 200, i % 4) + nothing for i in range(9))
    yield "arrivals_far", decider + b"".join(
        report(i, most, least + 1, most) + report(i, least, most, least) + nothing for i in range(9))
    yield "arrivals_ahead", decider + 2 * report(most, 0) + 2 * nothing + report(-7, 0) + nothing
    yield "arrivals_bye", decider + 2 * report(-1, 0) + 9 * nothing
    yield "arrivals_other", other + b"".join(decision(i, 1, 2, 3) + nothing for i in range(9)) + decision(-1) + nothing
    yield "arrivals_decided_far", other + decision(0, least, most, 0) + nothing + decision(1) + nothing
    yield "arrivals_decided_back", other + decision(5) + nothing + decision(3) + nothing
    yield "clock_asks", asks + b"".join(message(numbers(1000 * i, 40000 * (i // 2))) for i in range(60))
    yield "clock_far", asks + 3 * message(numbers(most, least))
    yield "clock_jumps", asks + b"".join(message(numbers((-1)**i * 2 * 10**18, (-1)**i * 2 * 10**18)) for i in range(60))
    yield "clock_asked", asked + b"".join(message(numbers(i)) for i in (3, 2, 1, 3, 2, 1, -1, 7, -1, -5)) + 5 * nothing
    yield "stuck", b"\2\1" + message(b"rank 0 waits".ljust(240, b"\0")) + message(b"\0") + message(b"rank 2".ljust(240, b"\0"))
    yield "stuck_long", b"\2\3" + b"".join(message(b"x\x1b[31m\n" * 30, 0) + message(b"\1") for _ in range(3))
    yield "farm_worker", worker + b"\0" + 5 * message(bytes(range(12))) + nothing + message(numbers(1)) + 9 * message(numbers(0) + bytes(4), 2)
    yield "farm_worker_words", worker + b"\0" + message(numbers(1), 2) + message(numbers(least), 2) + message(numbers(0), 2) + 3 * nothing
    yield "farm_root", root + b"\7" + 30 * message(bytes(range(20))) + 9 * nothing
    yield "farm_nothing", root + b"\0" + 9 * message(numbers(most))
    yield "pipe", b"\4" + letter(256, 0) + b"\1\x80\0" + letter(256, 1, tag=4) + 2 * b"\6\x40\0"
    yield "pipe_too_full", b"\4" + letter(256, 0) + letter(256, 1, tag=4) + b"\1\xff\6\xff\0\0"
    yield "pipe_left", b"\4" + letter(256, 0) + b"\1\x20\2" + struct.pack("<i", 20000) + b"\0\0" + message(bytes(192))
    yield "pipe_left_torn", b"\4" + letter(256, 0, tag=4) + b"\1\x06\2" + struct.pack("<i", 20000) + b"\0\0" + message(bytes(244))
    yield "pipe_left_badly", b"\4" + letter(256, 2) + b"\x0c" + numbers(-5)[:4] + b"\0\0"
    yield "pipe_unknown", b"\4" + letter(256, 4)
    yield "pipe_follows", b"\4" + letter(256, -1, 20000) + b"\0" + message(bytes(256))
    yield "pipe_follows_badly", b"\4" + letter(256, -9, 3)
    yield "pipe_other_size", b"\4" + letter(2**63, 0)
    yield "letter", b"\4" + letter(256, -2, enclosed=256) + letter(256, -2, tag=4, enclosed=256)
    yield "letter_other_size", b"\4" + letter(240, -2, enclosed=240)
    yield "letter_too_long", b"\4" + letter(2**40, -2, tag=99)
    yield "letters_unasked", b"\4" + 20 * letter(64, -2, tag=99, enclosed=64)
    signature = struct.pack("<3Q6i", 1 << 20, 77, 8, 3, 1, 1, 1, 1, 4)
    yield "signature", b"\5" + signature + b"circulant".ljust(32, b"\0")
    yield "signature_unknown", b"\5" + signature[:24] + numbers(99, 0, 0) + b"\xff" * 32
    yield "signature_endless", b"\5" + signature + b"\n" * 32


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    corpus = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "tests/fuzz/corpus"
    for target, inputs in (("npy", npy_inputs()), ("sigmf", sigmf_inputs()), ("raw", raw_inputs()), ("trace", trace_inputs()),
                           ("decisions", decision_inputs()), ("wire", wire_inputs())):
        (corpus / target).mkdir(parents=True, exist_ok=True)
        for name, content in inputs:
            (corpus / target / name).write_bytes(content)
    (corpus / "sound").mkdir(parents=True, exist_ok=True)
    sound_inputs(corpus / "sound")


if __name__ == "__main__":
    main()
