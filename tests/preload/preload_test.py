# SPDX-License-Identifier: MIT
"""Programs that know nothing of papfft, with libpapfft_mpi.so preloaded and without."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import mpirun_faults

PROGRAMS = pathlib.Path(os.environ["PAPFFT_PROGRAMS"])
LIBRARY = os.environ["PAPFFT_PRELOADED"]
MPIEXEC = os.environ["PAPFFT_MPIEXEC"]
KNOWN_EVERYWHERE = ["scatter", "gather", "bcast", "reduce", "allgather", "allgatherv", "allreduce", "reduce_scatter", "alltoall"]
KNOWN_TO_OWNERS = ["gatherv", "scatterv", "alltoallv"]


IS_MPICH = "HYDRA" in subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, timeout=60).stdout


def command_of(program):
    """@param program  a binary and maybe arguments, or a Python program of the folder programs"""
    name, *arguments = program.split()
    if name.endswith(".py"):
        return [sys.executable, str(pathlib.Path(__file__).with_name("programs") / name), *arguments]
    return [str(PROGRAMS / name), *arguments]


def ranks_of(program, ranks, variables):
    """A part of mpirun's command line."""
    settings = [word for name, value in variables.items()
                for word in (("-env", name, str(value)) if IS_MPICH else ("-x", f"{name}={value}"))]
    return ["-n", str(ranks), *([] if IS_MPICH else ["--bind-to", "none"]), *settings, *command_of(program)]


def mpirun(*parts, timeout_s=240):
    """@param parts  each what ranks_of() returns"""
    words = [word for part in parts for word in ([":"] if part is not parts[0] else []) + part]
    return mpirun_faults.run([MPIEXEC, *words], text=True, timeout=timeout_s)


class Summary:
    """What the library says of a run, or that it has said nothing."""

    def __init__(self, text):
        said = json.loads(text) if text else {"calls": [], "passed": [], "mode": None}
        self.mode = said["mode"]
        self.calls = said["calls"]
        self.passed = said["passed"]

    def ours(self, operation=None):
        return sum(row["ours"] for row in self.calls if operation in (None, row["operation"]))

    def seen(self, operation=None):
        return sum(row["ours"] + row["passed"] for row in self.calls if operation in (None, row["operation"]))

    def reasons(self):
        return {row["reason"] for row in self.passed}


class Programs(unittest.TestCase):
    def run_preloaded(self, program, ranks, arguments=(), **variables):
        """Runs a program, which checks its results by itself. @return its Summary and how it has ended"""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            settings = {"LD_PRELOAD": LIBRARY, "PAPFFT_PRELOAD_REPORT": report, **variables}
            done = mpirun([*ranks_of(program, ranks, settings), *arguments])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return Summary(report.read_text() if report.exists() else ""), done

    def preloaded(self, program, ranks, **variables):
        """@return the program's Summary and its standard error"""
        summary, done = self.run_preloaded(program, ranks, **variables)
        return summary, done.stderr

    def without(self, program, ranks, arguments=()):
        """@return what the program prints"""
        done = mpirun([*ranks_of(program, ranks, {}), *arguments])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class StockTest(Programs):
    """The programs themselves are right."""

    def test_conformance(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                self.without("conformance", ranks)


class OnTest(Programs):
    def test_every_operation_is_ours_where_ranks_are_several(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                summary, _ = self.preloaded("conformance", ranks)
                for operation in KNOWN_EVERYWHERE:
                    self.assertGreater(summary.ours(operation), 0, operation)
                for operation in KNOWN_TO_OWNERS:
                    self.assertEqual(summary.ours(operation), 0, operation)
                self.assertLessEqual({"short", "invalid argument", "one rank", "operation not commutative",
                                      "operation and datatype unknown together"}, summary.reasons())

    def test_one_rank_passes(self):
        summary, _ = self.preloaded("conformance", 1)
        self.assertEqual(summary.ours(), 0)
        self.assertGreater(summary.seen(), 0)


class AllOperationsTest(Programs):
    def test_sizes_that_only_their_owners_know(self):
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                summary, _ = self.preloaded("conformance", ranks, PAPFFT_PRELOAD_OPERATIONS="all", PAPFFT_PRELOAD_BYTES=1)
                for operation in KNOWN_EVERYWHERE + KNOWN_TO_OWNERS:
                    self.assertGreater(summary.ours(operation), 0, operation)


class AlltoallwTest(Programs):
    """Counted with alltoallv."""

    def test_seen(self):
        summary, _ = self.preloaded("memory alltoallw 100000 4", 2)
        self.assertEqual((summary.seen("alltoallv"), summary.ours("alltoallv")), (2 * 4, 0))
        self.assertEqual(summary.reasons(), {"operation not taken"})

    def test_served(self):
        summary, _ = self.preloaded("memory alltoallw 100000 4", 2, PAPFFT_PRELOAD_OPERATIONS="alltoallv", PAPFFT_GUARD=0)
        self.assertEqual((summary.seen("alltoallv"), summary.ours("alltoallv")), (2 * 4, 2 * 4))


class MemoryTest(Programs):
    def test_a_call_that_repeats_is_planned_once(self):
        """Both a call that `auto` leaves to MPI and one of ours."""
        for arguments, ours in ((("allreduce", "80000"), 0), (("bcast", "1048576"), 2 * 40)):
            with self.subTest(arguments=arguments):
                summary, done = self.run_preloaded("memory", 2, [*arguments, "40"], PAPFFT_GUARD=0)
                self.assertEqual(summary.ours(), ours)
                self.assertEqual(re.findall(r"least allocations (\d+)", done.stdout), ["0", "0"], done.stdout)

    @unittest.skipIf(IS_MPICH, "Open MPI's mpirun")
    def test_a_rank_without_memory_ends_the_job(self):
        """At once, wherever it is missing: others may wait for that rank."""
        for fails_at in (1, 2, 5, 20, 60):
            with self.subTest(fails_at=fails_at):
                done = mpirun([*ranks_of("memory", 3, {"LD_PRELOAD": LIBRARY}), "bcast", "1048576", "3", str(fails_at)])
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertIn("papfft preload: MPI_Bcast: std::bad_alloc", done.stderr)


class StartedRefusedTest(Programs):
    def test_mpich_cannot_wait_for_them(self):
        if IS_MPICH:
            _, said = self.preloaded("overlap", 2, PAPFFT_NONBLOCKING=1)
            self.assertIn("PAPFFT_NONBLOCKING=1 needs Open MPI", said)


@unittest.skipIf(IS_MPICH, "refused")
class StartedTest(Programs):
    """MPI_Ibcast and so on."""

    def test_they_are_ours_if_asked_for(self):
        summary, _ = self.preloaded("conformance started", 3, PAPFFT_NONBLOCKING=1)
        for operation in KNOWN_EVERYWHERE:
            self.assertGreater(summary.ours(operation), 0, operation)
        self.assertIn("started, with an operation of the program's", summary.reasons())

    def test_persistent_ones_are_ours_if_asked_for(self):
        summary, _ = self.preloaded("conformance persistent", 3, PAPFFT_NONBLOCKING=1)
        for operation in KNOWN_EVERYWHERE:
            self.assertGreater(summary.ours(operation), 0, operation)
        self.assertIn("started, with an operation of the program's", summary.reasons())

    def test_they_pass_unless_asked_for(self):
        """But for the few blocking calls of that program."""
        summary, _ = self.preloaded("conformance started", 2)
        self.assertLess(summary.seen(), 20)

    def test_they_pass_without_the_thread_level(self):
        for level, reason in (("program", "started, without MPI_THREAD_MULTIPLE on all ranks"), ("multiple", None)):
            with self.subTest(level=level):
                summary, _ = self.preloaded("overlap", 2, PAPFFT_NONBLOCKING=1, PAPFFT_THREAD=level)
                self.assertEqual(summary.ours("allreduce") == 0, reason is not None)
                self.assertLessEqual({reason} - {None}, summary.reasons())


class LargeTest(Programs):
    """MPI_Bcast_c and so on, where MPI has them."""

    def test_counts_of_another_kind(self):
        if not IS_MPICH:
            return
        summary, _ = self.preloaded("conformance large", 2)
        for operation in KNOWN_EVERYWHERE:
            self.assertGreater(summary.ours(operation), 0, operation)


class SoakTest(Programs):
    def test_two_threads_and_many_communicators(self):
        for variables in ({"PAPFFT_PRELOAD_BYTES": 1024, "PAPFFT_PRELOAD_OPERATIONS": "all"}, {"PAPFFT_REPRODUCIBLE": 1}):
            with self.subTest(variables=variables):
                summary, _ = self.preloaded("soak 600 20", 3, PAPFFT_PRELOAD_COMMUNICATORS=64, **variables)
                self.assertGreater(summary.ours(), 0)


class LongSoakTest(Programs):
    def test_memory_does_not_grow(self):
        """The program fails if its second half takes 500 KB more than the first."""
        variables = {"LD_PRELOAD": LIBRARY, "PAPFFT_PRELOAD_BYTES": 1024, "PAPFFT_PRELOAD_OPERATIONS": "all",
                     "PAPFFT_PRELOAD_COMMUNICATORS": 64}
        done = mpirun(ranks_of("soak 300000 200 500", 3, variables), timeout_s=1700)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class ValgrindTest(Programs):
    """Wrong uses of memory, and what is lost. Open MPI and what it is made of have some of their own: of interest is what begins in ours."""

    @staticmethod
    def errors_of(binary, text):
        """Those whose first place outside of the C and C++ libraries is there."""
        text = re.sub(r"^==\d+== ?", "", text, flags=re.M)
        for error in re.split(r"\n\s*\n", text):
            for frame in re.findall(r"\n +(?:at|by) .*\(in (.*)\)", error):
                if re.search(r"/(vgpreload_|libstdc\+\+|libc\.)", frame):
                    continue
                if frame.endswith(f"/{binary}"):
                    yield error
                break

    def check(self, program, binary, **variables):
        """@param binary  what is of interest: the program, or the library"""
        valgrind = shutil.which("valgrind")
        self.assertIsNotNone(valgrind, "Debian: valgrind")
        with tempfile.TemporaryDirectory() as folder:
            words = ranks_of(program, 2, variables)
            at = words.index(command_of(program)[0])
            words[at:at] = [valgrind, "--leak-check=full", "--show-leak-kinds=definite", f"--log-file={folder}/%p"]
            done = subprocess.run([MPIEXEC, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1700)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            logs = [log.read_text() for log in pathlib.Path(folder).iterdir()]
            self.assertEqual(sum("ERROR SUMMARY" in log for log in logs), 2)
            self.assertEqual([error for log in logs for error in self.errors_of(binary, log)], [])

    def test_two_threads_and_many_communicators(self):
        self.check("soak 300 12", "libpapfft_mpi.so", LD_PRELOAD=LIBRARY, PAPFFT_PRELOAD_BYTES=1024, PAPFFT_PRELOAD_OPERATIONS="all",
                   PAPFFT_PRELOAD_COMMUNICATORS=64)

    def test_c_interface(self):
        for program in ("papfft_pat_test results", "papfft_pat_test persistent", "papfft_pat_test misuse", "papfft_sessions_test sessions",
                        "papfft_sessions_test forgotten", "papfft_example_pat_gather"):
            with self.subTest(program):
                self.check(f"../c_api/{program}", program.split()[0])


class FewCommunicatorsTest(Programs):
    def test_no_more_than_the_setting_says(self):
        summary, _ = self.preloaded("conformance", 3, PAPFFT_PRELOAD_COMMUNICATORS=1)
        self.assertIn("too many communicators", summary.reasons())
        self.assertGreater(summary.ours(), 0)

    def test_none(self):
        summary, _ = self.preloaded("conformance", 2, PAPFFT_PRELOAD_COMMUNICATORS=0)
        self.assertEqual(summary.ours(), 0)


class ModesTest(Programs):
    def test_off(self):
        summary, said = self.preloaded("conformance", 2, PAPFFT_PRELOAD="off")
        self.assertIsNone(summary.mode)
        self.assertEqual(said, "")

    def test_observe(self):
        summary, _ = self.preloaded("conformance", 2, PAPFFT_PRELOAD="observe")
        self.assertEqual(summary.mode, "observe")
        self.assertEqual(summary.ours(), 0)
        for operation in KNOWN_EVERYWHERE + KNOWN_TO_OWNERS:
            self.assertGreater(summary.seen(operation), 0, operation)

    def test_nothing_is_printed_unless_asked_for(self):
        done = mpirun(ranks_of("repeat", 2, {"LD_PRELOAD": LIBRARY}))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_text(self):
        _, said = self.preloaded("repeat", 2, PAPFFT_PRELOAD_REPORT="-")
        self.assertIn("papfft preload: mode on, 2 ranks, ", said)


class ObserveTest(Programs):
    def test_who_waits_for_whom(self):
        """Ranks come at times of their own, up to 50 ms apart, to 7 broadcasts of 1 MB."""
        with tempfile.TemporaryDirectory() as folder:
            recording = pathlib.Path(folder) / "arrivals.csv"
            for mode, algorithm in (("observe", "mpi"), ("on", "ours")):
                with self.subTest(mode=mode):
                    variables = {"LD_PRELOAD": LIBRARY, "PAPFFT_PRELOAD": mode, "PAPFFT_PRELOAD_RECORDING": recording,
                                 "PAPFFT_PRELOAD_REPORT": "-", "PAPFFT_GUARD": 0}
                    done = mpirun([*ranks_of("repeat", 3, variables), "bcast", "1048576", "7", "50"])
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(done.stderr, r"\n  bcast +0 +1048576 +7 .* rank \d \(")
                    lines = recording.read_text().splitlines()
                    rows = [line.split(",") for line in lines if line[0].isdigit()]
                    self.assertEqual(len(rows), 3 * 7)
                    self.assertEqual({(row[2], row[3], row[4], row[5]) for row in rows}, {("bcast", algorithm, "0", "1048576")})
                    self.assertEqual(lines[-1], "# end: 21 rows")


class ReproducibleTest(Programs):
    def test_sums_are_the_same_in_all_calls(self):
        """Without the setting, the guard gives some of the calls to MPI's own algorithms."""
        done = mpirun(ranks_of("sums", 4, {"LD_PRELOAD": LIBRARY, "PAPFFT_REPRODUCIBLE": 1}))
        self.assertEqual(done.returncode, 0, done.stderr)
        sums = set(done.stdout.split("\n")) - {""}
        self.assertEqual(len(sums), 1 + 1 + 4 + 4, sums)


class MistakesTest(Programs):
    def test_a_wrong_setting_leaves_all_calls_to_mpi(self):
        summary, said = self.preloaded("repeat", 2, PAPFFT_PRELOAD="sometimes")
        self.assertIsNone(summary.mode)
        self.assertIn("PAPFFT_PRELOAD='sometimes': expected off, observe, on", said)

    def test_ranks_with_different_settings_leave_all_calls_to_mpi(self):
        parts = [ranks_of("repeat", 1, {"LD_PRELOAD": LIBRARY, "PAPFFT_PRELOAD": mode, "PAPFFT_PRELOAD_REPORT": "-"})
                 for mode in ("on", "off")]
        done = mpirun(*parts)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the ranks have different settings", done.stderr)
        self.assertNotIn("mode on", done.stderr)


class FailuresTest(Programs):
    def test_a_failure_goes_to_the_programs_error_handler(self):
        done = mpirun(ranks_of("failing", 2, {"LD_PRELOAD": LIBRARY, "PAPFFT_STUCK_MS": 200}))
        self.assertIn("rank 0: MPI_ERR_OTHER, handled 1", done.stdout)
        self.assertIn("papfft preload: MPI_Bcast: no progress for 200 ms: rank 0 waits for rank 1", done.stderr)


class DisagreeingTest(Programs):
    """Of what all ranks know, one of them tells."""

    def one_line(self, what, **variables):
        settings = {"LD_PRELOAD": LIBRARY, "PAPFFT_GUARD": 0, **variables}
        done = mpirun(ranks_of(f"disagreeing {what}", 3, settings), timeout_s=60)
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("papfft preload: ")]
        self.assertEqual(len(said), 1, done.stdout + done.stderr)
        return said[0], done

    def test_operations_and_datatypes(self):
        for what, other in (("operation", "MPI_MAX on MPI_DOUBLE"), ("datatype", "MPI_SUM on MPI_INT64_T")):
            with self.subTest(what=what):
                said, done = self.one_line(what, PAPFFT_CHECK=1)
                self.assertRegex(said, f"MPI_Allreduce: the ranks do not agree: rank 0 .* by MPI_SUM on MPI_DOUBLE; rank 2 .* by {other}$")
                self.assertNotEqual(done.returncode, 0)

    def test_a_rank_whose_call_is_too_short_is_waited_for(self):
        """While the library makes a communicator, and later."""
        for what, call in (("first", "MPI_Bcast of 2097152 bytes"), ("second", "in the check of bcast")):
            with self.subTest(what=what):
                said, done = self.one_line(what, PAPFFT_CHECK=1, PAPFFT_STUCK_MS=500)
                self.assertIn(call, said)
                self.assertNotIn("gather", said)
                self.assertNotEqual(done.returncode, 0)

    def test_a_table_that_is_none(self):
        with tempfile.NamedTemporaryFile("w") as table:
            table.write("rubbish\n")
            table.flush()
            said, done = self.one_line("", PAPFFT_DECISIONS=table.name)
            self.assertIn("no table of decisions", said)
            self.assertEqual(done.returncode, 0)


class ThreadsTest(Programs):
    def test_threads_on_communicators_of_their_own(self):
        """Open MPI 4.1 hangs here if the library makes communicators beside the threads."""
        ranks, program = (2, "threads") if IS_MPICH else (4, "threads 4")  # MPICH's waiting threads take a core each
        self.without(program, ranks)
        summary, _ = self.preloaded(program, ranks)
        self.assertGreater(summary.ours(), 0)
        self.assertIn("not on MPI_COMM_WORLD, in a program with threads", summary.reasons())

    def test_a_thread_level_that_the_program_has_not_asked_for(self):
        self.preloaded("conformance", 2, PAPFFT_THREAD="multiple")


class FortranTest(Programs):
    def test_interfaces(self):
        for program in ("fortran_mpif", "fortran_f08"):
            if not (PROGRAMS / program).exists():
                self.skipTest("no Fortran compiler")
            with self.subTest(program=program):
                self.without(program, 3)
                summary, _ = self.preloaded(program, 3)
                for operation in ("bcast", "allreduce", "gather"):
                    self.assertGreater(summary.ours(operation), 0, operation)
                # Open MPI's Fortran functions call the C ones: each call is seen once.
                self.assertEqual(summary.seen("allreduce"), 3 * 2)


def without_times(text):
    return re.sub(r"[0-9.]+ (ms|s)\b", r"? \1", text)


class UsersTest(Programs):
    """Programs as their users write them, which check their results. What they print, times aside, is the same with the library."""

    def compare(self, program, ranks, arguments, ours, **variables):
        """@param ours  operations of which papfft must have carried out calls"""
        if program.endswith(".py") and importlib.util.find_spec("mpi4py") is None:
            self.skipTest("no mpi4py (Debian: python3-mpi4py)")
        if not program.endswith(".py") and not (PROGRAMS / program).exists():
            self.skipTest("no Fortran compiler")
        summary, done = self.run_preloaded(program, ranks, arguments, **variables)
        self.assertEqual(without_times(done.stdout), without_times(self.without(program, ranks, arguments)))
        for operation in ours:
            self.assertGreater(summary.ours(operation), 0, operation)

    def test_training_in_python(self):
        self.compare("train.py", 3, ["--steps", "4"], ["allreduce"])

    def test_histograms_in_fortran(self):
        self.compare("histogram", 3, ["3"], ["reduce", "allreduce"], PAPFFT_THREAD="multiple")

    def test_one_collective_again_and_again(self):
        for program, operation in (("repeat.py", "gather"), ("repeat_fortran", "gather"), ("repeat_fortran", "reduce")):
            with self.subTest(program=program, operation=operation):
                self.compare(program, 3, [operation, "1048576", "5", "2"], [operation])
