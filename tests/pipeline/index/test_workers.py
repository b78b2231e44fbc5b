"""Files that stall or kill the process that parses them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from pipeline.index import workers
from pipeline.index.worker import Job
from pipeline.index.workers import Workers, end_spare

# A parser with a fault that no limit of its own catches: real processes, real signals.
FAULTY = """
import os, time
from pipeline.index import worker

sound = worker.parse

def parse(path, data, deadline_s):
    if "stall" in path:
        time.sleep(600)
    if "slow" in path:
        time.sleep(1.5)
    while "spin" in path:
        pass
    if "crash" in path:
        os.abort()
    return sound(path, data, deadline_s)

worker.parse = parse
worker.main()
"""


def jobs(*names: str) -> list[Job]:
    """One small file for each name."""
    return [Job(name, f"{name}.py", f"def {name}():\n    pass\n".encode()) for name in names]


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Parsers that stall and crash at files of such names, and little patience with them."""
    end_spare()
    monkeypatch.setattr(workers, "_START", FAULTY)
    monkeypatch.setattr(workers, "GRACE_S", 0.4)
    monkeypatch.setattr(workers, "SLOWEST", 1.5)
    yield
    end_spare()


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("count", [1, 2])
def test_one_bad_file_costs_itself_only(count: int) -> None:
    """Wherever it stands in a batch; each file has exactly one result."""
    given = jobs(
        "stall1", "a", "crash1", "b", "crash2", "crash3", "crash4", "crash5", "c", "stall2"
    )
    pool = Workers(count, deadline_s=0.2)
    try:
        results = list(pool.parse(given))
    finally:
        pool.close()
    found = {result.blob: result.degraded for result in results}
    assert len(results) == len(given)
    assert found == {
        "stall1": "time-out",
        "a": "",
        "crash1": "crash",
        "b": "",
        "crash2": "crash",
        "crash3": "crash",
        "crash4": "crash",
        "crash5": "crash",
        "c": "",
        "stall2": "time-out",
    }
    assert all(result.lines == 2 for result in results)


@pytest.mark.usefixtures("faulty")
def test_patience_wears_out() -> None:
    """Many traps do not cost many times the deadline."""
    pool = Workers(1, deadline_s=0.4)
    try:
        start = time.monotonic()
        assert len(list(pool.parse(jobs(*[f"stall{n}" for n in range(3)])))) == 3
        assert time.monotonic() - start < 30  # most of it for starting processes on a busy machine
        assert pool._allowed_s == pytest.approx(0.1)
    finally:
        pool.close()


@pytest.mark.usefixtures("faulty")
def test_time_is_counted_by_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that waits for one is not given up; a trap that keeps one busy is, no later."""
    monkeypatch.setattr(workers, "SLOWEST", 60)
    pool = Workers(2, deadline_s=0.2)
    try:
        start = time.monotonic()
        found = {each.blob: each.degraded for each in pool.parse(jobs("slow", "spin", "a"))}
    finally:
        pool.close()
    assert found == {"slow": "", "spin": "time-out", "a": ""}
    assert time.monotonic() - start < 30  # by the clock alone a trap had 36 seconds


def test_one_process_is_kept_for_the_next_pool() -> None:
    """It is used again, unless it died meanwhile; no jobs are no work."""
    end_spare()
    numbers = []
    for name in ("a", "b", "c"):
        pool = Workers(2)
        assert list(pool.parse([])) == []
        (result,) = pool.parse(jobs(name))
        assert (result.blob, result.language, result.degraded) == (name, "python", "")
        assert [piece.name for piece in result.pieces] == [name, ""]
        (worker,) = pool._workers
        numbers.append(worker._process.pid)
        pool.close()
        if name == "b":
            worker._process.kill()
            worker._process.wait()
    assert numbers[0] == numbers[1] != numbers[2]
    end_spare()


PARENT = """
import sys
from pipeline.index import workers
from pipeline.index.worker import Job

workers._START = sys.argv[1]
pool = workers.Workers(2)
names = sys.argv[2:]
given = iter(pool.parse([Job(n, n + ".py", b"#" * 600_000) for n in names]))
first = next(given)
print(*(worker._process.pid for worker in pool._workers), flush=True)
next(given)
"""


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("busy", ["stall", "spin"])
def test_parsers_end_with_their_parent(stop: signal.Signals, busy: str) -> None:
    """Whatever they do: one that waits for work, one that never looks at its pipe again."""
    held = workers._START.rpartition("from pipeline.index.worker")[0] + FAULTY
    command = [sys.executable, "-c", PARENT, held, "a", "b", busy]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert pids
        parent.send_signal(stop)
    deadline = time.monotonic() + 30
    while any(map(_runs, pids)):
        assert time.monotonic() < deadline, "a parser outlived its parent"
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    """Whether it goes on: one that ended may wait for whoever reaps orphans."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
    except OSError:
        return False
