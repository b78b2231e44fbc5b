"""Real processes and real signals: kill -9, SIGTERM, SIGSTOP, and one embedded Redis for all."""

import asyncio
import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.demo.processes import Processes
from app.intake.signature import sign
from app.jobs.embedded import free_port
from app.ledger import inbox, runs, tables
from app.ledger.engine import writing
from app.ledger.inbox import Delivery
from app.ledger.runs import Run

SECRET = "0123456789abcdef0123456789abcdef"
CHILD = Path(__file__).with_name("child_worker.py")
ITEMS = ["G1", "G2", "G3", "L1.1"]
Eventually = Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]


class Workers:
    """Worker processes over the test's data folder, and what they worked on."""

    def __init__(self, processes: Processes, folder: Path) -> None:
        self.processes = processes
        self.log = folder / "work.log"
        self._folder = folder

    def start(self, name: str, item_s: float = 0.3) -> int:
        """Start one; returns its process id."""
        environ = {"ITEM_SECONDS": str(item_s), **self.environ()}
        return self.processes.start(name, [sys.executable, str(CHILD)], environ)

    def environ(self) -> dict[str, str]:
        """Settings for quick leases and sweeps and the embedded Redis."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path.cwd()),
            "PRISM_DATA_DIR": str(self._folder),
            "PRISM_LEASE_SECONDS": "2",
            "PRISM_SWEEP_SECONDS": "0.5",
            "WEBHOOK_SECRET": SECRET,
            "WORK_LOG": str(self.log),
        }

    def lines(self) -> list[list[str]]:
        """Items worked on, each with the epoch of who did it."""
        return [line.split() for line in self.log.read_text().splitlines()]

    async def reached(self, count: int) -> bool:
        """Whether that many items were begun."""
        return self.log.exists() and len(self.lines()) >= count


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    """Ends every process it started."""
    with Processes(tmp_path / "logs") as processes:
        yield Workers(processes, tmp_path)


@pytest.fixture
async def delivered(ledger: AsyncEngine) -> AsyncEngine:
    """A ledger with one unprocessed delivery that is not fresh any more."""
    await inbox.insert(ledger, Delivery("g-1", "issues", "labeled", "k-1", 7, 1, b"{}"))
    async with writing(ledger) as conn:
        await conn.execute(update(tables.inbox).values(received_at=time.time() - 60))
    return ledger


async def _run(ledger: AsyncEngine) -> Run | None:
    return await runs.latest_for_issue(ledger, 7, 1, 3)


async def _is_done(ledger: AsyncEngine) -> bool:
    run = await _run(ledger)
    return run is not None and run.state == "done"


async def test_a_killed_worker_repeats_no_finished_item(
    delivered: AsyncEngine, workers: Workers, eventually: Eventually
) -> None:
    """kill -9 in the third item: the next worker does the third and the fourth, no other."""
    workers.start("first")
    await eventually(lambda: workers.reached(3))
    workers.processes.kill("first")
    workers.start("second")
    await eventually(lambda: _is_done(delivered))
    worked_on = [item for item, _ in workers.lines()]
    assert worked_on == ["G1", "G2", "G3", "G3", "L1.1"]
    run = await _run(delivered)
    assert run is not None
    assert (run.epoch, run.crash_count) == (2, 1)


async def test_a_deploy_is_no_crash(
    delivered: AsyncEngine, workers: Workers, eventually: Eventually
) -> None:
    """SIGTERM in the second item: the run is given back at once and goes on from there."""
    workers.start("first")
    await eventually(lambda: workers.reached(2))
    workers.processes.stop("first")
    run = await _run(delivered)
    assert run is not None
    assert (run.state, run.released) == ("running", True)
    workers.start("second")
    await eventually(lambda: _is_done(delivered))
    assert [item for item, _ in workers.lines()] == ["G1", "G2", "G2", "G3", "L1.1"]
    run = await _run(delivered)
    assert run is not None
    assert (run.epoch, run.crash_count) == (2, 0)


async def test_a_worker_that_wakes_up_late_writes_nothing(
    delivered: AsyncEngine, workers: Workers, eventually: Eventually
) -> None:
    """Stopped for longer than its lease and continued, it finds that the run is another's."""
    sleeper = workers.start("sleeper")
    await eventually(lambda: workers.reached(2))
    os.kill(sleeper, signal.SIGSTOP)
    workers.start("second", item_s=1.0)
    await eventually(lambda: workers.reached(3))
    os.kill(sleeper, signal.SIGCONT)
    await eventually(lambda: _is_done(delivered))
    epochs = [epoch for _, epoch in workers.lines()]
    assert epochs == sorted(epochs)
    assert [item for item, _ in workers.lines()] == ["G1", "G2", "G2", "G3", "L1.1"]
    run = await _run(delivered)
    assert run is not None
    assert run.outcome == "ended by epoch 2"


async def test_web_process_and_worker_share_one_embedded_redis(
    ledger: AsyncEngine, workers: Workers, tmp_path: Path, eventually: Eventually
) -> None:
    """A signed label goes in over HTTP, the worker is woken through Redis, the run ends."""
    workers.start("worker", item_s=0.01)
    port = free_port()
    serve = [sys.executable, "-m", "uvicorn", "--factory", "app.web:app_from_environment"]
    web = [*serve, "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"]
    workers.processes.start("web", web, workers.environ())
    workers.processes.wait_for_port(port)
    await asyncio.to_thread(_deliver, port)
    await eventually(lambda: _is_done(ledger))
    server = json.loads((tmp_path / "redis" / "server.json").read_text())
    workers.processes.kill("web")
    await asyncio.sleep(1)
    assert _is_alive(server["pid"])
    workers.processes.kill("worker")
    await eventually(lambda: _is_gone(server["pid"]))
    assert not (tmp_path / "redis" / "server.json").exists()


def _deliver(port: int) -> None:
    body = json.dumps(
        {
            "action": "labeled",
            "issue": {"id": 11, "updated_at": "2026-01-01T00:00:00Z"},
            "label": {"id": 12, "name": "prism-fix"},
            "repository": {"id": 1},
            "installation": {"id": 7},
            "sender": {"id": 5},
        }
    ).encode()
    headers = {
        "content-type": "application/json",
        "x-github-event": "issues",
        "x-github-delivery": "g-1",
        "x-hub-signature-256": sign(SECRET, body),
    }
    url = f"http://127.0.0.1:{port}/api/github/webhooks"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        assert answer.status == 202


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def _is_gone(pid: int) -> bool:
    return not _is_alive(pid)
