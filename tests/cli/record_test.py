# SPDX-License-Identifier: MIT
"""papfft record and --record: arrivals as they were, and --delay trace:FILE that replays them."""

import csv
import json

from support import RECORDING, REPOSITORY, ProgramTest, command_line, complaints, np, run

HEADING = ("call", "rank", "operation", "algorithm", "root", "bytes", "compute_ns", "arrival_ns", "predicted_ns", "exit_ns")


def rows_of(path):
    lines = path.read_text().splitlines()
    assert lines[0] == "# papfft arrivals 1"
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert lines[-1] == f"# end: {len(rows)} rows" and (not rows or tuple(rows[0]) == HEADING)
    return [{key: value if key in ("operation", "algorithm") else None if value == "" else int(value)
             for key, value in row.items()} for row in rows]


class RecordTest(ProgramTest):
    def batch(self, rows=4, length=510):
        return self.save("z.npy", np.random.default_rng(7).standard_normal((rows, length)) + 0j)

    def record(self, *job, ranks=3):
        self.papfft(*job, "-o", "out.npy", "--record", "t.csv", ranks=ranks)
        return rows_of(self.path("t.csv"))

    def test_late_ranks_are_seen_and_replayed(self):
        job = ("transform", self.batch(), "--engine", "dif", "--gather", "bsls")
        plain = self.output(*job, ranks=3)
        rows = self.record(*job, "--delay", "late:2:150ms")
        np.testing.assert_array_equal(np.load(self.path("out.npy")), plain)
        self.assertEqual(len(rows), 3 * 8)
        for gather in range(1, 8, 2):
            calls = [row for row in rows if row["call"] == gather]
            self.assertEqual([(row["rank"], row["operation"], row["algorithm"]) for row in calls],
                             [(r, "gather", "sls") for r in range(3)])
            self.assertEqual(max(calls, key=lambda row: row["arrival_ns"])["rank"], 2)
            self.assertGreaterEqual(calls[2]["compute_ns"], 150_000_000)
            self.assertTrue(all(row["exit_ns"] >= row["arrival_ns"] for row in calls))
        # Rank 2's delay is in the trace, and so is late again when that is replayed without a word about rank 2.
        self.papfft(*job, "-o", "out.npy", "--delay", "trace:t.csv", "--record", "again.csv", ranks=3)
        for row in rows_of(self.path("again.csv")):
            if row["operation"] == "gather" and row["rank"] == 2:
                self.assertGreaterEqual(row["compute_ns"], 75_000_000)

    def test_the_json_form_is_replayed_as_the_text_is(self):
        said = self.papfft("record", "-o", "t.json", "transform", self.batch(), "-o", "out.npy", "--engine", "dif", "--scatter",
                           "mpi", "--gather", "mpi", "--record", "t.csv", ranks=2).stdout.decode()
        self.assertRegex(said, r"gather +mpi ")  # MPI's own calls are calls, too
        rows = rows_of(self.path("t.csv"))
        self.assertEqual({row["algorithm"] for row in rows}, {"mpi"})
        self.assertEqual(len(rows), 2 * 8)
        self.papfft("simulate", "--algorithms", "bnom", "--ranks", 2, "--iterations", 4, "--arrivals", "trace:t.json,trace:t.csv",
                    "--json", "s.json")
        by_json, by_text = json.loads(self.path("s.json").read_text())["rows"]
        self.assertEqual(by_json["run_ns"], by_text["run_ns"])
        self.papfft("transform", "z.npy", "-o", "out.npy", "--delay", "trace:t.json", ranks=2)
        document = json.loads(self.path("t.json").read_text())

        def refused(change):
            broken = json.loads(json.dumps(document))
            change(broken["calls"][3])
            self.path("bad.json").write_text(json.dumps(broken))
            return self.refused(65, "transform", "z.npy", "-o", "x.npy", "--delay", "trace:bad.json")

        self.assertIn("call 3 has a 'exit_ns'", refused(lambda call: call["exit_ns"].__setitem__(0, -1)))
        self.assertIn("no whole JSON", refused(lambda call: call["exit_ns"].__setitem__(0, float("nan"))))
        self.assertIn("call 3 has not one 'arrival_ns' per rank", refused(lambda call: call["arrival_ns"].pop()))
        self.path("bad.json").write_text(self.path("t.json").read_text()[:-20])
        self.assertIn("no whole JSON", self.refused(65, "transform", "z.npy", "-o", "x.npy", "--delay", "trace:bad.json"))
        self.assertIn("recorded on 2 ranks; there are 3",
                      self.refused(64, "transform", "z.npy", "-o", "x.npy", "--delay", "trace:t.json", ranks=3))

    def test_every_job_as_a_word_before_it(self):
        taps = self.save("taps.npy", np.ones(9))
        for job, operations in ((("spectrogram", RECORDING), {"scatter", "gather"}),
                                (("psd", RECORDING, "--frames-at-once", 200), {"scatter", "reduce"}),
                                (("correlate", RECORDING), {"scatter", "reduce"}),
                                (("convolve", RECORDING, taps), {"scatter", "gather"})):
            with self.subTest(job[0]):
                said = self.papfft("record", "-o", "t.csv", "-o", "t.json", "--", *job, "-o", "out.npy", ranks=2).stdout.decode()
                rows = rows_of(self.path("t.csv"))
                self.assertEqual({row["operation"] for row in rows}, operations)
                document = json.loads(self.path("t.json").read_text())
                self.assertEqual((document["ranks"], document["arrivals"], document["dropped_calls"]), (2, 1, 0))
                self.assertEqual([call["arrival_ns"][1] for call in document["calls"]],
                                 [row["arrival_ns"] for row in rows if row["rank"] == 1])
                self.assertEqual([call["predicted_ns"][0] for call in document["calls"]],
                                 [row["predicted_ns"] for row in rows if row["rank"] == 0])
                self.assertIn(f"{len(rows) // 2} calls of 2 ranks", said)
                for operation in operations:
                    self.assertIn(operation, said)

    def test_benchmarks_and_the_simulator_take_a_trace(self):
        self.record("transform", self.batch(), "--engine", "dif", "--delay", "late:1:30ms")
        self.papfft("bench", "collective", "--op", "gather", "--algorithms", "ls", "--bytes", "64K", "--iterations", 3,
                    "--delay", "trace:t.csv", "--compute", "1ms", "--json", "b.json", "--raw", "raw.csv", ranks=2)
        row = json.loads(self.path("b.json").read_text())["rows"][0]
        self.assertEqual(row["pattern"], "trace:t.csv")
        self.assertGreater(row["max_delay_ms"], 15)
        self.papfft("simulate", "--algorithms", "bnom", "--ranks", 3, "--arrivals", "trace:t.csv", "--json", "s.json", "--alpha",
                    "1ns", "--beta", 0, "--gamma", 0, "--quiet")
        first = [r["arrival_ns"] for r in rows_of(self.path("t.csv")) if r["call"] == 1]
        simulated = json.loads(self.path("s.json").read_text())["rows"][0]["run_ns"]["mean"]
        self.assertAlmostEqual(simulated, max(first) - min(first), delta=10)

    def test_overlapping_vectors_and_the_benchmark_of_engines(self):
        # So long that each travels by itself.
        rows = self.record("transform", self.batch(rows=6, length=32768), "--engine", "stream", "--delay", "late:1:20ms", ranks=2)
        gathers = [row for row in rows if row["operation"] == "gather"]
        self.assertEqual(len(gathers), 12)
        self.assertTrue(all(row["compute_ns"] >= 20_000_000 for row in gathers if row["rank"] == 1))
        said = self.papfft("record", "-o", "t.csv", "bench", "fft", "--engines", "dif,stream", "--gathers", "ls,bsls", "--length",
                           65536, "--vectors", 3, "--quiet", ranks=2).stdout.decode()
        # Three vectors by each engine, and one before to warm up.
        self.assertRegex(said, r"gather +ls +256K +8 ")
        self.assertRegex(said, r"gather +sls +256K +8 ")

    def test_the_traces_in_data(self):
        files = sorted((REPOSITORY / "data" / "arrivals").glob("*.csv"))
        self.assertEqual(len(files), 2)
        for file in files:
            ranks = 1 + max(row["rank"] for row in rows_of(file))
            self.assertIn(file.name, (REPOSITORY / "data" / "README.md").read_text())
            self.papfft("simulate", "--ranks", ranks, "--algorithms", "bnom", "--arrivals", f"trace:{file}", "--iterations", 30)

    def refused(self, code, *arguments, ranks=None):
        result = run(command_line(arguments, ranks), cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        said, = complaints(result.stderr)
        return said

    def test_bad_traces(self):
        self.record("transform", self.batch(), "--engine", "dif", ranks=2)
        good = self.path("t.csv").read_text()
        job = ("transform", "z.npy", "-o", "x.npy", "--delay", "trace:bad.csv")
        for content, said in ((good[:len(good) // 2], "trace"), (good.replace(",0,", ",nan,", 1), "line"),
                              (good.replace("arrivals 1", "arrivals 9"), "version 9"),
                              (good.replace("compute_ns,", ""), "heading"), ("", "empty"), ("0,0,-5\n", "line 1"),
                              ("0,0,1e9\n", "line 1"), ("0" * 10000, "too long"), ("\x00\x1b[31m\n", "line 1")):
            with self.subTest(content[:40]):
                self.path("bad.csv").write_text(content)
                self.assertIn(said, self.refused(65, *job))
        self.assertIn("bad.csv", self.refused(65, *job, ranks=2))
        self.assertIn("too long", self.refused(65, "simulate", "--arrivals", "trace:/dev/zero"))
        self.assertIn("cannot read", self.refused(65, "bench", "collective", "--delay", "trace:gone.csv", ranks=2))
        self.assertIn("recorded on 2 ranks; there are 3",
                      self.refused(64, "transform", "z.npy", "-o", "x.npy", "--delay", "trace:t.csv", ranks=3))
        self.assertNotIn("x.npy", self.files())

    def test_mistakes(self):
        self.batch()
        self.assertIn("mpirun", self.refused(64, "transform", "z.npy", "-o", "x.npy", "--record", "t.csv"))
        self.assertIn("cannot write", self.refused(73, "transform", "z.npy", "-o", "x.npy", "--record", "no/t.csv", ranks=2))
        self.assertIn("'simulate' is no job", self.refused(64, "record", "-o", "t.csv", "simulate"))
        self.assertIn("'bench collective' is no job", self.refused(64, "record", "-o", "t.csv", "bench", "collective"))
        self.assertIn("which job? known: transform, ", self.refused(64, "record", "-o", "t.csv"))
        self.assertIn("--output", self.refused(64, "record", "transform", "z.npy", "-o", "x.npy"))
        self.assertIn("--gather", self.refused(64, "record", "-o", "t.csv", "transform", "z.npy", "-o", "x.npy", "--gather"))
        self.assertEqual(self.files(), ["z.npy"])
