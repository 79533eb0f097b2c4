# SPDX-License-Identifier: MIT
"""papfft bench guidelines: every cell has its checks, and the verdicts follow from the samples; never how long anything takes."""

import csv
import json
import math

from support import ProgramTest, command_line, complaints, np, run

TINY = ("--iterations", 5, "--warmup", 1)
NEEDS_OPEN_MPI = ("scatter", "gather", "bcast", "reduce", "allgather", "allreduce", "reduce_scatter", "alltoall")
HIDDEN_IN_OPEN_MPI = ("allgatherv", "alltoallv", "gatherv", "scatterv")  # it lets nobody choose their algorithms
MOCK_UPS = {"bcast": "scatter+allgather", "allreduce": "reduce+bcast", "gather": "allgather", "reduce_scatter": "reduce+scatter"}


class GuidelinesTest(ProgramTest):
    def guidelines(self, *arguments, ranks=2, codes=(0,)):
        path = self.path("guidelines.json")
        result = run(command_line(("bench", "guidelines", *arguments, *TINY, "--json", path), ranks), cwd=self.folder)
        self.assertIn(result.returncode, codes, result.stderr.decode())
        self.assertEqual(complaints(result.stderr), [])
        document = json.loads(path.read_text())
        self.check_rows(document)
        return document, result

    def check_rows(self, document):
        """Every figure follows from the samples."""
        for row in document["rows"]:
            self.assertEqual(len(row["auto_samples_ms"]), row["iterations"])
            self.assertEqual(len(row["peer_samples_ms"]), row["iterations"])
            ratio = np.median(row["auto_samples_ms"]) / np.median(row["peer_samples_ms"])
            self.assertAlmostEqual(row["ratio"] / ratio, 1)
            self.assertTrue(0 < row["p"] <= 1, row)
            beyond = row["ratio"] > 1 + document["settings"]["tolerance"]
            verdict = "kept" if not beyond else "VIOLATED" if row["p"] < 0.01 else "unproven"
            self.assertEqual(row["verdict"], verdict, row)
            self.assertEqual(row["violated"], verdict == "VIOLATED")
        self.assertEqual(document["violations"], sum(row["violated"] for row in document["rows"]))
        self.assertEqual(document["unproven"], sum(row["verdict"] == "unproven" for row in document["rows"]))

    def test_each_cell_of_each_operation_is_checked(self):
        document, result = self.guidelines("--bytes", "64K,1K,64K", "--csv", "rows.csv")
        operations = (*NEEDS_OPEN_MPI[:5], "allgatherv", *NEEDS_OPEN_MPI[5:], *HIDDEN_IN_OPEN_MPI[1:])
        expected = []
        for operation in operations:
            for size in (1024, 65536):
                expected.append((operation, size, "stock", "mpi", size))
                if operation not in HIDDEN_IN_OPEN_MPI:
                    expected.append((operation, size, "best", "mpi-best", size))
                if operation in MOCK_UPS:
                    expected.append((operation, size, "mockups", MOCK_UPS[operation], size))
                if size == 1024:
                    expected.append((operation, size, "monotone", "auto", 65536))
        rows = document["rows"]
        self.assertEqual([(row["op"], row["bytes"], row["guideline"], row["peer"], row["peer_bytes"]) for row in rows], expected)
        for row in rows:
            self.assertEqual((row["ranks"], row["hosts"], row["pattern"], row["iterations"], row["peers"]), (2, 1, "none", 5, 1))
            self.assertEqual(row["mpi_algorithm"] is not None, row["guideline"] == "best")
        self.assertEqual((document["cells"], document["settings"]["bytes"]), (24, [1024, 65536]))
        shown = result.stdout.decode().splitlines()
        self.assertRegex(shown[0], rf"^{document['violations']} violations?, {document['unproven']} unproven, of {len(rows)} checks in "
                                   r"24 cells on 2 ranks \(one host\)$")
        for operation in HIDDEN_IN_OPEN_MPI:
            self.assertIn(f"best is not checked for {operation}", result.stdout.decode())
        worst = max((row for row in rows if row["violated"]), key=lambda row: row["ratio"], default=None)
        self.assertEqual(shown[1].startswith("the worst: "), worst is not None)
        if worst:
            self.assertTrue(shown[1].startswith(f"the worst: {worst['op']} of "), shown[1])
        with self.path("rows.csv").open() as file:
            table = list(csv.DictReader(file))
        self.assertEqual([(row["op"], int(row["bytes"]), row["guideline"], row["peer"], int(row["peer_bytes"])) for row in table], expected)
        for row, line in zip(rows, table):
            self.assertTrue(math.isclose(float(line["ratio"]), row["ratio"]))
            self.assertEqual(line["verdict"], row["verdict"])

    def test_our_algorithms_patterns_and_predictions(self):
        document, _ = self.guidelines("--op", "bcast,reduce_scatter", "--bytes", "3000", "--guidelines", "ours,mockups", "--delay",
                                      "none,late:1:1ms", "--predict", "--root", 1, "--budget", "0.001", ranks=3)
        listed = json.loads(self.papfft("algorithms", "--json").stdout)
        listed = listed if isinstance(listed, list) else listed["algorithms"]
        for row in document["rows"]:
            if row["guideline"] == "ours":
                names = [entry["algorithm"] for entry in listed if entry["op"] == row["op"]]
                self.assertIn(row["peer"], names)
                self.assertEqual(row["peers"], len(names))
        self.assertEqual([(row["op"], row["pattern"], row["guideline"]) for row in document["rows"]],
                         [(operation, pattern, guideline) for operation in ("bcast", "reduce_scatter")
                          for pattern in ("none", "late:1:1ms") for guideline in ("ours", "mockups")])
        self.assertTrue(document["settings"]["predict"])

    def test_cells_that_no_guideline_is_about_are_not_counted(self):
        document, _ = self.guidelines("--op", "scatter,bcast", "--bytes", "1K,2K", "--guidelines", "mockups")
        self.assertEqual([(row["op"], row["bytes"]) for row in document["rows"]], [("bcast", 1024), ("bcast", 2048)])
        self.assertEqual(document["cells"], 2)

    def test_a_budget_ends_a_cell_but_not_before_five_calls(self):
        path = self.path("budget.json")
        self.papfft("bench", "guidelines", "--op", "scatter", "--bytes", "1K", "--guidelines", "stock", "--iterations", 1000,
                    "--warmup", 2, "--budget", "1e-6", "--quiet", "--json", path, ranks=2)
        (row,) = json.loads(path.read_text())["rows"]
        self.assertEqual(row["iterations"], 5)

    def test_the_exit_code_says_whether_a_guideline_is_violated(self):
        document, result = self.guidelines("--op", "gather,allreduce", "--bytes", "64,64K", "--tolerance", "0%", "--fail-over", "0%",
                                           codes=(0, 76))
        self.assertEqual(result.returncode, 76 if document["violations"] else 0)
        self.assertEqual(document["settings"]["tolerance"], 0)

    def test_the_report_has_a_map_of_the_cells(self):
        document, _ = self.guidelines("--op", "bcast,allgatherv", "--bytes", "1K,64K")
        self.papfft("report", "guidelines.json", "-o", "report.html", "--figures", "pictures")
        text = self.path("report.html").read_text()
        for words in ("The worst guideline of each cell: 2 ranks, arrivals none", "auto against the best algorithm of stock MPI",
                      "auto against itself with the next larger size", "auto / peer", "bcast: auto and scatter+allgather (mockups)"):
            self.assertIn(words, text)
        self.assertEqual(len([name for name in self.files() if name.endswith(".svg")]), 5)
        # Of the operations the first is on top, and what nobody measured is said.
        best = next(self.folder.glob("pictures/*-03-guideline.svg")).read_text()
        self.assertLess(best.index(">bcast</text>"), len(best))
        self.assertNotIn(">allgatherv</text>", best)  # Open MPI lets nobody choose its algorithm
        monotone = next(self.folder.glob("pictures/*-05-guideline.svg")).read_text()
        self.assertIn(">allgatherv</text>", monotone)
        self.papfft("report", "--compare", "guidelines.json", self.copy(document))

    def copy(self, document):
        self.path("again.json").write_text(json.dumps(document))
        return "again.json"

    def test_mistakes(self):
        for arguments, words in ((("--op", "barrier"), "barrier"), (("--guidelines", "fastest"), "fastest"),
                                 (("--bytes", "1Q"), "1Q"), (("--tolerance", "3"), "--tolerance 3 is no percentage"),
                                 (("--fail-over", "nan%"), "--fail-over nan% is no percentage"),
                                 (("--fail-over", "1%"), "--fail-over 1% is below --tolerance 3%"),
                                 (("--iterations", "4"), "what would work: 5 or more"), (("--root", "2"), "no rank 2 among 2"),
                                 (("--op", "scatter,reduce", "--guidelines", "mockups"), "none of these guidelines"),
                                 (("--bytes", "1K,1024", "--guidelines", "monotone"), "none of these guidelines"),
                                 (("--delay", "late:9:1ms"), "9"), (("--delay", "nonsense"), "nonsense"),
                                 (("--budget", "-1"), "--budget"), (("--csv", "x.out", "--json", "x.out"), "x.out")):
            with self.subTest(arguments):
                result = run(command_line(("bench", "guidelines", *arguments), ranks=2), cwd=self.folder)
                self.assertIn(result.returncode, (64, 73), result.stderr)
                (complaint,) = complaints(result.stderr)
                self.assertIn(words, complaint)
        alone = run(command_line(("bench", "guidelines")), cwd=self.folder)
        self.assertEqual(alone.returncode, 64)
        self.assertIn("mpirun -n 4 papfft bench guidelines", complaints(alone.stderr)[0])
        single = run(command_line(("bench", "guidelines", *TINY), ranks=1), cwd=self.folder)
        self.assertEqual(single.returncode, 64)
        self.assertIn("two ranks or more", complaints(single.stderr)[0])
        self.assertEqual(self.files(), [])
