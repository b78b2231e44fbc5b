"""Records in the ledger: batched, compressed, bounded, pruned; never in the way of a run."""

import time
import zlib
from collections.abc import Callable

import pytest
import structlog
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import installations, records, runs
from app.ledger.engine import reading, writing
from app.ledger.installations import Installation
from app.ledger.runs import Claim, NewRun
from app.ledger.tables import record
from pipeline.recording import Record

DATA = {"name": "view", "observation": "line\n" * 2000}
MB = 1_000_000


async def count(engine: AsyncEngine) -> int:
    """Rows in the table."""
    async with reading(engine) as conn:
        return int((await conn.execute(select(func.count()).select_from(record))).scalar_one())


async def test_records_are_read_back_in_order(ledger: AsyncEngine, claim: Claim) -> None:
    """Everything is written when the context ends, in a small part of its size."""
    async with records.recording(ledger, claim.run.id, claim.epoch, MB) as recorder:
        for turn in range(20):
            await recorder.record("tool", f"code/G1/{turn}", 2, DATA)
    read = await records.load(ledger, claim.run.id)
    assert read == [Record("tool", f"code/G1/{turn}", 2, DATA) for turn in range(20)]
    assert await records.size_of(ledger, claim.run.id) < 20 * 200


async def test_an_error_loses_no_record(ledger: AsyncEngine, claim: Claim) -> None:
    """What led to the end of a run is what one wants to read."""

    async def failing() -> None:
        async with records.recording(ledger, claim.run.id, claim.epoch, MB) as recorder:
            await recorder.record("tool", "code/G1/0", 1, DATA)
            raise ValueError("end")

    with pytest.raises(ValueError, match="end"):
        await failing()
    assert await count(ledger) == 1


async def test_recording_does_not_wait_for_the_database(ledger: AsyncEngine, claim: Claim) -> None:
    """While another writer holds the lock, fifty records are taken all the same."""
    of_run = (claim.run.id, claim.epoch, MB)
    async with records.recording(ledger, *of_run) as recorder, writing(ledger):
        for turn in range(50):
            await recorder.record("tool", f"code/G1/{turn}", 1, DATA)
    assert await count(ledger) == 50


@pytest.mark.parametrize("why", ["fenced", "full", "no_json"])
async def test_what_cannot_be_recorded_is_said_once(
    ledger: AsyncEngine, claim: Claim, why: str
) -> None:
    """A lost run, a full quota, data that is no JSON: one line in the log, no error, no row."""
    if why == "fenced":
        await runs.release(ledger, claim.run.id, claim.epoch)
    limit = 10 if why == "full" else MB
    with structlog.testing.capture_logs() as logs:
        async with records.recording(ledger, claim.run.id, claim.epoch, limit) as recorder:
            data = {"x": object()} if why == "no_json" else DATA
            await recorder.record("tool", "code/G1/0", 1, data)
            await recorder.flush() if why == "full" else None
            await recorder.record("tool", "code/G1/1", 1, data)
    assert [each["event"] for each in logs] == ["recording stopped"]
    assert await count(ledger) == 0


async def test_the_quota_counts_what_earlier_workers_wrote(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """A run that is taken over again and again stays within its limit."""
    noise = [zlib.compress(bytes(f"{n}" * 50, "ascii")).hex() for n in range(200)]
    for _ in range(5):
        async with records.recording(ledger, claim.run.id, claim.epoch, 12_000) as recorder:
            await recorder.record("tool", "code/G1/0", 1, {"observation": noise})
    assert 0 < await records.size_of(ledger, claim.run.id) <= 12_000


async def test_a_huge_observation_leaves_only_its_size(ledger: AsyncEngine, claim: Claim) -> None:
    """What no reader could use is not kept."""
    async with records.recording(ledger, claim.run.id, claim.epoch, 100 * MB) as recorder:
        await recorder.record("tool", "code/G1/0", 1, {"observation": "x" * 9 * MB})
    (kept,) = await records.load(ledger, claim.run.id)
    assert kept.data["left_out_bytes"] > 9 * MB


async def test_old_records_and_those_of_gone_installations_are_pruned(
    ledger: AsyncEngine, claim: Claim, new_run: Callable[..., NewRun]
) -> None:
    """Retention is by age; texts of an organisation that removed the App go soon after."""
    async with records.recording(ledger, claim.run.id, claim.epoch, MB) as recorder:
        for turn in range(4):
            await recorder.record("tool", f"code/G1/{turn}", 1, DATA)
    async with writing(ledger) as conn:
        old = update(record).where(record.c.address.in_(["code/G1/0", "code/G1/1"]))
        await conn.execute(old.values(recorded_at=time.time() - 31 * 86_400))
    assert await records.prune(ledger, 30) == 2
    assert await records.prune(ledger, 30) == 0
    await installations.upsert(ledger, Installation(7, "acme", "all", deleted=True))
    assert await records.prune(ledger, 30) == 2
    assert await count(ledger) == 0
