"""Parsing in processes of their own: a file that stalls or kills one costs that file only.

jobs ─▶ batches ─▶ worker … worker ─▶ results, in the order in which they come
"""

import atexit
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from threading import Lock

from pipeline.index.errors import IndexingFailed
from pipeline.index.parse import language_of
from pipeline.index.values import ParsedFile
from pipeline.index.worker import READY, Job, Result, packed

FILE_DEADLINE_S = 5.0  # the parser's own, of processor time as all of these
SHORTEST_S = 0.05
GRACE_S = 3.0  # what a worker may take longer before it is killed
SLOWEST = 6  # times as long by the clock: a busy machine may give it a sixth of a processor
START_S = 60.0  # a busy machine starts processes slowly
BATCH_FILES, BATCH_BYTES = 64, 1_000_000
MAX_FALSE_STARTS = 3
_START = """
import sys
from pipeline.index.lifeline import hold
hold(int(sys.argv[2]))
from pipeline.index.worker import main
main()
"""  # not -m: classes keep their module; held before the rest is read, which takes a while


class _Worker:
    """One process, the jobs it has, and by when it must have answered the first of them."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        lifeline, self._lifeline = Pipe(duplex=False)  # nothing is written: its closing is told
        passed = [theirs.fileno(), lifeline.fileno()]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, *map(str, passed)],
                env=_environment(os.environ),
                pass_fds=passed,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            self.connection.close()
            self._lifeline.close()
            raise IndexingFailed(f"No process to parse files could be started: {error}") from error
        finally:
            theirs.close()
            lifeline.close()
        self.jobs: deque[Job] = deque()
        self.is_ready = False
        self._owner = os.getpid()
        self._deadline_s = 0.0
        self._since = time.monotonic()
        self._used = 0.0  # of the processor until then

    @property
    def patience(self) -> float:
        """Seconds after which to look again for the next answer; none are left at 0."""
        took = time.monotonic() - self._since
        if not self.is_ready:
            return START_S - took
        allowed = self._deadline_s + GRACE_S
        used = _processor_s(self._process.pid) - self._used
        return min(allowed - used, SLOWEST * allowed - took)

    @property
    def is_alive(self) -> bool:
        """Whether the process is there and belongs to this one: a fork shares no pipes."""
        return self._owner == os.getpid() and self._process.poll() is None

    def give(self, jobs: Sequence[Job], deadline_s: float) -> None:
        """Hand over a batch; the worker must have no jobs. It reads all before it answers."""
        self.jobs.extend(jobs)
        self._deadline_s = deadline_s
        if self.is_ready:
            self._begin()
            self._send()

    def take(self) -> Result | None:
        """The result that is waiting, None when it only says that it is ready.

        Raises EOFError when the process is gone.
        """
        try:
            result = self.connection.recv()
        except OSError:
            raise EOFError from None
        self._begin()
        if result == READY:
            self.is_ready = True
            self._send()
            return None
        assert isinstance(result, Result)
        self.jobs.popleft()
        return result

    def end(self) -> int:
        """Stop the process, whatever it does; returns its exit code."""
        self.connection.close()
        self._lifeline.close()
        self._process.kill()
        return self._process.wait()

    def _begin(self) -> None:
        """Time is counted anew."""
        self._since = time.monotonic()
        self._used = _processor_s(self._process.pid)

    def _send(self) -> None:
        with suppress(OSError):  # it died: the next look at the connection says so
            self.connection.send((list(self.jobs), self._deadline_s))


class Workers:
    """Up to `count` processes, started as work comes; close them at the end.

    One of them is kept for the next pool of this process: to start one takes longer than to parse
    what a commit changes. It ends with this process.
    """

    def __init__(self, count: int, deadline_s: float = FILE_DEADLINE_S) -> None:
        self._count = max(1, count)
        self._deadline_s = deadline_s
        self._workers: list[_Worker] = []
        self._time_outs = 0
        self._false_starts = 0

    def parse(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """Parse all jobs. A file that stalls or kills its process is given up as degraded.

        Raises IndexingFailed when processes cannot be started at all.
        """
        batches = _batches(jobs)
        while True:
            self._hand_out(batches)
            busy = {worker.connection: worker for worker in self._workers if worker.jobs}
            if not busy:
                return
            patience = min(worker.patience for worker in busy.values())
            ready = wait(list(busy), max(0.0, patience))
            for connection in ready:
                yield from self._answer(busy[connection])  # type: ignore[index]  # only these
            if not ready:
                for worker in busy.values():
                    if worker.patience <= 0:
                        yield from self._given_up(worker, "time-out")

    def close(self) -> None:
        """End all processes but one that has nothing to do."""
        for worker in self._workers:
            if worker.jobs or not _park(worker):
                worker.end()
        self._workers.clear()

    @property
    def _allowed_s(self) -> float:
        """Less for each file after every time-out: a tree of traps costs a minute, no days."""
        return max(SHORTEST_S, self._deadline_s / (1 + self._time_outs))

    def _hand_out(self, batches: Iterator[list[Job]]) -> None:
        """Give every idle worker a batch; start another one while there is more."""
        for worker in self._workers:
            if not worker.jobs and (batch := next(batches, None)):
                worker.give(batch, self._allowed_s)
        while len(self._workers) < self._count and (batch := next(batches, None)):
            self._start(batch)

    def _start(self, jobs: Sequence[Job]) -> None:
        worker = _parked() or _Worker()
        self._workers.append(worker)
        worker.give(jobs, self._allowed_s)

    def _answer(self, worker: _Worker) -> Iterator[Result]:
        try:
            result = worker.take()
        except EOFError:
            yield from self._given_up(worker, "crash")
            return
        self._false_starts = 0
        if result is not None:
            self._time_outs += result.degraded == "time-out"
            yield result

    def _given_up(self, worker: _Worker, why: str) -> Iterator[Result]:
        """Give up the file a worker is at; the rest of its batch goes to a new one."""
        self._workers.remove(worker)
        worker.end()
        jobs = list(worker.jobs)
        if worker.is_ready:
            self._time_outs += 1
            yield degraded(jobs.pop(0), why)
        else:
            self._not_started()
        if jobs:
            self._start(jobs)

    def _not_started(self) -> None:
        self._false_starts += 1
        if self._false_starts >= MAX_FALSE_STARTS:
            raise IndexingFailed(
                "Processes that parse files do not start. See that this machine has memory left "
                "and that Prism's packages are complete."
            )


def parse_one(job: Job, deadline_s: float = FILE_DEADLINE_S) -> Result:
    """Parse one blob, mostly in the process that is kept: about a millisecond.

    Blocks; raises IndexingFailed as `Workers.parse` does.
    """
    with closing(Workers(1, deadline_s)) as workers:
        return next(workers.parse([job]))


_spare: list[_Worker] = []
_guard = Lock()


def _park(worker: _Worker) -> bool:
    """Keep an idle worker; False when there is one already."""
    with _guard:
        if _spare or not worker.is_ready:
            return False
        _spare.append(worker)
        return True


def _parked() -> _Worker | None:
    """The worker that was kept, None when there is none that still lives and is this code's."""
    with _guard:
        worker = _spare.pop() if _spare else None
    if worker is not None and not worker.is_alive:
        worker.end()
        return None
    return worker


@atexit.register
def end_spare() -> None:
    """End the worker that was kept, if any."""
    with _guard:
        while _spare:
            _spare.pop().end()


def degraded(job: Job, why: str) -> Result:
    """The result of a file that could not be parsed."""
    lines = job.data.count(b"\n") + (not job.data.endswith(b"\n") and bool(job.data))
    return packed(job, ParsedFile(language_of(job.path) or "", lines, degraded=why))


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Jobs in lists of at most 64 files or about a megabyte."""
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += len(job.data)
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _processor_s(process: int) -> float:
    """Seconds of processor time that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a parser needs of this process's environment, and where its modules are."""
    kept = {name: environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
