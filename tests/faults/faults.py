# SPDX-License-Identifier: MIT
"""The faults: what is drawn, how it is done, and what may be seen of it."""

import dataclasses
import errno
import os
import pathlib
import signal
import stat
import subprocess
import time

from jobs import PROGRAM, SHIM


@dataclasses.dataclass
class Fault:
    """at: the moment, as a share of the undisturbed run. commands: for the shell that starts one rank. may_be_silent: nobody can
    say a line, as it was killed. breaks_mpi: what Open MPI does of it is its own (crashes, files that it leaves)."""
    name: str
    at: float = 0.0
    rank: int = 0
    commands: str = ""
    other_arguments: tuple = ()
    may_be_silent: bool = False
    breaks_mpi: bool = False
    changes_input: bool = False
    is_refused: bool = False  # no job may begin with it
    codes: tuple = ()
    prepare: object = None   # prepare(case), before the job
    act: object = None       # act(running, case), at the moment; False: nobody was there any more
    undo: object = None      # undo(running), after the job
    needs_cluster: bool = False
    cluster_options: tuple = ()  # of cluster up, for this job alone
    lasts_s: float = 0.0
    is_lasting_stop: bool = False
    is_from_begin: bool = False  # whatever `at` says

    def __str__(self):
        return f"{self.name} at {self.at:.2f} of the run"


def send(target, number, then_continue_s=None):
    def act(running, _):
        pid = running.pid_of(target)
        if pid is None:
            return False
        try:
            os.kill(pid, number)
            if then_continue_s is not None:
                time.sleep(then_continue_s)
                os.kill(pid, signal.SIGCONT)
        except OSError:
            pass  # ended meanwhile
        return True
    return act


def signal_fault(draw, job):
    """A signal to a rank or to mpirun."""
    launched = job.ranks > 0
    target = draw.choice([*range(max(1, job.ranks))] + (["mpirun"] if launched else []))
    number = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
    to_mpirun = target == "mpirun"
    return Fault(f"{number.name} to {'mpirun' if to_mpirun else 'a rank'}", rank=0 if to_mpirun else target,
                 codes=(128 + number, -number, 1 if to_mpirun else 128 + number, 75, 143, 130), may_be_silent=True,
                 breaks_mpi=to_mpirun or number == signal.SIGKILL, act=send(target, number))


def signals_fault(draw, job):
    """Signals to one rank while it handles the one before."""
    rank = draw.randrange(max(1, job.ranks))
    numbers = [draw.choice([signal.SIGTERM, signal.SIGINT, signal.SIGUSR1]) for _ in range(3)]
    pause_s = draw.choice([0, 0, 0.001, 0.02, 0.2])

    def act(running, _):
        pid = running.pid_of(rank)
        try:
            for number in numbers if pid is not None else ():
                os.kill(pid, number)
                time.sleep(pause_s)
        except OSError:
            pass  # ended meanwhile
        return pid is not None

    return Fault("signals while one is handled", rank=rank, codes=(75, 130, 143, 138, *(-n for n in numbers)), may_be_silent=True, act=act)


def slow_fault(draw, job):
    """A rank has a tenth of its processor for a while."""
    rank = draw.randrange(max(1, job.ranks))
    lasts_s = draw.choice([1.0, 5.0])

    def act(running, _):
        pid = running.pid_of(rank)
        end_s = time.monotonic() + lasts_s
        try:
            while pid is not None and time.monotonic() < end_s and running.process.poll() is None:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.045)
                os.kill(pid, signal.SIGCONT)
                time.sleep(0.005)
        except OSError:
            pass  # ended meanwhile
        return pid is not None

    return Fault("a rank ten times slower", rank=rank, act=act, lasts_s=lasts_s)


def clock_fault(draw, job):
    """The clock of one rank is set while it works; or its host was halted for a time that its steady clock counts."""
    rank = draw.randrange(max(1, job.ranks))
    name, clock, jump_s = draw.choice([("clock set back by an hour", "realtime", -3600), ("clock set forward by an hour", "realtime", 3600),
                                       ("steady clock jumps by 5 s", "monotonic", 5), ("steady clock jumps by a minute", "monotonic", 60)])
    commands = (f"export FAULT_CALL=clock FAULT_AT={int(10 ** draw.uniform(0, 4))} FAULT_CLOCK={clock} FAULT_JUMP_S={jump_s} "
                f"LD_PRELOAD=\"$LD_PRELOAD {SHIM}\"")
    # After a minute in which nothing has moved a rank gives up, as --stuck-after says.
    return Fault(name, rank=rank, commands=commands, codes=(74,) if jump_s == 60 else (), breaks_mpi=not job.is_ours,
                 may_be_silent=not job.is_ours)


def stop_fault(draw, job):
    """A rank or mpirun sleeps for a time; a rank, for ever."""
    launched = job.ranks > 0
    if not launched:
        return Fault("SIGSTOP for 1 s", act=send(0, signal.SIGSTOP, 1.0), lasts_s=1)
    if job.is_ours and draw.random() < 0.5:  # any other program has to look after itself
        rank = draw.randrange(job.ranks)
        return Fault("SIGSTOP of a rank for ever", rank=rank, codes=(74,), is_lasting_stop=True, act=send(rank, signal.SIGSTOP))
    seconds = draw.choice([1.0, 10.0])
    target = draw.choice([*range(job.ranks), "mpirun"])
    return Fault(f"SIGSTOP for {seconds:.0f} s", act=send(target, signal.SIGSTOP, seconds), lasts_s=seconds)


def shim_fault(draw, job):
    """The n-th call of a kind fails in one rank."""
    rank = draw.randrange(max(1, job.ranks))
    kind = draw.choice(["write", "write", "sync", "name", "open", "new", "new", "malloc", "thread"])
    if kind in ("write", "sync", "name") and draw.random() < 0.7:
        rank = 0  # which writes most
    at = {"write": lambda: draw.randint(1, 12), "sync": lambda: 1, "name": lambda: draw.randint(1, 2),
          "open": lambda: draw.randint(1, 4), "thread": lambda: draw.randint(1, 5)}.get(kind, lambda: int(10 ** draw.uniform(0, 4.3)))()
    code = draw.choice([errno.ENOSPC, errno.EIO]) if kind in ("write", "sync") else {"open": errno.EMFILE, "name": errno.EIO}.get(
        kind, errno.ENOMEM)
    times = 1000000 if code == errno.ENOSPC else 1
    name = {"write": f"{errno.errorcode[code]} at a write", "sync": f"{errno.errorcode[code]} at fsync", "name": "EIO at rename",
            "open": "EMFILE at open", "new": "operator new fails", "malloc": "malloc fails anywhere",
            "thread": "no thread can begin"}[kind]
    # The folder is put in when the job starts. No variable PAPFFT_..., which must be the same everywhere.
    commands = (f"export FAULT_CALL={kind} FAULT_AT={at} FAULT_TIMES={times} FAULT_ERRNO={code} FAULT_FOLDER=$PWD "
                f"LD_PRELOAD=\"$LD_PRELOAD {SHIM}\"")
    return Fault(name, rank=rank, commands=commands, codes=(70, 73, 65, 74) if kind != "malloc" else tuple(range(1, 256)),
                 may_be_silent=kind == "malloc" or not job.is_ours, breaks_mpi=kind == "malloc" or not job.is_ours)


def limit_fault(draw, job):
    """Less of something than the rank needs."""
    rank = draw.randrange(max(1, job.ranks))
    what, commands = draw.choice([
        ("few descriptors", f"ulimit -n {draw.choice([4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28])}"),
        ("little address space", f"ulimit -v {draw.choice([40, 60, 80, 100, 120, 150, 200, 250, 300, 400]) * 1000}"),
        ("small files only", f"ulimit -f {draw.choice([0, 1, 100, 800])}"),
    ])
    # Open MPI itself does not live long without descriptors and memory, and its own files are cut off as well.
    return Fault(what, rank=rank, commands=commands, codes=tuple(range(1, 256)), may_be_silent=True, breaks_mpi=True)


def folder_fault(draw, job):
    """Nobody may write there."""
    # Root gives up the right to pass over permissions.
    return Fault("read-only folder", codes=(73,), prepare=lambda case: (case / "work").chmod(0o555),
                 commands='[ "$(id -u)" != 0 ] || set -- setpriv --bounding-set=-all --inh-caps=-all "$@"')


def input_fault(draw, job):
    """The input changes while it is read, or is cut off."""
    cut = draw.random() < 0.5
    share = draw.random()

    def act(_, case):
        path = case / "work" / job.reads
        size = path.stat().st_size
        if cut:
            os.truncate(path, int(size * share))
        else:
            with open(path, "r+b") as file:
                file.seek(int(size * share))
                file.write(os.urandom(min(4096, size - int(size * share))))

    return Fault("input truncated" if cut else "input changed", codes=(65, 64), act=act, changes_input=True)


def while_it_runs(running, seconds=120):
    """Again and again whether the job still runs; the last time says that it does not."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        is_running = running.process.poll() is None
        yield is_running
        if not is_running:
            return


def pipe_in_fault(draw, job):
    """The input is a pipe, whose writer goes away."""
    share = draw.choice([draw.random(), 1.0])
    data = b""

    def prepare(case):
        nonlocal data
        path = case / "work" / job.reads
        data = path.read_bytes()
        data = data[:int(len(data) * share)]
        path.unlink()
        os.mkfifo(path)

    def act(running, case):
        left = memoryview(data)
        fd = -1
        for _ in while_it_runs(running):
            try:
                if fd < 0:
                    fd = os.open(case / "work" / job.reads, os.O_WRONLY | os.O_NONBLOCK)
                left = left[os.write(fd, left):]
            except BrokenPipeError:
                break
            except OSError:
                time.sleep(0.005)  # nobody reads yet, or the pipe is full
            if not left:
                break
        if fd >= 0:
            os.close(fd)

    return Fault("writer of a pipe goes away" if share < 1 else "input from a pipe", codes=(65, 64), prepare=prepare, act=act,
                 changes_input=True, is_from_begin=True)


PIPE_BYTES = 65536  # a pipe of Linux


def pipe_out_fault(draw, job):
    """The output is a pipe, whose reader goes away."""
    share = draw.choice([draw.random(), 1.0])
    name = job.output[0]
    got = bytearray()

    def prepare(case):
        os.mkfifo(case / "work" / name)

    def act(running, case):
        most = len(running.reference_bytes(name)) * share if share < 1 else float("inf")
        fd = os.open(case / "work" / name, os.O_RDONLY | os.O_NONBLOCK)
        for is_running in while_it_runs(running):
            try:
                part = os.read(fd, 65536)
            except BlockingIOError:
                part = b""  # its writer is at work
            got.extend(part)
            if len(got) > most or not (part or is_running):
                break
            if not part:
                time.sleep(0.005)
        os.close(fd)

    def undo(running):
        """What came out of the pipe is judged as a file would be."""
        path = running.case / "work" / name
        if not path.exists() or not stat.S_ISFIFO(path.stat().st_mode):
            return
        path.unlink()
        if running.process.poll() != 0:
            return
        # What a pipe holds unread, its writer cannot know. No two runs measure the same times, so of those nothing can be said.
        whole = running.reference_bytes(name)
        may_be_unread = share < 1 and len(whole) - len(got) <= PIPE_BYTES
        path.write_bytes(whole if may_be_unread and (whole.startswith(got) or path.suffix == ".json") else got)

    return Fault("reader of a pipe goes away" if share < 1 else "output to a pipe", codes=(73, 64), prepare=prepare, act=act, undo=undo,
                 is_from_begin=True)


def other_version(case):
    """A copy of the program that says to be of another version."""
    said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1].encode()
    code = pathlib.Path(PROGRAM).read_bytes()
    other = code.replace(b"\0" + said + b"\0", b"\0" + b"9" + said[1:] + b"\0")
    assert other != code, said
    path = case / "papfft"
    path.write_bytes(other)
    path.chmod(0o755)


def rank_fault(draw, job):
    """A rank with other arguments or variables than the others, or of another version."""
    if draw.random() < 0.3:
        return Fault("a rank of another version", rank=draw.randrange(1, job.ranks), codes=(64,), is_refused=True, prepare=other_version,
                     commands='shift; set -- ../papfft "$@"')
    if draw.random() < 0.5:
        return Fault("a rank with other arguments", codes=(64,), is_refused=True, other_arguments=("--bcast", "bnom") if job.arguments[0] == "transform"
                     else ("--nonsense",))
    return Fault("a rank with other variables", rank=draw.randrange(1, job.ranks), codes=(64,), is_refused=True,
                 commands=f"export PAPFFT_{draw.choice(['GATHER=lin', 'SCATTER=lin', 'CHECK=1', 'WINDOW=3', 'SEED=4'])}")


def link_fault(draw, job):
    """A cable of the virtual cluster is unplugged, for a time or for ever; or a daemon gets a signal."""
    host = draw.randrange(job.ranks)
    seconds = draw.choice([1.0, 10.0, None])

    def plug(running, state):
        subprocess.run([PROGRAM, "cluster", "link", f"h{host}", state, "--name", running.cluster], check=True,
                       stdout=subprocess.DEVNULL)

    def act(running, _):
        plug(running, "down")
        if seconds is not None:
            time.sleep(seconds)
            plug(running, "up")

    if draw.random() < 0.3:
        name, options = draw.choice([("0.1 % of packets lost", ("--loss", "0.1%")), ("2 % of packets lost", ("--loss", "2%")),
                                     ("a host's link ten times slower", ("--slow", f"h{host}:100mbit"))])
        return Fault(name, needs_cluster=True, cluster_options=options)
    if draw.random() < 0.15:
        return Fault("SIGSTOP of a daemon for 10 s", needs_cluster=True, act=send("daemon", signal.SIGSTOP, 10.0), lasts_s=10)
    if draw.random() < 0.25:
        number = draw.choice([signal.SIGKILL, signal.SIGTERM])
        return Fault(f"{number.name} to a daemon", needs_cluster=True, codes=tuple(range(1, 256)), may_be_silent=True, breaks_mpi=True,
                     act=send("daemon", number))
    return Fault(f"link down for {f'{seconds:.0f} s' if seconds else 'ever'}", needs_cluster=True, act=act,
                 undo=lambda running: plug(running, "up"), codes=(74, 205) if seconds != 1.0 else (), may_be_silent=seconds != 1.0,
                 breaks_mpi=True, lasts_s=seconds or 0)


def draw_fault(draw, job, with_cluster, only=None):
    kinds = [signal_fault, signal_fault, signals_fault, stop_fault, slow_fault, limit_fault, shim_fault, shim_fault, clock_fault]
    if job.is_ours:
        kinds += [folder_fault, pipe_out_fault]
        if job.reads:
            kinds += [input_fault, pipe_in_fault]
        if job.ranks > 1:
            kinds.append(rank_fault)
    if with_cluster and job.ranks > 1:
        kinds.append(link_fault)
    if only:
        kinds = [kind for kind in kinds if kind.__name__.removesuffix("_fault") in only.split(",")]
        if not kinds:
            return None
    fault = draw.choice(kinds)(draw, job)
    fault.at = 0.0 if fault.is_from_begin else draw.uniform(0, 1.1)
    return fault
