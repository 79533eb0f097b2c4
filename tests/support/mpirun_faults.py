# SPDX-License-Identifier: MIT
"""What mpirun of Open MPI 4.1 does wrong by itself, now and then. It says nothing about the job."""

import signal
import subprocess

TRIES = 3


def has_crashed(code, said):
    """When its standard input ends (open-mpi/ompi issue 7483). @param code  of a process or a shell @param said  on standard error"""
    return code in (-signal.SIGSEGV, 128 + signal.SIGSEGV) and "orte_iof_hnp_read_local_handler" in said


def is_mpiruns_own(code, said):
    if code == 0:
        return False
    # It sees the end of a rank before it knows that the rank has finalized (issue 7833: once in some thousand jobs).
    has_missed_the_end = "exiting improperly" in said and "papfft:" not in said
    # Its daemons lose each other where the machine is busy with other things.
    has_lost_daemons = "help-errmgr-base.txt / no-path" in said
    return has_crashed(code, said) or has_missed_the_end or has_lost_daemons


def run(words, **options):
    """subprocess.run() with what is printed kept, once more when mpirun fails by itself. All tries with a bug of ours would have to look so."""
    usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | ({} if "input" in options else {"stdin": subprocess.DEVNULL})
    for _ in range(TRIES):
        done = subprocess.run(words, **(usual | options))
        said = done.stdout if options.get("stderr") == subprocess.STDOUT else done.stderr
        if not is_mpiruns_own(done.returncode, said if isinstance(said, str) else said.decode(errors="replace")):
            break
    return done
