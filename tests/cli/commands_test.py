# SPDX-License-Identifier: MIT
"""The commands that need no samples: algorithms, schedule, info, and what every command says of itself."""

import json
import os
import re
import subprocess

from support import PROGRAM, REPOSITORY, ProgramTest, command_line, complaints, run

COMMANDS = ("transform", "spectrogram", "stft", "istft", "psd", "correlate", "convolve", "algorithms", "schedule", "simulate", "rank",
            "info")


class CommandsTest(ProgramTest):
    def text(self, *arguments, **options):
        return self.papfft(*arguments, **options).stdout.decode()

    def test_help_has_examples(self):
        overview = self.text("--help")
        self.assertIn("Examples:", overview)
        listed = re.findall(r"^  ([a-z]+) ", overview.partition("Examples:")[0], re.MULTILINE)
        self.assertLessEqual(set(COMMANDS), set(listed))
        for command in listed:
            with self.subTest(command):
                self.assertRegex(self.text(command, "--help"), rf"Examples:\n(.*\n)* .*papfft {command}")

    def test_help_and_version_once_under_mpirun(self):
        self.assertEqual(self.text("--help", ranks=3).count("Examples:"), 1)
        self.assertEqual(self.text("--version", ranks=3).count("\n"), 1)

    def test_version_is_the_projects(self):
        project = re.search(r"project\(papfft VERSION ([0-9.]+)", (REPOSITORY / "CMakeLists.txt").read_text())
        self.assertEqual(self.text("--version").strip(), project[1])

    def test_the_guide_lists_what_the_registry_has(self):
        guide = (REPOSITORY / "comm" / "README.md").read_text()
        self.assertIn(self.text("algorithms", "--markdown"), guide)

    def test_operations_are_those_of_the_registry(self):
        operations = list(dict.fromkeys(a["op"] for a in json.loads(self.text("algorithms", "--json"))))
        for command in (("bench", "collective"), ("bench", "schedule"), ("schedule",), ("simulate",)):
            with self.subTest(command):
                self.assertIn(f"--op TEXT:{{{','.join(operations)}}}", self.text(*command, "--help"))

    def test_algorithms_table_and_json_agree(self):
        table = self.text("algorithms")
        registry = json.loads(self.text("algorithms", "--json"))
        self.assertGreaterEqual(len(registry), 7)
        for a in registry:
            self.assertRegex(table, rf"(?m)^{a['op']} +{re.escape(a['algorithm'])} ")
            self.assertTrue(a["source"] and a["summary"] and a["rounds"])

    def test_every_algorithm_verifies(self):
        for a in json.loads(self.text("algorithms", "--json")):
            for ranks in (1, 6):
                with self.subTest(op=a["op"], algorithm=a["algorithm"], ranks=ranks):
                    self.assertIn("verified", self.text("schedule", "--op", a["op"], "--algorithm", a["algorithm"], "--ranks",
                                                        ranks, "--verify"))

    def test_schedule_as_json_and_text(self):
        options = ("schedule", "--op", "gather", "--algorithm", "bnom", "--ranks", 5, "--root", 2)
        schedule = json.loads(self.text(*options, "--json"))
        self.assertEqual((schedule["operation"], schedule["ranks"], schedule["root"]), ("gather", 5, 2))
        kinds = [op["kind"] for program in schedule["programs"] for op in program]
        self.assertEqual(kinds.count("send"), 4)  # every rank but the root passes its blocks on once
        self.assertEqual(kinds.count("recv"), 4)
        text = self.text(*options, "--text")
        self.assertEqual(text, self.text(*options))
        self.assertEqual(text.count("send"), 4)

    def test_a_schedule_is_printed_in_one_form(self):
        result = run(command_line(("schedule", "--op", "gather", "--algorithm", "ls", "--ranks", 3, "--text", "--json")))
        self.assertEqual(result.returncode, 64)
        self.assertEqual(result.stdout, b"")
        (complaint,) = complaints(result.stderr)
        self.assertIn("--text", complaint)
        self.assertIn("--json", complaint)

    def test_a_schedule_has_as_many_ranks_as_its_hosts(self):
        result = run(command_line(("schedule", "--op", "gather", "--algorithm", "lin@hosts", "--ranks", 4, "--hosts", "3x3")))
        self.assertEqual((result.returncode, result.stdout), (64, b""))
        self.assertEqual(complaints(result.stderr), ["papfft: --hosts 3x3 is for 9 ranks, and --ranks says 4"])

    def test_info_says_where_settings_come_from(self):
        text = self.text("info", "--threads", 2, environment={"PAPFFT_WAIT": "nap", "PAPFFT_NAP_US": "77"})
        for pattern in (r"--threads +2 +command line", r"--wait +nap +environment PAPFFT_WAIT",
                        r"--gather +auto +default \(or PAPFFT_GATHER\)", r"longest nap, us +77 +environment PAPFFT_NAP_US"):
            self.assertRegex(text, pattern)
        self.assertRegex(text, rf"{len(os.sched_getaffinity(0))} cores for this process")
        for line in text.partition("settings\n")[2].splitlines():  # a name, a value, an origin, with room between them
            self.assertRegex(line, r"^  \S.*?  +\S+  +(command line|environment|default)")
        self.assertRegex(text, r"chunk of credit, bytes +\d+ ")

    def test_environment_is_overridden_by_the_command_line(self):
        text = self.text("info", "--wait", "yield", environment={"PAPFFT_WAIT": "nap"})
        self.assertRegex(text, r"--wait +yield +command line")


class CompletionTest(ProgramTest):
    def complete(self, *words):
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _papfft; printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-c", script, "bash", REPOSITORY / "app" / "completion" / "papfft.bash", PROGRAM, *words],
                                stdout=subprocess.PIPE, check=True, timeout=60)
        return result.stdout.decode().split()

    def test_algorithms_also_in_the_background(self):
        self.assertEqual(self.complete("transform", "--gather", "bs"), ["bsls", "bsbn"])
        self.assertEqual(self.complete("transform", "--scatter", "sl"), ["sln"])
        self.assertIn("bcredit", self.complete("bench", "fft", "--gathers", ""))
        names = self.complete("schedule", "--op", "gather", "--algorithm", "")
        self.assertIn("sls", names)
        self.assertNotIn("bsls", names)

    def test_values_of_options_that_take_a_few_words(self):
        for words, values in ((("transform", "--precision", ""), {"float", "double"}),
                              (("spectrogram", "--window", "h"), {"hann", "hamming"}),
                              (("simulate", "--ports", ""), {"bi", "uni"}),
                              (("simulate", "--combining", "o"), {"overlapped"}),
                              (("bench", "collective", "--type", ""), {"float", "uint32"}),
                              (("bench", "collective", "--work", "s"), {"sleep", "spin"}),
                              (("experiment", "--where", ""), {"simulator", "cluster", "all"}),
                              (("transform", "--engine", "f"), {"farm"}),
                              (("bench", "collective", "--op", "=", "all"), {"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv"}),
                              (("bench", "s"), {"schedule"})):
            with self.subTest(words):
                self.assertEqual(set(self.complete(*words)), values)

    def test_the_program_declares_the_values(self):
        for command, option, some in ((("transform",), "--engine", {"auto", "dif", "stream", "farm", "alone"}),
                                      (("bench", "fft"), "--engines", {"dif", "mpi-fftw", "fftw-measure"}),
                                      (("info",), "--wait", {"spin", "yield", "nap", "auto"}),
                                      (("psd",), "--progress", {"auto", "always", "never"}),
                                      (("correlate",), "--window", {"boxcar", "tukey"}),
                                      (("psd",), "--read", {"root", "parallel"}),
                                      (("tune",), "--domain", {"complex", "real"}),
                                      (("bench", "local"), "--precision", {"float", "double"})):
            with self.subTest(command=command, option=option):
                text = self.papfft(*command, "--help").stdout.decode()
                declared = re.search(rf"^ +{option} TEXT:{{(.*?)}}", text, re.MULTILINE)[1].split(",")
                self.assertLessEqual(some, set(declared))
                self.assertEqual(self.complete(*command, option, ""), declared)
                self.assertNotIn(f"{option})", (REPOSITORY / "app" / "completion" / "papfft.bash").read_text())

    def test_lists_and_the_benchmarks_own_peers(self):
        self.assertEqual(self.complete("bench", "collective", "--op", "gather", "--algorithms", "ls,bsl"), ["ls,bsls"])
        names = self.complete("bench", "collective", "--op", "bcast", "--algorithms", "mpi")
        self.assertEqual(names, ["mpi", "mpi-best"])
        self.assertIn("--measure-link", self.complete("bench", "collective", "--m"))

    def test_arrival_patterns(self):
        patterns = self.complete("transform", "--delay", "")
        self.assertLessEqual({"none", "uniform:", "late:", "k-late:", "trace:"}, set(patterns))
