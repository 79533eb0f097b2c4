# SPDX-License-Identifier: MIT
"""papfft rank: which way is the fastest, what it writes, and what it refuses."""

import json

from support import ProgramTest, command_line, complaints, run


class RankTest(ProgramTest):
    def rows(self, *arguments):
        self.papfft("rank", "-q", "--json", "out.json", *arguments)
        return json.loads(self.path("out.json").read_text())["rows"]

    def test_times_are_those_of_the_model(self):
        (row,) = self.rows("--op", "bcast", "--algorithms", "bnom/1", "--hosts", "2x1", "--bytes", 1000, "--alpha", "1us", "--beta", 2,
                           "--latency", "5us")
        times = {way["way"]: way["run_ns"] for way in row["ways"]}
        self.assertEqual(times["bnom/1"], 1000 + 2 * 1000 + 5000)

    def test_the_best_comes_first_and_auto_is_among_them(self):
        for extra in ((), ("--unknown-arrivals",)):
            rows = self.rows("--hosts", "3x2", "--bytes", "4K,256K", *extra)
            self.assertEqual(len(rows), 2 * len({row["op"] for row in rows}))
            for row in rows:
                slowdowns = [way["worst_slowdown"] for way in row["ways"]]
                self.assertEqual(slowdowns, sorted(slowdowns))
                self.assertGreaterEqual(slowdowns[0], 1)
                self.assertIn(row["auto"], [way["way"] for way in row["ways"]])
                self.assertEqual(row["left_out"], [])

    def test_the_tables_say_what_auto_takes(self):
        text = self.papfft("rank", "--op", "bcast,reduce", "--hosts", "4x2", "--bytes", "64K").stdout.decode()
        self.assertEqual(text.count("(auto)"), 2)
        text = self.papfft("rank", "--check-auto", "--hosts", "4x2", "--bytes", "64K,1M", "--op", "gather,bcast").stdout.decode()
        self.assertRegex(text, r"(?m)^[0-4] of 4 choices are more than 10 % slower than the best$")

    def test_says_what_is_left_out(self):
        text = self.papfft("rank", "--op", "bcast", "--hosts", "8x1", "--bytes", "1M", "--most-steps", 200).stdout.decode()
        self.assertRegex(text, r"(?m)^left out: bcast 1M chain: takes about [0-9]+ steps$")
        text = self.papfft("rank", "--check-auto", "--op", "bcast", "--hosts", "8x1", "--bytes", "1M", "--most-steps", 200).stdout.decode()
        self.assertIn("1 of 1 are not known", text)

    def test_a_table_is_what_auto_goes_by_and_its_links_can_be_used_again(self):
        self.papfft("rank", "--op", "bcast", "--algorithms", "chain/3", "--hosts", "1x2", "--bytes", "8K", "--table", "table.txt",
                    "--inside-alpha", "2us", "-q")
        table = self.path("table.txt").read_text()
        self.assertRegex(table, "(?m)^link inside alpha_ns=2000 ")
        self.assertRegex(table, "(?m)^bcast 8192 .*chain/3=")
        (row,) = self.rows("--profile", "table.txt", "--op", "bcast", "--algorithms", "bnom/1", "--hosts", "1x2", "--bytes", 1000)
        times = {way["way"]: way["run_ns"] for way in row["ways"]}
        self.assertEqual(times["bnom/1"], 2000 + 200 + 1000)
        self.papfft("rank", "--op", "bcast", "--algorithms", "chain/3", "--hosts", "1x2", "--bytes", "8K", "--table", "table.txt",
                    "--unknown-arrivals", "-q")
        self.assertRegex(self.path("table.txt").read_text(), "(?m)^bcast 8192 [a-z/0-9 ]*$")

    def test_what_makes_no_sense_is_refused(self):
        self.path("empty.txt").write_text("papfft-decisions 1\n")
        for arguments in (("--op", "dance"), ("--hosts", "0x1"), ("--hosts", ""), ("--root", 8), ("--bytes", "many"),
                          ("--algorithms", "mpi"), ("--algorithms", "nonsense"), ("--beta", -1), ("--latency", "soon"),
                          ("--profile", "empty.txt"), ("--crowded",),
                          ("--profile", "empty.txt", "--alpha", "1us"), ("--most-steps", 0)):
            with self.subTest(arguments):
                result = run(command_line(("rank", *arguments)), cwd=self.folder)
                self.assertEqual(result.returncode, 64)
                self.assertEqual(len(complaints(result.stderr)), 1)
        result = run(command_line(("rank", "--profile", "nowhere.txt")), cwd=self.folder)
        self.assertEqual((result.returncode, complaints(result.stderr)), (65, ["papfft: nowhere.txt: No such file or directory"]))
