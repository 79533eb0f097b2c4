# SPDX-License-Identifier: MIT
"""Programs that know nothing of papfft, and libpapfft_mpi.so, both under ThreadSanitizer. Nothing is suppressed."""

import pathlib
import tempfile

from preload_test import LIBRARY, MPIEXEC, Programs, mpirun, ranks_of
from real_programs import write_decisions


class RacesTest(Programs):
    def require_none(self, program, ranks, **variables):
        """Calls of ours wherever there is an algorithm of ours. The sanitizer says what it has found, and ends the program with a code of its own."""
        with tempfile.TemporaryDirectory() as folder:
            decisions = pathlib.Path(folder) / "decisions"
            write_decisions(decisions, MPIEXEC, ranks)
            # The MPI library is not instrumented: what it does with memory is not looked at. A report has addresses, which llvm-symbolizer
            # understands: if the sanitizer called that itself, our library would be preloaded there, too.
            settings = {"LD_PRELOAD": LIBRARY, "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 symbolize=0", "PAPFFT_PRELOAD_BYTES": 1,
                        "PAPFFT_PRELOAD_OPERATIONS": "all", "PAPFFT_DECISIONS": decisions, **variables}
            done = mpirun(ranks_of(program, ranks, settings), timeout_s=1700)
        self.assertNotIn("ThreadSanitizer", done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_two_threads_and_many_communicators(self):
        self.require_none("soak 10000 200", 2, PAPFFT_PRELOAD_COMMUNICATORS=200)

    def test_started_calls(self):
        self.require_none("conformance started", 2, PAPFFT_NONBLOCKING=1, PAPFFT_THREAD="multiple")
