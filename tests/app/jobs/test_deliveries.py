"""Deliveries: admitted once, tried again, given up; never lost."""

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.github.errors import GitHubUnavailable
from app.jobs import deliveries
from app.jobs.contract import Times
from app.jobs.deliveries import MAX_STARTS, process_delivery
from app.ledger import inbox, tables
from app.ledger.engine import writing
from app.ledger.inbox import Delivery, Stored

TIMES = Times(lease_s=60, reconnect_s=0.05)


class Admission:
    """Records which deliveries it was given; fails with the errors it was told, one a call."""

    def __init__(self, *errors: Exception) -> None:
        self.seen: list[str] = []
        self._errors = list(errors)

    async def __call__(self, guid: str) -> Sequence[str]:
        """The run `r-<guid>`."""
        self.seen.append(guid)
        await asyncio.sleep(0)
        if self._errors:
            raise self._errors.pop(0)
        return [f"r-{guid}"]


@pytest.fixture
async def stored(ledger: AsyncEngine) -> str:
    """A recorded delivery's id."""
    await inbox.insert(ledger, Delivery("g-1", "issues", "labeled", "k-1", 7, 1, b"{}"))
    return "g-1"


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "_BACKOFF_S", 0.01)


async def _load(ledger: AsyncEngine) -> Stored:
    found = await inbox.load(ledger, "g-1")
    assert found is not None
    return found


async def test_an_admitted_delivery_is_done(ledger: AsyncEngine, stored: str) -> None:
    """Its runs are woken, and a second wake-up call finds nothing to do."""
    admission = Admission()
    assert await process_delivery(ledger, stored, admission, TIMES) == ["r-g-1"]
    assert await process_delivery(ledger, stored, admission, TIMES) == ()
    assert admission.seen == ["g-1"]
    assert (await _load(ledger)).outcome == "processed"


async def test_admissions_own_outcome_stays(ledger: AsyncEngine, stored: str) -> None:
    """What admission wrote into the row is not written over."""

    async def admit(guid: str) -> Sequence[str]:
        await inbox.mark(ledger, guid, "refused: no writer")
        return []

    assert await process_delivery(ledger, stored, admit, TIMES) == []
    assert (await _load(ledger)).outcome == "refused: no writer"


async def test_of_parallel_wake_up_calls_one_admits(ledger: AsyncEngine, stored: str) -> None:
    """Two workers, five calls: one admission."""
    admission = Admission()
    calls = [process_delivery(ledger, stored, admission, TIMES) for _ in range(5)]
    answers = await asyncio.gather(*calls)
    assert [answer for answer in answers if answer] == [["r-g-1"]]
    assert admission.seen == ["g-1"]


async def test_a_delivery_that_keeps_failing_is_poison(ledger: AsyncEngine, stored: str) -> None:
    """Three failures close it, with the error in its outcome; it is not tried again."""
    admission = Admission(*[ValueError("bad text")] * 9)
    for _ in range(6):
        assert await process_delivery(ledger, stored, admission, TIMES) == ()
        await asyncio.sleep(0.04)
    assert len(admission.seen) == 3
    assert (await _load(ledger)).outcome == "poison: ValueError: bad text"


async def test_a_failure_can_pass(ledger: AsyncEngine, stored: str) -> None:
    """After two failures the third try still counts."""
    admission = Admission(ValueError("a"), ValueError("b"))
    for _ in range(2):
        assert await process_delivery(ledger, stored, admission, TIMES) == ()
        await asyncio.sleep(0.04)
    assert await process_delivery(ledger, stored, admission, TIMES) == ["r-g-1"]


async def test_an_outage_makes_no_poison(ledger: AsyncEngine, stored: str) -> None:
    """While GitHub cannot be reached, tries are not counted; afterwards the run is made."""
    admission = Admission(*[GitHubUnavailable("502")] * 8)
    for _ in range(8):
        assert await process_delivery(ledger, stored, admission, TIMES) == ()
        await asyncio.sleep(0.06)
    assert await process_delivery(ledger, stored, admission, TIMES) == ["r-g-1"]


async def test_an_outage_of_a_day_is_a_failure(ledger: AsyncEngine, stored: str) -> None:
    """Then waiting ends, too."""
    async with writing(ledger) as conn:
        await conn.execute(update(tables.inbox).values(received_at=0.0))
    admission = Admission(*[GitHubUnavailable("502")] * 8)
    for _ in range(5):
        await process_delivery(ledger, stored, admission, TIMES)
        await asyncio.sleep(0.06)
    assert (await _load(ledger)).outcome == "poison: GitHubUnavailable: 502"


async def test_a_delivery_that_ends_its_workers_is_poison(ledger: AsyncEngine, stored: str) -> None:
    """Tries are counted before the work: a delivery that kills every worker is stopped."""
    for _ in range(MAX_STARTS):
        await inbox.take(ledger, stored, 0)
        await asyncio.sleep(0.01)
    admission = Admission()
    assert await process_delivery(ledger, stored, admission, TIMES) == ()
    assert admission.seen == []
    assert ((await _load(ledger)).outcome or "").startswith("poison")


async def test_a_shutdown_puts_a_delivery_back_at_once(ledger: AsyncEngine, stored: str) -> None:
    """The next worker need not wait for a lease, and the try is forgotten."""

    async def admit(_: str) -> Sequence[str]:
        await asyncio.sleep(3600)
        return []

    task = asyncio.create_task(process_delivery(ledger, stored, admit, TIMES))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.01)
    assert await inbox.unprocessed(ledger) == [stored]
    assert (await _load(ledger)).attempts == 0
