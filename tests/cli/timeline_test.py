# SPDX-License-Identifier: MIT
"""--timeline: that its file is what Perfetto reads, and shows what happened."""

import collections
import json

from support import RECORDING, ProgramTest, command_line, complaints, np, run


class TimelineTest(ProgramTest):
    def timeline(self, *job, ranks, **options):
        self.papfft(*job, "-o", "out.npy", "--timeline", "t.json", ranks=ranks, **options)
        document = json.loads(self.path("t.json").read_text())
        self.assertEqual(document["otherData"]["dropped_events"], 0)
        self.events = document["traceEvents"]
        self.slices = [e for e in self.events if e["ph"] == "X"]
        self.check_format(document)
        self.assertEqual({e["pid"] for e in self.slices}, set(range(ranks or 1)))
        self.assertTrue(all(e["dur"] >= 0 for e in self.slices))
        self.assertEqual(min(e["ts"] for e in self.events if e["ph"] != "M"), 0)
        self.thread_names = {(e["pid"], e["tid"]): e["args"]["name"] for e in self.events if e["name"] == "thread_name"}
        self.check_nesting()

    def check_format(self, document):
        """The rules of the Trace Event Format, for the kinds of events that we write."""
        self.assertEqual(document["displayTimeUnit"], "ms")
        needed = {"X": {"name": str, "cat": str, "ts": (int, float), "dur": (int, float)},
                  "i": {"name": str, "cat": str, "ts": (int, float), "s": str}, "M": {"name": str, "args": dict},
                  "s": {"name": str, "cat": str, "ts": (int, float), "id": int},
                  "f": {"name": str, "cat": str, "ts": (int, float), "id": int, "bp": str}}
        for e in self.events:
            for key, kind in {"pid": int, "tid": int, **needed[e["ph"]]}.items():
                self.assertIsInstance(e[key], kind, e)
                self.assertNotIsInstance(e[key], bool, e)
            self.assertLessEqual(set(e), {"ph", "pid", "tid", "args", *needed[e["ph"]]}, e)
            if e["ph"] != "M":
                self.assertGreaterEqual(e["ts"], 0, e)
                self.assertTrue(e["name"] and e["cat"], e)
        self.assertTrue(all(e["s"] == "t" for e in self.events if e["ph"] == "i"))
        # Each process and each thread with a slice has a name, and one alone.
        names = collections.Counter((e["name"], e["pid"], e["tid"]) for e in self.events if e["ph"] == "M")
        self.assertEqual({key[0] for key in names},
                         {"process_name", "process_sort_index", "thread_name", "thread_sort_index"})
        self.assertEqual(set(names.values()), {1})
        for e in self.slices:
            self.assertIn(("process_name", e["pid"], 0), names)
            self.assertIn(("thread_name", e["pid"], e["tid"]), names)
        self.check_flows()

    def check_flows(self):
        """An arrow has one start and one end, in this order, each within a slice of its thread: from a send to a receive."""
        starts = {e["id"]: e for e in self.events if e["ph"] == "s"}
        ends = {e["id"]: e for e in self.events if e["ph"] == "f"}
        self.assertEqual(starts.keys(), ends.keys())
        self.assertEqual(len(starts) + len(ends), sum(e["ph"] in "sf" for e in self.events))
        messages = collections.defaultdict(list)
        for e in self.slices:
            if "peer" in e.get("args", {}):
                messages[e["pid"], e["tid"]].append(e)
        self.arrows = []
        for number, start in starts.items():
            end = ends[number]
            self.assertEqual(end["bp"], "e")
            self.assertLessEqual(start["ts"], end["ts"])
            around = []
            for e, word in ((start, "to"), (end, "from")):
                at = round(e["ts"] * 1000)
                within = [s for s in messages[e["pid"], e["tid"]]
                          if round(s["ts"] * 1000) <= at <= round(s["ts"] * 1000) + round(s["dur"] * 1000) and s["name"].startswith(word)]
                self.assertTrue(within, e)
                around.append(within)
            pairs = [(a, b) for a in around[0] for b in around[1]
                     if a["args"]["peer"] == b["pid"] and b["args"]["peer"] == a["pid"] and a["args"]["bytes"] == b["args"]["bytes"]]
            self.assertTrue(pairs, (start, end))
            self.arrows.append(pairs[0])

    def check_nesting(self):
        """Of two slices of a thread one contains the other, or they do not touch. In whole ns, as they were recorded."""
        threads = collections.defaultdict(list)
        for e in self.slices:
            begin = round(e["ts"] * 1000)
            threads[e["pid"], e["tid"]].append((begin, begin + round(e["dur"] * 1000), e["name"]))
            self.assertIn((e["pid"], e["tid"]), self.thread_names)
        for thread, slices in threads.items():
            open_until = []
            for begin, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
                while open_until and open_until[-1] <= begin:
                    open_until.pop()
                self.assertTrue(not open_until or end <= open_until[-1], (thread, name))
                open_until.append(end)

    def named(self, name, **where):
        return [e for e in self.slices if e["name"] == name and all(e[key] == value for key, value in where.items())]

    def batch(self, rows=3, length=510):
        return self.save("z.npy", np.random.default_rng(7).standard_normal((rows, length)) + 0j)

    def test_a_late_rank_and_who_waits_for_it(self):
        self.timeline("transform", self.batch(), "--engine", "dif", "--scatter", "lin", "--gather", "lin", "--delay",
                      "late:2:80ms", ranks=3)
        for phase, ranks in (("split", [0]), ("assemble", [0]), ("write", [0]), ("scatter", [0, 1, 2]),
                             ("compute", [0, 1, 2]), ("gather", [0, 1, 2])):
            self.assertEqual(sorted({e["pid"] for e in self.named(phase)}), ranks, phase)
        self.assertEqual(len(self.named("compute", pid=2)), 3)
        self.assertTrue(all(e["dur"] >= 80_000 for e in self.named("compute", pid=2)))
        self.assertEqual(len([e for e in self.events if e["ph"] == "i" and e["name"] == "edge"]), 9)
        self.assertEqual(len(self.named("gather lin")), 9)
        late = [e for e in self.named("Late Sender", pid=0) if e["args"]["for_rank"] == 2]
        self.assertEqual(len(late), 3)  # the root of each gather waits for rank 2, most of its delay
        self.assertTrue(all(e["dur"] > 40_000 for e in late))
        self.assertEqual(self.named("Wait at N x N"), [])
        # Blocks of 170 numbers of 16 bytes to and from two ranks, three times.
        sent = [e for e in self.slices if e["cat"] == "message" and e["args"]["bytes"] == 2720 and e["name"].startswith("to ")]
        self.assertEqual(collections.Counter(e["name"] for e in sent), {"to 0": 6, "to 1": 3, "to 2": 3})
        # No arrow where the clocks of two busy ranks put a message's end before its begin.
        self.assertIn(sum(send["args"]["bytes"] == 2720 for send, _ in self.arrows), range(6, 13))

    def test_what_runs_in_the_background(self):
        self.timeline("transform", self.batch(rows=4, length=2048), "--engine", "dif", "--gather", "bsls", "--delay",
                      "late:0:60ms", ranks=2)
        early = self.named("gather sls, before its caller", pid=0)
        self.assertTrue(early)  # the root computes, and its thread has begun the gather
        self.assertTrue(any(e["cat"] == "background" and e["args"]["early"] for e in self.slices if e["name"] == "from 1"))
        self.assertIn("background", {name for (rank, _), name in self.thread_names.items() if rank == 0})

    def test_vectors_that_overlap(self):
        # So long that each travels by itself.
        self.timeline("transform", self.batch(rows=6, length=32768), "--engine", "stream", ranks=2)
        under_way = [e for e in self.slices if self.thread_names[e["pid"], e["tid"]].startswith("calls gone on with")]
        self.assertEqual(len([e for e in under_way if e["name"].startswith("gather")]), 12)

    def test_every_job(self):
        taps = self.save("taps.npy", np.ones(9))
        for job, phases in ((("spectrogram", RECORDING), {"read", "split", "scatter", "compute", "gather", "write"}),
                            (("psd", RECORDING), {"read", "scatter", "compute", "reduce", "write"}),
                            (("correlate", RECORDING), {"read", "scatter", "compute", "reduce", "write"}),
                            (("convolve", RECORDING, taps), {"read", "filter", "split", "scatter", "compute", "gather", "write"})):
            with self.subTest(job[0]):
                self.timeline(*job, ranks=2)
                self.assertLessEqual(phases, {e["name"] for e in self.slices if e["pid"] == 0})

    def test_farms_and_mpis_own_calls(self):
        # So long that each vector is a task of its own.
        self.timeline("transform", self.batch(rows=9, length=16384), "--engine", "farm", "--delay", "late:2:10ms", ranks=3)
        # Who gets how many is found out while it runs.
        self.assertEqual(len(self.named("compute")), 9)
        self.assertTrue(all(e["dur"] >= 10_000 for e in self.named("compute", pid=2)))
        for rank in (1, 2):
            self.assertTrue(self.named("wait", pid=rank))
        self.timeline("spectrogram", "-", "--format", "rf32_le", "--nperseg", 64, ranks=2,
                      input=np.ones(50000, np.float32).tobytes())
        self.assertTrue(self.named("compute"))
        self.assertTrue(self.named("wait", pid=1))
        self.timeline("transform", self.batch(), "--engine", "dif", "--scatter", "mpi", "--gather", "mpi", ranks=2)
        self.assertEqual(len(self.named("scatter mpi")) + len(self.named("gather mpi")), 12)

    def test_one_process_alone(self):
        for samples, phases in ((self.batch(), {"compute", "write"}),  # read by a thread of its own meanwhile
                                (self.save("x.npy", np.ones(510)), {"read", "compute", "write"})):
            self.timeline("transform", samples, ranks=None)
            self.assertEqual({e["name"] for e in self.slices}, phases)

    def test_cannot_be_written(self):
        result = run(command_line(("transform", self.batch(), "-o", "x.npy", "--timeline", "no/t.json")), cwd=self.folder)
        self.assertEqual(result.returncode, 73)
        self.assertEqual(len(complaints(result.stderr)), 1)
        self.assertEqual(self.files(), ["z.npy"])
