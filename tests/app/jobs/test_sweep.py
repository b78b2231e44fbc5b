"""The sweep: what nobody was woken for is found in the ledger alone."""

import asyncio
from collections.abc import Callable

from sqlalchemy.ext.asyncio import AsyncEngine

from app.jobs.sweep import sweep, sweep_forever
from app.ledger import inbox, runs
from app.ledger.inbox import Delivery
from app.ledger.runs import NewRun


class Calls:
    """Records which ids were called, as `a:<guid>` and `w:<run>`."""

    def __init__(self) -> None:
        self.made: list[str] = []

    async def admit(self, guid: str) -> None:
        """Note a delivery."""
        self.made.append(f"a:{guid}")

    async def wake(self, run_id: str) -> None:
        """Note a run."""
        self.made.append(f"w:{run_id}")


async def _deliver(ledger: AsyncEngine, guid: str) -> None:
    await inbox.insert(ledger, Delivery(guid, "issues", "labeled", guid, 7, 1, b"{}"))


async def test_it_wakes_what_waits_and_nothing_else(
    ledger: AsyncEngine, new_run: Callable[..., NewRun]
) -> None:
    """Unprocessed deliveries; queued, released and lapsed runs; not owned or ended ones."""
    for guid in ("g-1", "g-2"):
        await _deliver(ledger, guid)
    await inbox.mark(ledger, "g-2", "ignored")
    names = ("queued", "released", "lapsed", "owned", "ended")
    ids = {}
    for number, name in enumerate(names):
        ids[name] = (await runs.create(ledger, new_run(f"d-{number}", number))).run.id
        if name != "queued":
            claim = await runs.claim(ledger, ids[name], "w", 0.05 if name == "lapsed" else 60)
            assert claim is not None
    await runs.release(ledger, ids["released"], 1)
    await runs.finish(ledger, ids["ended"], 1, "done", "x")
    await asyncio.sleep(0.1)
    calls = Calls()
    swept = await sweep(ledger, calls.admit, calls.wake, grace_s=0)
    woken = ["a:g-1", *(f"w:{ids[name]}" for name in ("queued", "released", "lapsed"))]
    assert calls.made == woken
    assert [*swept.deliveries, *swept.runs] == [call[2:] for call in woken]


async def test_a_fresh_delivery_is_left_to_its_own_call(ledger: AsyncEngine) -> None:
    """It was enqueued a moment ago."""
    await _deliver(ledger, "g-1")
    calls = Calls()
    await sweep(ledger, calls.admit, calls.wake)
    assert calls.made == []


async def test_it_sweeps_at_the_start_then_regularly_and_when_nudged(
    ledger: AsyncEngine, new_run: Callable[..., NewRun]
) -> None:
    """A run that waits is woken again and again until somebody takes it."""
    await runs.create(ledger, new_run())
    calls, nudge = Calls(), asyncio.Event()
    task = asyncio.create_task(sweep_forever(ledger, calls.admit, calls.wake, 0.2, nudge))
    await asyncio.sleep(0.1)
    at_start = len(calls.made)
    await asyncio.sleep(0.5)
    regular = len(calls.made)
    task.cancel()
    slow = asyncio.create_task(sweep_forever(ledger, calls.admit, calls.wake, 60, nudge))
    await asyncio.sleep(0.1)
    nudge.set()
    await asyncio.sleep(0.1)
    slow.cancel()
    await asyncio.gather(task, slow, return_exceptions=True)
    assert at_start == 1
    assert regular >= 3
    assert len(calls.made) == regular + 2


async def test_an_error_does_not_end_it(
    ledger: AsyncEngine, new_run: Callable[..., NewRun]
) -> None:
    """A call that cannot be made now is made by the next sweep."""
    await runs.create(ledger, new_run())
    calls = Calls()
    failures = [ConnectionError("down"), ConnectionError("down")]

    async def wake(run_id: str) -> None:
        if failures:
            raise failures.pop()
        await calls.wake(run_id)

    task = asyncio.create_task(sweep_forever(ledger, calls.admit, wake, 0.05, asyncio.Event()))
    await asyncio.sleep(0.5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert calls.made
