# SPDX-License-Identifier: MIT
"""papfft bench: what the files hold and that the figures fit together; never how long anything takes."""

import csv
import json
import re

from support import REPOSITORY, ProgramTest, command_line, complaints, np, run

QUICK = ("--iterations", 2, "--warmup", 1, "--compute", "2ms")


class BenchTest(ProgramTest):
    def collective(self, *arguments, ranks=3):
        path = self.path("bench.json")
        self.papfft("bench", "collective", *arguments, *QUICK, "--json", path, ranks=ranks)
        return json.loads(path.read_text())

    def test_every_operation_gives_right_data_and_sensible_figures(self):
        for operation, more in (("gather", "mpi-igather,bsls,bsbn"), ("scatter", "mpi-iscatter,bsln,bsbn"),
                                ("bcast", "auto"), ("reduce", "mpi"), ("allgather", "auto"), ("allgatherv", "auto"),
                                ("allreduce", "auto"), ("reduce_scatter", "auto"), ("alltoall", "circulant"), ("alltoallv", "credit"),
                                ("gatherv", "sls"), ("scatterv", "auto")):
            with self.subTest(operation):
                result = self.collective("--op", operation, "--algorithms", f"all,{more}", "--bytes", "64K",
                                         "--delay", "none,late:1:3ms", "--root", 1)
                self.assertGreater(result["beta_ns_per_byte"], 0)
                self.assertEqual(result["rows"][0]["algorithm"], "mpi")
                self.assertEqual({row["pattern"] for row in result["rows"]}, {"none", "late:1:3ms"})
                for row in result["rows"]:
                    self.assertTrue(row["correct"], row)
                    self.assertEqual(row["bytes"], 65536 if operation in ("bcast", "reduce", "allreduce") else 65532)
                    self.assertLessEqual(row["run_ms"]["min"], row["run_ms"]["median"])
                    self.assertLessEqual(row["run_ms"]["median"], row["run_ms"]["max"])
                    self.assertLessEqual(row["elapsed_ms"]["min"], row["run_ms"]["max"])

    def test_blocks_may_have_any_size(self):
        for operation in ("allgatherv", "reduce_scatter", "alltoallv", "gatherv", "scatterv"):
            for counts in ("irregular", "degenerate"):
                with self.subTest(operation, counts=counts):
                    result = self.collective("--op", operation, "--counts", counts, "--algorithms", "all", "--bytes", "64K",
                                             "--measure-link")
                    self.assertTrue(all(row["correct"] and row["bytes"] == 65536 for row in result["rows"]), result)
                    self.assertEqual(result["settings"]["counts"], counts)

    def test_planning_of_circulant_broadcasts_is_timed_at_any_size(self):
        path = self.path("circulant.json")
        shown = self.papfft("bench", "schedule", "--op", "bcast", "--ranks", "1,2,1152,10000000", "--repetitions", 2, "--json", path)
        self.assertIn("ns per rank", shown.stdout.decode())
        rows = json.loads(path.read_text())["rows"]
        self.assertEqual([(row["ranks"], row["rounds"]) for row in rows], [(1, 0), (2, 1), (1152, 11), (10000000, 24)])
        self.assertEqual(["all_ranks_us" in row for row in rows], [True, True, True, False])

    def test_calls_one_by_one(self):
        result = self.collective("--algorithms", "bsls", "--bytes", "64K", "--delay", "late:1:3ms", "--calls")
        self.assertGreater(result["beta_after_ns_per_byte"], 0)
        self.assertIn(result["link_steady"], (True, False))
        for row in result["rows"]:
            low, high = row["run_ms"]["median_ci95"]
            self.assertTrue(low <= row["run_ms"]["median"] <= high)
            calls = row["calls"]
            self.assertEqual([len(calls[name]) for name in ("arrival_us", "exit_us", "predicted_us")], [2, 2, 2])
            for arrivals, exits, run_ms in zip(calls["arrival_us"], calls["exit_us"], row["run_samples_ms"]):
                self.assertEqual(len(arrivals), 3)
                self.assertEqual(min(arrivals), 0)
                self.assertTrue(all(a <= e for a, e in zip(arrivals, exits)))
                self.assertAlmostEqual(max(exits) * 1e-3, run_ms, places=5)
        self.papfft("report", self.path("bench.json"), "-o", "report.html")
        self.assertIn("The call of median run time: ", self.path("report.html").read_text())

    def test_segments_may_be_asked_for(self):
        result = self.collective("--op", "bcast", "--algorithms", "circulant/5,bchain/3,circulant", "--bytes", "2M")
        self.assertEqual([(row["algorithm"], row["segments"]) for row in result["rows"][:3]],
                         [("mpi", 0), ("circulant/5", 5), ("bchain/3", 3)])
        self.assertGreater(result["rows"][3]["segments"], 1)
        self.assertTrue(all(row["correct"] for row in result["rows"]), result)

    def test_stock_mpi_by_an_algorithm_of_choice_is_a_peer(self):
        for operation, chosen in (("scatter", "mpi:1"), ("gather", "mpi:3/32K"), ("bcast", "mpi:3/16K"), ("reduce", "mpi:3/64K"),
                                  ("allgather", "mpi:4"), ("allreduce", "mpi:5/16K"), ("reduce_scatter", "mpi:3")):
            with self.subTest(operation):
                result = self.collective("--op", operation, "--algorithms", f"mpi-best,{chosen}", "--bytes", "60000", "--calls")
                self.assertEqual([row["algorithm"] for row in result["rows"]], ["mpi", "mpi-best", chosen])
                default, best, asked = (row["mpi_algorithm"] for row in result["rows"])
                self.assertIsNone(default)
                self.assertRegex(best, r"^[1-9](/(16|64|256)K)?$")
                self.assertEqual(asked, chosen.removeprefix("mpi:"))
                for row in result["rows"]:
                    self.assertTrue(row["correct"], row)
                    self.assertEqual(row["segments"], 0)
                    self.assertEqual(len(row["calls"]["exit_us"]), 2)
        shown = self.papfft("bench", "collective", "--op", "bcast", "--algorithms", "mpi-best", "--bytes", "4K", *QUICK, "--csv", "rows.csv",
                            ranks=2).stdout.decode()
        self.assertRegex(shown, r"mpi-best \([1-9]")
        self.assertIn("over mpi-best", shown)
        with self.path("rows.csv").open() as file:
            self.assertEqual([row["mpi_algorithm"] == "" for row in csv.DictReader(file)], [True, False])
        self.papfft("report", self.path("bench.json"), "-o", "report.html")
        self.assertIn("gain over mpi-best", self.path("report.html").read_text())

    def test_peers_that_know_hosts(self):
        for operation in ("scatter", "gather", "bcast", "reduce", "allgather", "allgatherv", "allreduce", "reduce_scatter"):
            with self.subTest(operation):
                result = self.collective("--op", operation, "--algorithms", "mpi-lane", "--bytes", "64K", "--csv", "rows.csv")
                self.assertEqual([row["algorithm"] for row in result["rows"]], ["mpi", "mpi-lane"])
                for row in result["rows"]:
                    self.assertTrue(row["correct"], row)
                    self.assertEqual((row["hosts"], row["ranks_per_host"], row["rank_order"]), (1, "3", "by host"))
                    self.assertIsNone(row["mpi_algorithm"])
        with self.path("rows.csv").open() as file:
            self.assertEqual([row["ranks_per_host"] for row in csv.DictReader(file)], ["3", "3"])
        machine = result["machine"]
        self.assertEqual((machine["hosts"], machine["ranks_per_host"], machine["rank_order"]), (1, "3", "by host"))
        for operation, word in (("bcast", "one host"), ("reduce_scatter", "no reduce_scatter"), ("allgatherv", "no allgatherv")):
            with self.subTest(operation):
                refused = run(command_line(("bench", "collective", "--op", operation, "--algorithms", "mpi-han", *QUICK), ranks=2),
                              cwd=self.folder)
                self.assertEqual(refused.returncode, 64, refused.stderr)
                (complaint,) = complaints(refused.stderr)
                self.assertIn("mpi-han: ", complaint)
                self.assertTrue(word in complaint or "no coll/han" in complaint, complaint)
        without = run(command_line(("bench", "collective", "--algorithms", "mpi-han", *QUICK), ranks=2), {"OMPI_MCA_coll": "^han"},
                      cwd=self.folder)
        self.assertEqual(without.returncode, 64)
        self.assertIn("no coll/han", complaints(without.stderr)[0])

    def test_overlap_of_every_started_operation(self):
        operations = ("scatter,gather,bcast,reduce,allgather,allgatherv,allreduce,reduce_scatter,alltoall,alltoallv,gatherv,"
                      "scatterv").split(",")
        shown = self.papfft("bench", "overlap", "--op", ",".join(operations), "--bytes", "8K", "--iterations", 2, "--warmup", 1,
                            "--json", self.path("overlap.json"), "--csv", self.path("overlap.csv"), ranks=2)
        self.assertIn("overlap %", shown.stdout.decode())
        rows = json.loads(self.path("overlap.json").read_text())["rows"]
        self.assertEqual([(row["op"], row["algorithm"]) for row in rows],
                         [(op, algorithm) for op in operations for algorithm in ("auto", "mpi")])
        for row in rows:
            self.assertTrue(0 <= row["overlap_percent"] <= 100, row)
            self.assertGreater(row["call_us"], 0)
            self.assertGreaterEqual(row["both_us"], row["computation_beside_us"])
        with open(self.path("overlap.csv"), newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), len(rows))

    def test_overlap_refuses_what_cannot_be_started(self):
        refused = run(command_line(("bench", "overlap", "--algorithms", "mpi"), 2), cwd=self.folder)
        self.assertEqual(refused.returncode, 64)
        self.assertIn("rows of its own", refused.stderr.decode())

    def test_guard_compares_programs_with_and_without_it(self):
        self.papfft("bench", "guard", "--op", "bcast", "--bytes", "4K,64K", "--choice", "bnom", "--calls", 20, "--iterations", 2,
                    "--json", self.path("guard.json"), ranks=3)
        rows = json.loads(self.path("guard.json").read_text())["rows"]
        self.assertEqual([row["bytes"] for row in rows], [4096, 65536])
        for row in rows:
            self.assertEqual(row["algorithm"], "bnom")
            self.assertGreaterEqual(row["trials"], 1)
            self.assertIn(row["in_use"], ("bnom", "mpi"))
            for program in ("stock_ms", "unguarded_ms", "guarded_ms"):
                self.assertGreater(row[program], 0)

    def test_engine_compares_one_algorithm_in_both(self):
        shown = self.papfft("bench", "engine", "--op", "bcast,gather", "--bytes", "1K,64K", "--iterations", 2, "--warmup", 1,
                            "--json", self.path("engine.json"), "--csv", "engine.csv", ranks=3).stdout.decode()
        rows = json.loads(self.path("engine.json").read_text())["rows"]
        self.assertEqual([(row["op"], row["algorithm"], row["mpi_algorithm"], row["bytes"]) for row in rows],
                         [(*algorithm, size) for algorithm in (("bcast", "bnom", "binomial"), ("bcast", "chain", "pipeline"),
                                                               ("gather", "lin", "basic_linear")) for size in (1024, 65536)])
        for row in rows:
            self.assertAlmostEqual(row["time_ratio"], row["time_us"] / row["mpi_time_us"])
            self.assertGreater(row["cpu_us"], 0)
        self.assertIn("CPU ratio", shown)
        with self.path("engine.csv").open() as file:
            self.assertEqual(len(list(csv.DictReader(file))), 6)

    def test_engine_knows_the_operations_that_both_have(self):
        for operation in ("nonsense", "alltoallv"):
            result = run(command_line(("bench", "engine", "--op", operation)), cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn(f"{operation} not in {{bcast,reduce,allreduce,", complaints(result.stderr)[0])

    def test_stock_algorithms_that_there_are_not(self):
        for algorithm, operation, words in (("mpi:99", "bcast", ("no bcast algorithm 99", "3 pipeline")), ("mpi:", "bcast", ("mpi:3/64K",)),
                                            ("mpi:0", "bcast", ("mpi:3/64K",)), ("mpi:three", "bcast", ("mpi:3/64K",)),
                                            ("mpi:3/", "bcast", ("bytes",)), ("mpi:3/0", "bcast", ("segment",)),
                                            ("mpi-best", "allgatherv", ("allgatherv", "what would work: mpi"))):
            with self.subTest(algorithm, operation=operation):
                result = run(command_line(("bench", "collective", "--op", operation, "--algorithms", algorithm, *QUICK), ranks=2),
                             cwd=self.folder)
                self.assertEqual(result.returncode, 64, result.stderr)
                (complaint,) = complaints(result.stderr)
                for word in words:
                    self.assertIn(word, complaint)

    def test_no_share_of_the_bound_is_above_1_and_the_link_is_named(self):
        for operation in ("scatter", "bcast", "reduce", "allgather", "allreduce", "reduce_scatter"):
            with self.subTest(operation):
                result = self.collective("--op", operation, "--algorithms", "auto", "--bytes", "256K,1M", "--measure-link")
                self.assertEqual(result["link"], {"between": "memory", "hosts": 1})
                for row in result["rows"]:
                    self.assertTrue(0 < row["efficiency"] <= 1, row)
                    self.assertGreater(row["bound_ms"], 0)
        shown = self.papfft("bench", "collective", "--op", "bcast", "--bytes", "64K", *QUICK, ranks=2).stdout.decode()
        self.assertIn("bound: by what the cores of one host must copy", shown)
        self.assertIn("share of bound: the bound / run time", shown)

    def test_a_cluster_that_says_nonsense_about_its_cables(self):
        for text in ("1gbit", "rate_bits_per_s=0 burst_bytes=1", "rate_bits_per_s=1e9 burst_bytes=-1", "rate_bits_per_s=1e9 burst_bytes=1 x"):
            result = run(command_line(("bench", "collective", *QUICK), ranks=2), {"PAPFFT_CLUSTER_LINK": text}, cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn("PAPFFT_CLUSTER_LINK", complaints(result.stderr)[0])

    def test_csv_has_the_rows_and_raw_every_rank_of_every_call(self):
        rows, raw = self.path("rows.csv"), self.path("raw.csv")
        self.collective("--algorithms", "lin", "--bytes", "4K", "--csv", rows, "--raw", raw)
        with rows.open() as file:
            self.assertEqual([row["algorithm"] for row in csv.DictReader(file)], ["mpi", "lin"])
        with raw.open() as file:
            calls = list(csv.DictReader(file))
        self.assertEqual(len(calls), 2 * 3 * 3)  # algorithms x (warm-up and iterations) x ranks
        for call in calls:
            self.assertLessEqual(int(call["arrival_ns"]), int(call["exit_ns"]))

    def test_transforms_are_right(self):
        path = self.path("fft.json")
        self.papfft("bench", "fft", "--vectors", 4, "--length", 4096, "--gathers", "mpi,ls,bsls", "--block", 2,
                    "--json", path, ranks=2)
        rows = json.loads(path.read_text())["rows"]
        self.assertEqual(rows[0]["engine"], "alone")
        self.assertIn(rows[0]["kernel"], ("own", "fftw", "pieces"))
        self.assertEqual([row["engine"] for row in rows[1:]], ["dif", "dif", "dif"])
        for row in rows:
            self.assertLess(row["error_l2"], 1e-6)

    def test_fftws_own_transform_over_mpi_is_a_peer(self):
        path = self.path("fft.json")
        command = ("bench", "fft", "--vectors", 2, "--engines", "fftw-mpi", "--json", path)
        result = run(command_line((*command, "--length", 4096), ranks=2), cwd=self.folder)
        if b"libfftw3-mpi" in result.stderr:
            self.assertEqual(result.returncode, 64)
            self.skipTest("built without libfftw3-mpi")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.papfft(*command, "--length", 4096, "--precision", "double", ranks=4)
        (_, row) = json.loads(path.read_text())["rows"]
        self.assertLess(row["error_l2"], 1e-14)
        for more, what in ((("--real",), "real"), (("--length", 100), "square")):
            result = run(command_line((*command, *more), ranks=4), cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn(what, complaints(result.stderr)[0])

    def test_vectors_that_are_with_the_ranks_before_and_after(self):
        path = self.path("fft.json")
        command = ("bench", "fft", "--vectors", 4, "--block", 2, "--json", path)
        for ranks, length, *real in ((2, 4096), (3, 999), (4, 4096), (2, 4096, "--real"), (3, 1002, "--real")):
            self.papfft(*command, "--engines", "slices", "--length", length, "--precision", "double", *real, ranks=ranks)
            (_, *rows) = json.loads(path.read_text())["rows"]
            self.assertEqual([row["order"] for row in rows], ["scrambled", "natural"])
            for row in rows:
                self.assertLess(row["error_l2"], 1e-14)
        peer = run(command_line((*command, "--engines", "slices,fftw-mpi-distributed", "--length", 4096), 4), cwd=self.folder)
        if b"libfftw3-mpi" in peer.stderr:
            self.skipTest("built without libfftw3-mpi")
        (_, *rows) = json.loads(path.read_text())["rows"]
        self.assertEqual([(row["engine"], row["order"]) for row in rows],
                         [(e, o) for e in ("slices", "fftw-mpi-distributed") for o in ("scrambled", "natural")])
        for row in rows:
            self.assertLess(row["error_l2"], 1e-6)

    def test_engines_are_timed_on_the_same_input(self):
        path = self.path("fft.json")
        for real in ((), ("--real",)):
            self.papfft("bench", "fft", "--vectors", 6, "--length", 4096, "--engines",
                        "dif,stream,farm,mpi-sequential,mpi-fftw,mpi-overlapped,alone", "--delay", "uniform:1ms", "--block", 3, "--json", path, *real, ranks=2)
            rows = json.loads(path.read_text())["rows"]
            self.assertEqual(rows[0]["engine"], "alone")
            self.assertIn(rows[0]["kernel"], ("own", "fftw", "pieces"))
            self.assertEqual([row["engine"] for row in rows[1:]],
                             ["dif", "stream", "farm", "mpi-sequential", "mpi-fftw", "mpi-overlapped"])
            for row in rows:
                self.assertLess(row["error_l2"], 1e-6)
                self.assertEqual(row["n"], 4096)
            self.assertTrue(all(row["cpu_ms"]["root"] > 0 and row["cpu_ms"]["other"] > 0 for row in rows[1:]), rows)
            self.assertGreater(rows[2]["root_ms"]["split"], 0)
            wire = {row["engine"]: row["wire_bound_ms"] for row in rows}
            self.assertAlmostEqual(wire["dif"], 2 * wire["stream"])
            self.assertTrue(0 <= rows[3]["own_share"] <= 1, rows[3])

    def test_fftw_planned_by_measuring_is_a_peer_on_request(self):
        path = self.path("fft.json")
        for real in ((), ("--real",)):
            self.papfft("bench", "fft", "--vectors", 2, "--length", 512, "--engines", "farm,fftw-measure", "--warm-up", 0,
                        "--json", path, *real, ranks=2)
            rows = {row["engine"]: row for row in json.loads(path.read_text())["rows"][1:]}
            self.assertEqual(sorted(rows), ["farm", "fftw-measure"])
            self.assertEqual(rows["fftw-measure"]["ranks"], 1)
            self.assertGreaterEqual(rows["fftw-measure"]["threads"], 1)
            self.assertLess(rows["fftw-measure"]["error_l2"], 1e-6)

    def test_planning_is_timed_for_each_planner_size_and_pattern(self):
        path, csv_path = self.path("schedule.json"), self.path("schedule.csv")
        self.papfft("bench", "schedule", "--ranks", "4,32", "--repetitions", 3, "--json", path, "--csv", csv_path)
        rows = json.loads(path.read_text())["rows"]
        self.assertEqual([(r["pattern"], r["ranks"], r["segments"], r["algorithm"]) for r in rows],
                         [(pattern, p, p, algorithm) for pattern in ("uniform", "skewed") for p in (4, 32)
                          for algorithm in ("clv", "clv-linear", "clv-heap")])
        for row in rows:
            self.assertEqual((row["op"], row["repetitions"]), ("reduce", 3))
            self.assertGreater(row["time_us"]["min"], 0)
            self.assertLessEqual(row["time_us"]["min"], row["time_us"]["median"])
            self.assertAlmostEqual(row["gain_over"][row["algorithm"]] if row["algorithm"] != "clv" else 1, 1)
        with csv_path.open() as file:
            self.assertEqual(len(list(csv.DictReader(file))), len(rows) * 3)
        heap = {r["algorithm"]: r["memory_bytes"] for r in rows if r["ranks"] == 32 and r["pattern"] == "skewed"}
        if heap["clv"] is not None:  # a sanitizer counts for itself
            self.assertGreater(heap["clv-heap"], heap["clv"] + 32 * 32 * 48)  # a node for each rank and segment

    def test_planning_without_the_peers_gives_no_gains(self):
        path = self.path("schedule.json")
        self.papfft("bench", "schedule", "--op", "gather", "--algorithms", "lin,sls", "--ranks", 5, "--segments", 2,
                    "--patterns", "skewed", "--repetitions", 1, "--json", path)
        rows = json.loads(path.read_text())["rows"]
        self.assertEqual([(r["algorithm"], r["ranks"], r["segments"]) for r in rows], [("lin", 5, 2), ("sls", 5, 2)])
        for row in rows:
            self.assertEqual(row["gain_over"], {"clv-linear": None, "clv-heap": None})

    def test_planning_of_what_there_is_not(self):
        for arguments in (("--algorithms", "nonsense"), ("--patterns", "sometimes"), ("--ranks", 0), ("--op", "scan")):
            with self.subTest(arguments):
                result = run(command_line(("bench", "schedule", *arguments)), cwd=self.folder)
                self.assertEqual(result.returncode, 64)

    def test_predictor_reports_what_it_measured(self):
        path = self.path("predictor.json")
        self.papfft("bench", "predictor", "--blocks", 1, "--compute", "2ms", "--delay", "uniform:2ms", "--json", path,
                    ranks=2)
        (row,) = json.loads(path.read_text())["rows"]
        self.assertEqual(row["phases"], 20)
        self.assertGreater(row["work_with_ms"]["median"], 0)

    def test_predictor_replays_traces_without_mpirun(self):
        trace = REPOSITORY / "data/arrivals/psd-4-ranks-2-cores.csv"
        path = self.path("replay.json")
        shown = self.papfft("bench", "predictor", "--replay", f"{trace},synthetic:alternating", "--json", path).stdout.decode()
        self.assertIn("psd-4-ranks-2-cores.csv", shown)
        recorded, alternating = json.loads(path.read_text())["replays"]
        self.assertEqual(recorded["ranks"], 4)
        errors = alternating["error_ns"]
        self.assertLess(errors["decided"]["mean"], errors["last"]["mean"] / 10)
        for times in alternating["simulated"].values():
            self.assertLessEqual(times["decided_ns"], times["oblivious_ns"])
        for wrong, code in (("synthetic:fog", 64), ("no-such-file.csv", 65)):
            result = run(command_line(("bench", "predictor", "--replay", wrong)), cwd=self.folder)
            self.assertEqual(result.returncode, code)
            self.assertEqual(len(complaints(result.stderr)), 1)

    def test_words_that_make_no_sense(self):
        for arguments in (("--op", "gather", "--counts", "irregular"), ("--algorithms", "nonsense"), ("--bytes", "8Q"),
                          ("--delay", "sometimes"), ("--root", 2)):
            with self.subTest(arguments):
                result = run(command_line(("bench", "collective", *arguments), ranks=2), cwd=self.folder)
                self.assertEqual(result.returncode, 64)
                self.assertEqual(len(complaints(result.stderr)), 1)

    def test_needs_a_launcher(self):
        result = run(command_line(("bench", "collective")), cwd=self.folder)
        self.assertEqual(result.returncode, 64)
        self.assertIn("mpirun", complaints(result.stderr)[0])


class LocalTest(ProgramTest):
    """bench local and tune: kernels of the local transforms."""

    def setUp(self):
        super().setUp()
        self.tuned = self.path("cache") / "papfft"
        self.environment = {"XDG_CACHE_HOME": str(self.path("cache")), "PAPFFT_TUNING": ""}

    def test_bench_has_a_row_for_each_kernel_size_precision_domain_and_thread_number(self):
        json_path, csv_path = self.path("local.json"), self.path("local.csv")
        text = self.papfft("bench", "local", "--sizes", "2^6,256..512", "--threads", "1,2", "--repetitions", 2, "--json", json_path,
                           "--csv", csv_path, environment=self.environment).stdout.decode()
        rows = json.loads(json_path.read_text())["rows"]
        self.assertEqual({row["n"] for row in rows}, {64, 256, 512})
        for n, domain, kernels in ((64, "complex", {"own", "fftw"}), (64, "real", {"fftw"}), (512, "real", {"own", "fftw"})):
            for precision in ("float", "double"):
                for threads in (1, 2):
                    found = {row["kernel"] for row in rows if (row["n"], row["domain"], row["precision"], row["threads"]) ==
                             (n, domain, precision, threads)}
                    self.assertEqual(found, kernels if threads == 1 else kernels - {"fftw"})
        for row in rows:
            self.assertLessEqual(row["time_us"]["min"], row["time_us"]["median"])
            self.assertAlmostEqual(row["mflops"] * row["time_us"]["median"], 5 * row["n"] * (row["n"].bit_length() - 1), delta=1e-3)
        self.assertRegex(text, r"(?m)^geometric mean.* own")
        with csv_path.open() as file:
            self.assertEqual([(row["kernel"], int(row["n"])) for row in csv.DictReader(file)],
                             [(row["kernel"], row["n"]) for row in rows])

    def test_tune_fills_the_users_file_and_jobs_use_it(self):
        options = ("tune", "--sizes", "256,1000", "--precision", "double", "--effort", 0.001)
        text = self.papfft(*options, environment=self.environment).stdout.decode()
        (file,) = self.tuned.iterdir()
        self.assertEqual(len([line for line in text.splitlines() if line.split()[:1] in (["256"], ["1000"])]), 8)
        choice = "kernel double complex-forward 256"
        (line,) = [line for line in file.read_text().splitlines() if line.startswith(choice)]
        self.assertIn(line.split()[-1], ("own", "fftw"))
        self.assertIn(file.name, self.papfft("info", environment=self.environment).stdout.decode())
        # A damaged file is passed over, and made anew.
        good = file.read_bytes()
        file.write_bytes(good[:-30])
        samples = self.save("x.npy", np.arange(256) + 0j)
        self.papfft("transform", samples, "-o", "out.npy", environment=self.environment)
        self.papfft(*options, environment=self.environment)
        self.assertIn(choice, file.read_text())
        self.assertEqual(len(list(self.tuned.iterdir())), 1)

    def test_tune_collectives_fills_a_file_and_auto_goes_by_it(self):
        table = self.path("sub/table.txt")
        tuned = self.papfft("tune", "--collectives", "--op", "bcast,allreduce", "--bytes", "2K,8K", "--budget", 0.2, "--file", table,
                            "--export", "openmpi-rules", self.path("rules"), ranks=2).stdout.decode()
        rules = [line for line in self.path("rules").read_text().splitlines() if not line.startswith("#")]
        self.assertEqual([rules[0], *rules[1:5], *rules[8:12]], ["2", "2", "1", "2", "3", "7", "1", "2", "3"])
        for line in rules[5:8] + rules[12:]:
            self.assertEqual(len(line.split()), 4)
        environment = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(self.path("rules"))}
        self.papfft("bench", "collective", "--op", "bcast", "--algorithms", "mpi", "--bytes", "8K", "--iterations", 2, "--compute", "0ms",
                    ranks=2, environment=environment)  # checks what stock MPI delivers by these rules
        lines = [line for line in table.read_text().splitlines() if line.startswith(("bcast ", "allreduce "))]
        self.assertEqual([line.split()[:2] for line in lines],
                         [["bcast", "2048"], ["bcast", "8192"], ["allreduce", "2048"], ["allreduce", "8192"]])
        for line in lines:
            names, times = zip(*(way.split("=") for way in line.split()[2:]))
            self.assertIn("mpi", names)
            self.assertTrue(any(not name.startswith("mpi") for name in names))
            self.assertEqual(sorted(times, key=float), list(times))
            self.assertRegex(tuned, rf"(?m)^{line.split()[0]} .* ({re.escape(names[0])}|mpi) ")
        self.assertIn(f"remembered in {table}", tuned)
        shown = self.papfft("info", environment={"PAPFFT_DECISIONS": str(table)}).stdout.decode()
        self.assertRegex(shown, "collectives measured by 2 ranks on 1 host.*, kept in .*table.txt\n +hosts-named \\S+\n +cores-per-rank [0-9.]+\n"
                                " +link inside alpha_ns=[0-9.e+]+ beta_ns_per_byte=")
        foreign = self.path("foreign.txt")
        foreign.write_text(re.sub("(?m)^library .*$", "library Some MPI 1.0", table.read_text()))
        shown = self.papfft("info", environment={"PAPFFT_DECISIONS": str(foreign)}).stdout.decode()
        self.assertRegex(shown, "with Some MPI 1.0, kept in .*foreign.txt; not used: this is ")
        # What a user writes by hand is what auto does.
        table.write_text(re.sub(r"(?m)^bcast 8192 .*$", "bcast 8192 chain/3", table.read_text()))
        json_path = self.path("bench.json")
        self.papfft("bench", "collective", "--op", "bcast", "--algorithms", "auto", "--bytes", "8K", "--iterations", 2, "--compute",
                    "0ms", "--json", json_path, ranks=2, environment={"PAPFFT_DECISIONS": str(table)})
        (row,) = [row for row in json.loads(json_path.read_text())["rows"] if row["algorithm"] == "auto"]
        self.assertEqual(row["segments"], 3)

    def test_tune_for_unknown_arrivals_keeps_an_order_without_times(self):
        table = self.path("table.txt")
        self.papfft("tune", "--collectives", "--op", "bcast", "--bytes", "8K", "--budget", 0.2, "--file", table, "--unknown-arrivals",
                    "-q", ranks=2)
        self.assertIn("\narrivals unknown\n", table.read_text())
        (line,) = [line for line in table.read_text().splitlines() if line.startswith("bcast ")]
        self.assertNotIn("=", line)
        self.assertIn(" mpi", line)

    def test_tables_of_decisions_that_make_no_sense(self):
        table = self.path("table.txt")
        bench = ("bench", "collective", "--op", "bcast", "--algorithms", "auto", "--bytes", "8K", "--iterations", 1, "--compute", "0ms")
        for text in ("", "nonsense", "papfft-decisions 1\nbcast 8192 nonsense\n"):
            with self.subTest(text):
                table.write_text(text)
                result = run(command_line(bench, ranks=2), cwd=self.folder, environment={"PAPFFT_DECISIONS": str(table)})
                self.assertEqual(result.returncode, 64)
                (line,) = complaints(result.stderr)
                self.assertIn("table.txt", line)
        for arguments, ranks in ((("tune", "--collectives"), 1), (("tune", "--collectives", "--op", "dance"), 2),
                                 (("tune", "--collectives", "--bytes", "many"), 2),
                                 (("tune", "--collectives", "--export", "rules", "x"), 2),
                                 (("tune", "--collectives", "--export", "openmpi-rules"), 2)):
            with self.subTest(arguments):
                result = run(command_line(arguments, ranks=ranks), cwd=self.folder)
                self.assertEqual(result.returncode, 64)
                self.assertEqual(len(complaints(result.stderr)), 1)

    def test_words_that_make_no_sense(self):
        for arguments in (("bench", "local", "--sizes", "3^5"), ("bench", "local", "--sizes", "9..5"), ("bench", "local", "--sizes", "0"),
                          ("bench", "local", "--precision", "half"), ("bench", "local", "--domain", "time"),
                          ("bench", "local", "--threads", 0), ("tune", "--sizes", "2^40"), ("tune", "--threads", 0),
                          ("tune", "--precision", "half"), ("tune", "--file", "/dev/null/tuning")):
            with self.subTest(arguments):
                result = run(command_line(arguments), cwd=self.folder)
                self.assertIn(result.returncode, (64, 73))
                self.assertEqual(len(complaints(result.stderr)), 1)
        for command in (("tune",), ("bench", "local")):
            result = run(command_line(command, ranks=2), cwd=self.folder)
            self.assertEqual(result.returncode, 64)
            self.assertIn("without mpirun", complaints(result.stderr)[0])
