# SPDX-License-Identifier: MIT
"""papfft simulate: against the closed forms of the papers, and what it writes."""

import csv
import json
import math

from support import ProgramTest, complaints, command_line, run


class SimulateTest(ProgramTest):
    def rows(self, *arguments):
        """The rows of a simulation, as it writes them."""
        self.papfft("simulate", "--quiet", "--json", "out.json", *arguments)
        return json.loads(self.path("out.json").read_text())["rows"]

    def run_ns(self, *arguments):
        return {row["algorithm"]: row["run_ns"]["mean"] for row in self.rows(*arguments)}

    def test_reductions_take_the_time_of_table_iii(self):
        # alpha 50000, beta 6, gamma 1 as in GRD Fig. 6; m = 64 Ki bytes; 16 segments of 4096
        p, q, m, s = 64, 16, 65536, 4096
        alpha, beta, gamma = 50000, 6, 1
        tau = alpha + (beta + gamma) * s
        times = self.run_ns("--algorithms", "bi-greedy,chain,papbi", "--ranks", p, "--bytes", m, "--segments", q, "--alpha",
                            "50us", "--beta", beta, "--gamma", gamma, "--combining", "in-message")
        self.assertEqual(times["bi-greedy"], (math.ceil(math.log2(p)) + q - 1) * tau)
        self.assertEqual(times["papbi"], times["bi-greedy"])
        self.assertEqual(times["chain"], (p + q - 2) * tau)
        times = self.run_ns("--algorithms", "binary", "--ranks", 63, "--bytes", m, "--segments", q, "--alpha", "50us", "--beta",
                            beta, "--gamma", gamma, "--combining", "in-message")
        self.assertEqual(times["binary"], 2 * (6 + q - 2) * tau)
        times = self.run_ns("--algorithms", "bnom,rab", "--ranks", p, "--bytes", m, "--segments", 1, "--alpha", "50us", "--beta",
                            beta, "--gamma", gamma, "--combining", "in-message")
        self.assertEqual(times["bnom"], 6 * (alpha + (beta + gamma) * m))
        self.assertEqual(times["rab"], 2 * 6 * alpha + (p - 1) * m // p * (2 * beta + gamma))

    def test_one_way_ports_take_the_time_of_table_i(self):
        machine = ("--ports", "uni", "--combining", "in-message", "--alpha", "10ns", "--beta", 1, "--gamma", 1)
        times = self.run_ns("--algorithms", "chain", "--ranks", 9, "--bytes", 60, "--segments", 5, *machine)
        self.assertEqual(times["chain"], (9 - 1 + 2 * (5 - 1)) * (10 + 2 * 12))
        times = self.run_ns("--algorithms", "bnom,uni-greedy", "--ranks", 9, "--bytes", 60, "--segments", 1, *machine)
        self.assertEqual(times, {"bnom": 4 * (10 + 2 * 60), "uni-greedy": 4 * (10 + 2 * 60)})

    def test_scatter_and_gather_take_the_time_of_equations_3_and_7(self):
        p, block = 8, 1000
        for op in ("scatter", "gather"):
            times = self.run_ns("--op", op, "--algorithms", "lin,bnom", "--ranks", p, "--bytes", p * block, "--alpha", "5us",
                                "--beta", 2, "--segments", 1)
            self.assertEqual(times["lin"], (p - 1) * (5000 + 2 * block))
            self.assertEqual(times["bnom"], 3 * 5000 + (p - 1) * 2 * block)

    def test_a_late_root_finds_the_others_sum_in_the_background(self):
        rows = self.rows("--algorithms", "papbi,bpapbi", "--ranks", 16, "--bytes", "1M", "--segments", 32, "--arrivals",
                         "root-late:100ms", "--gamma", 0)
        times = {row["algorithm"]: row["run_ns"]["mean"] for row in rows}
        self.assertEqual(times["bpapbi"], 100e6)
        self.assertGreaterEqual(times["papbi"], 100e6 + 8 * 2**20)
        over_best = {row["algorithm"]: row["over_best"] for row in rows}
        self.assertEqual(over_best["bpapbi"], 1)
        self.assertAlmostEqual(over_best["papbi"], times["papbi"] / times["bpapbi"])

    def test_the_best_number_of_segments_is_no_worse_than_any_tried(self):
        common = ("--algorithms", "bi-greedy", "--ranks", 24, "--bytes", "1M")
        best, = self.rows(*common, "--segments", "best")
        for row in self.rows(*common, "--segments", "1,2,16,64,256"):
            self.assertLessEqual(best["run_ns"]["mean"], row["run_ns"]["mean"] * 1.01)
        self.assertGreater(best["segments"], 16)

    def test_sweeps_are_the_product_and_repeat(self):
        arguments = ("simulate", "--algorithms", "papbi,bnom", "--ranks", "3,8", "--bytes", "4K,1M", "--segments", "1,8",
                     "--arrivals", "none,uniform:5ms", "--iterations", 5, "--csv", "out.csv")
        first = self.papfft(*arguments).stdout
        self.assertEqual(first, self.papfft(*arguments).stdout)
        with open(self.path("out.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2 * 2 * 2 * 2 * 2)
        self.assertEqual({row["ranks"] for row in rows}, {"3", "8"})
        for row in rows:
            self.assertLessEqual(float(row["run_ns_min"]), float(row["run_ns"]))
            self.assertLessEqual(float(row["run_ns"]), float(row["run_ns_max"]))
        self.assertEqual(len(first.splitlines()), 1 + len(rows))

    def test_every_algorithm_is_simulated(self):
        for op in ("scatter", "gather", "bcast", "reduce"):
            names = {a["algorithm"] for a in json.loads(self.papfft("algorithms", "--json").stdout) if a["op"] == op}
            rows = self.rows("--op", op, "--ranks", 6, "--bytes", "300K", "--segments", 4, "--arrivals", "uniform:2ms")
            self.assertEqual({row["algorithm"] for row in rows}, names)
            for row in rows:
                self.assertGreater(row["run_ns"]["mean"], 0)

    def test_a_hundred_thousand_ranks(self):
        times = self.run_ns("--algorithms", "bnom,binary", "--ranks", 100000, "--bytes", 1000, "--segments", 1, "--gamma", 0)
        self.assertEqual(times["bnom"], 17 * (8000 + 8 * 1000))

    def test_mistakes_are_usage_errors_of_one_line(self):
        for arguments, said in ((("--algorithms", "magic"), "no reduce algorithm 'magic'"),
                                (("--algorithms", "mpi"), "not schedules"),
                                (("--root", "8"), "no rank 8 among 8"),
                                (("--segments", "0"), "--segments"),
                                (("--ports", "tri"), "--ports"),
                                (("--arrivals", "late:9:1ms"), "only 8 ranks"),
                                (("--algorithms", "papbi", "--ordered"), "commutative")):
            with self.subTest(arguments):
                result = run(command_line(("simulate", "--quiet", *arguments)), cwd=self.folder)
                self.assertEqual(result.returncode, 64, result.stderr.decode())
                said_lines = complaints(result.stderr)
                self.assertEqual(len(said_lines), 1)
                self.assertIn(said, said_lines[0])
