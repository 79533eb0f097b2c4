# SPDX-License-Identifier: MIT
"""papfft experiment: that the files are sound, and that a verdict follows from the data."""

import functools
import json
import os
import re
import subprocess

from support import REPOSITORY, ProgramTest, command_line, complaints, run

FOLDER = REPOSITORY / "app" / "experiments"


class ExperimentTest(ProgramTest):
    def experiment(self, name="mine.json", **more):
        document = {"title": "A title", "source": "GRD Table III", "commands": [
            ["simulate", "--algorithms", "bnom,chain", "--ranks", "8", "--bytes", "1K", "--segments", "1", "--alpha", "10ns",
             "--beta", "1", "--gamma", "0"]]}
        self.path(name).write_text(json.dumps({**document, **more}))
        return name

    @staticmethod
    def statement(least, most=None, **more):
        # 3 rounds against 7
        return {"what": "pipeline / binomial", "of": {"algorithm": "chain"}, "to": {"algorithm": "bnom"}, "paper": 2.333,
                "least": least, **({} if most is None else {"most": most}), **more}

    def verdict(self, *statements, **more):
        name = self.experiment(expect=statements, **more)
        said = self.papfft("experiment", name, "-o", "out").stdout.decode()
        return said.splitlines()[-1]

    def test_a_verdict_follows_from_the_ratio(self):
        self.assertEqual(self.verdict(self.statement(2)), "mine: reproduced, 1 of 1 statements, first: 2.333 (paper 2.333)")
        self.assertIn("not reproduced, 0 of 1", self.verdict(self.statement(2.4)))
        self.assertIn("not reproduced, 0 of 1", self.verdict(self.statement(1, 2)))
        self.assertIn("in part, 1 of 2", self.verdict(self.statement(2), self.statement(3)))
        time = {"what": "time", "of": {"algorithm": "bnom", "ranks": 8, "bytes": 1024}, "least": 3102, "most": 3102}
        self.assertIn("reproduced, 1 of 1 statements, first: 3102.0", self.verdict(time))
        # What was not measured does not count, but something must have been.
        self.assertIn("reproduced, 1 of 1", self.verdict(self.statement(2), self.statement(9, of={"algorithm": "ring"})))
        self.assertEqual({"index.html", "mine.html", "mine-1.json", "mine.log", "experiments.json"}, set(os.listdir(self.path("out"))))
        page = self.path("out/mine.html").read_text()
        for words in ("not measured", "GRD Table III: A title", "2.333", "<svg", "Measured: full, "):
            self.assertIn(words, page)
        self.assertNotIn('class="n">pipeline', page)  # words stand left, numbers right
        self.assertIn('class="n">2.333', page)
        self.assertIn('href="./mine.html"', self.path("out/index.html").read_text())

    def test_what_cannot_be_run_is_said(self):
        self.assertEqual(self.verdict(commands=[], skipped="nobody has it"), "mine: skipped; nobody has it")
        for change, said in (({"commands": [["simulate", "--algorithms", "magic"]]}, "command 1 failed (code 64)"),
                             ({"expect": [self.statement(1, of={"algorithm": "ring"})]}, "nothing that it expects was measured")):
            result = run(command_line(("experiment", self.experiment(**change), "-o", "out")), cwd=self.folder)
            self.assertEqual(result.returncode, 70)
            self.assertIn("mine: failed; ", result.stdout.decode())
            self.assertIn(said, result.stdout.decode())

    def test_without_the_rights_a_cluster_is_skipped(self):
        if os.geteuid() != 0 or subprocess.run(["setpriv", "--version"], capture_output=True).returncode != 0:
            self.skipTest("needs root, to become somebody else")
        name = self.experiment(hosts=3)
        os.chmod(self.folder, 0o777)
        result = run(["setpriv", "--reuid", "65534", "--clear-groups", *command_line(("experiment", name, "-o", "out"))],
                     cwd=self.folder)
        if result.returncode == 126 or b"Permission denied" in result.stderr:
            self.skipTest("others cannot run the program where it was built")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(result.stdout.decode(),
                         "mine: skipped; needs 3 hosts of the virtual cluster, which only root can build\n")

    def test_what_was_measured_can_be_judged_again(self):
        name = self.experiment(expect=[self.statement(2), self.statement(3)], method="A | B", commands=[
            ["simulate", "--algorithms", "bnom,chain", "--ranks", "8", "--bytes", "1K", "--segments", "1", "--alpha", "10ns",
             "--beta", "1", "--gamma", "0"]])
        said = self.papfft("experiment", name, "-o", "out", "--quick", "--markdown", "first.md").stdout
        record = json.loads(self.path("out/experiments.json").read_text())["mine"]
        self.assertRegex(record["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertTrue(record["quick"])
        self.assertEqual(record["verdict"], "in part")
        self.assertEqual(self.papfft("experiment", name, "--from", "out", "--markdown", "again.md").stdout, said)
        page = self.path("again.md").read_text()
        self.assertEqual(self.path("first.md").read_text(), page)
        for words in ("| [GRD Table III](#mine): A title | in part | 1 of 2 | short form, ", "Here: A | B.",
                      "| pipeline / binomial | 2.333 | 2.333 | at least 2 | reproduced |"):
            self.assertIn(words, page)
        # Stricter bounds, the same measurement.
        self.experiment(expect=[self.statement(2.5)])
        self.assertIn("not reproduced, 0 of 1", self.papfft("experiment", name, "--from", "out").stdout.decode())
        self.experiment("other.json", expect=[self.statement(2)])
        self.assertIn("other: skipped; not run", self.papfft("experiment", "other.json", "--from", "out").stdout.decode())

    def test_where(self):
        name = self.experiment(expect=[self.statement(2)])
        self.assertEqual(self.papfft("experiment", name, "-o", "out", "--where", "cluster").stdout, b"")
        self.assertIn(b"mine: reproduced", self.papfft("experiment", name, "-o", "out", "--where", "simulator").stdout)

    def test_the_page_in_docs_is_that_of_the_results(self):
        folder, = (REPOSITORY / "data" / "results").glob("*-experiments")
        result = run(command_line(("experiment", "--all", "--from", folder.relative_to(REPOSITORY), "--markdown",
                                   self.path("page.md"))), cwd=REPOSITORY)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(self.path("page.md").read_text(), (REPOSITORY / "docs" / "paper-versus-ours.md").read_text(),
                         "an experiment's file or the results changed; the page's first lines say how to write it anew")

    @functools.cache
    def help_of(self, words):
        return self.papfft(*words, "--help").stdout.decode()

    def test_figures_of_one_measurement_share_it(self):
        names = [self.experiment(f"{name}.json", expect=[self.statement(least)]) for name, least in (("a", 2), ("b", 3))]
        said = self.papfft("experiment", *names, "-o", "out").stdout.decode().splitlines()
        self.assertEqual([line.split(",")[0] for line in said], ["a: reproduced", "b: not reproduced"])
        self.assertEqual(self.path("out/a-1.json").read_bytes(), self.path("out/b-1.json").read_bytes())
        self.assertTrue(self.path("out/a.log").exists())
        self.assertFalse(self.path("out/b.log").exists(), "the command was run again")

    def test_other_libraries_need_a_platform(self):
        name = self.experiment(commands=[["smpi:mpich", "simulate", "--op", "bcast", "--ranks", "4", "--bytes", "1K"]])
        result = run(command_line(("experiment", name, "-o", "out")), cwd=self.folder)
        self.assertEqual(result.returncode, 64)
        self.assertIn("smpi: is for simulate --platform", complaints(result.stderr)[0])

    def test_the_papers_experiments_are_sound(self):
        listed = self.papfft("experiment", "--list").stdout.decode().splitlines()[1:]
        self.assertEqual([line.split()[0] for line in listed], sorted(path.stem for path in FOLDER.glob("*.json")))
        for path in FOLDER.glob("*.json"):
            with self.subTest(path.stem):
                document = json.loads(path.read_text())
                for command in document.get("commands", []) + document.get("quick", []):
                    command = command[1:] if command[0].startswith(("ranks:", "smpi:")) else command
                    # Every option is known to the program. --help ends the parsing of a command whose words are right.
                    words = self.help_of(tuple(command[:1 if command[0] == "simulate" else 2]))
                    for option in (word for word in command if word.startswith("--")):
                        self.assertRegex(words, rf"{option}\b")
                measured = json.dumps(document.get("quick", document.get("commands")))
                expected = document.get("expect", [])
                self.assertEqual(bool(expected), "skipped" not in document)
                for expected_row in (e["of"] for e in expected if "--algorithms" in measured):
                    names = expected_row["algorithm"]
                    for name in [names] if isinstance(names, str) else names:
                        commands = json.dumps(document["commands"]).replace("smpi:", "smpi-")
                        self.assertRegex(commands, rf"\b{re.escape(name)}\b")

    def test_drawings_of_the_papers_end_when_they_say(self):
        said = self.papfft("experiment", "grd-fig-8", "--quick", "-o", "out").stdout.decode()
        self.assertEqual(said, "grd-fig-8: reproduced, 1 of 1 statements, first: 24.000 (paper 24.000)\n")

    def test_mistakes(self):
        def refused(code, *arguments):
            result = run(command_line(("experiment", *arguments)), cwd=self.folder)
            self.assertEqual(result.returncode, code, result.stderr.decode())
            said, = complaints(result.stderr)
            return said

        self.assertIn("no experiment 'magic'", refused(64, "magic"))
        self.assertIn("takes names", refused(64))
        self.assertIn("No such file", refused(65, "gone.json"))
        self.assertIn("has no experiments.json", refused(65, self.experiment(), "--from", "."))
        for text in ("", "[]", "{}", '{"title": 1, "source": "x"}', '{"title": "a", "source": "b"}',
                     '{"title": "a", "source": "b", "commands": [3]}'):
            with self.subTest(text):
                self.path("bad.json").write_text(text)
                self.assertIn("bad.json", refused(65, "bad.json"))
        self.path("file").write_text("")
        self.assertIn("cannot write", refused(73, self.experiment(), "-o", "file"))
