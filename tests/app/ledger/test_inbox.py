"""The inbox: recorded means known, whoever delivers how often."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import inbox
from app.ledger.inbox import Delivery

DELIVERY = Delivery("g-1", "issues", "labeled", "key-1", 7, 2**40, b'{"action": "labeled"}')


async def test_a_delivery_comes_back_as_it_arrived(ledger: AsyncEngine) -> None:
    """The signed bytes and everything read from them."""
    assert await inbox.insert(ledger, DELIVERY) == "new"
    stored = await inbox.load(ledger, "g-1")
    assert stored is not None
    assert stored.delivery == DELIVERY
    assert (stored.attempts, stored.outcome) == (0, None)


async def test_a_large_body_comes_back_whole(ledger: AsyncEngine) -> None:
    """Bodies of megabytes are compressed off the loop and lose no byte."""
    large = replace(DELIVERY, body=bytes(range(256)) * 4096)
    await inbox.insert(ledger, large)
    stored = await inbox.load(ledger, "g-1")
    assert stored is not None
    assert stored.delivery.body == large.body


@pytest.mark.parametrize("other", [{"semantic_key": "key-2"}, {"guid": "g-2"}])
async def test_one_row_per_delivery_and_per_event(
    ledger: AsyncEngine, other: dict[str, str]
) -> None:
    """The same id is a redelivery, the same event under a new id a replay: both are known."""
    await inbox.insert(ledger, DELIVERY)
    assert await inbox.insert(ledger, replace(DELIVERY, **other)) == "duplicate"
    assert await inbox.unprocessed(ledger) == ["g-1"]


async def test_of_parallel_deliveries_one_is_new(ledger: AsyncEngine) -> None:
    """However many arrive at once, one row is written."""
    answers = await asyncio.gather(*(inbox.insert(ledger, DELIVERY) for _ in range(20)))
    assert sorted(answers) == ["duplicate"] * 19 + ["new"]


async def test_unprocessed_deliveries_come_oldest_first(ledger: AsyncEngine) -> None:
    """Fresh ones can be left out: their own wake-up call is on its way."""
    for number in range(3):
        await inbox.insert(ledger, replace(DELIVERY, guid=f"g-{number}", semantic_key=f"{number}"))
    assert await inbox.unprocessed(ledger) == ["g-0", "g-1", "g-2"]
    assert await inbox.unprocessed(ledger, limit=1) == ["g-0"]
    assert await inbox.unprocessed(ledger, older_than_s=60) == []


async def test_of_parallel_tries_one_starts(ledger: AsyncEngine) -> None:
    """Two workers with the same wake-up call: one admits, the other has nothing to do."""
    await inbox.insert(ledger, DELIVERY)
    numbers = await asyncio.gather(*(inbox.take(ledger, "g-1", 60) for _ in range(5)))
    assert sorted(numbers, key=str) == [1, None, None, None, None]
    assert await inbox.unprocessed(ledger) == []


async def test_a_try_that_never_ended_may_be_repeated_and_counts(ledger: AsyncEngine) -> None:
    """A worker that was killed while it admitted holds a delivery no longer than its lease."""
    await inbox.insert(ledger, DELIVERY)
    assert await inbox.take(ledger, "g-1", 0.05) == 1
    await asyncio.sleep(0.1)
    assert await inbox.unprocessed(ledger) == ["g-1"]
    assert await inbox.take(ledger, "g-1", 0.05) == 2


@pytest.mark.parametrize(("counts", "second"), [(True, 2), (False, 1)])
async def test_a_failed_try_is_put_back(ledger: AsyncEngine, counts: bool, second: int) -> None:
    """It waits as long as asked, and counts unless the cause lay outside."""
    await inbox.insert(ledger, DELIVERY)
    await inbox.take(ledger, "g-1", 60)
    await inbox.put_back(ledger, "g-1", 0.05, counts=counts)
    assert await inbox.take(ledger, "g-1", 60) is None
    await asyncio.sleep(0.1)
    assert await inbox.take(ledger, "g-1", 60) == second


async def test_the_first_outcome_stays(ledger: AsyncEngine) -> None:
    """A processed delivery is closed for good and its outcome never changes."""
    await inbox.insert(ledger, DELIVERY)
    assert await inbox.mark(ledger, "g-1", "admitted:r-1" + "x" * 300)
    assert not await inbox.mark(ledger, "g-1", "poison")
    stored = await inbox.load(ledger, "g-1")
    assert stored is not None
    assert stored.outcome is not None
    assert stored.outcome.startswith("admitted:r-1")
    assert len(stored.outcome) == 200
    assert await inbox.take(ledger, "g-1", 60) is None
    assert await inbox.unprocessed(ledger) == []


async def test_an_unknown_delivery_is_nothing(ledger: AsyncEngine) -> None:
    """Whatever a wake-up call says: what is not in the inbox is not worked on."""
    assert await inbox.load(ledger, "no") is None
    assert await inbox.take(ledger, "no", 60) is None
    assert not await inbox.mark(ledger, "no", "x")
