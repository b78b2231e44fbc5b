"""The journal of a run over the item table (implements pipeline.services.Journal)."""

import json
import time
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import insert_into, reading, writing
from app.ledger.errors import NotStarted, OutputTooLarge
from app.ledger.fence import check_owner
from app.ledger.tables import item
from pipeline.services import ItemRecord, Json, PipelineStage
from pipeline.timing import Span

MAX_OUTPUT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SqlJournal:
    """Items of one run, written under one epoch: both methods raise Fenced when it is lost."""

    engine: AsyncEngine
    run_id: str
    epoch: int

    async def start(self, stage: PipelineStage, item: str) -> ItemRecord:
        """The finished record, or a new attempt counted and written down before it begins."""
        return await _start(self, stage, item)

    async def finish(self, stage: PipelineStage, item: str, output: Json) -> None:
        """Record the output: at most 8 MiB of JSON, else OutputTooLarge.

        Raises NotStarted when the item is not in flight; a finished output never changes.
        """
        await _finish(self, stage, item, output)


@dataclass(frozen=True, slots=True)
class Item:
    """A row of the item table, for reports. `output` is None until `finished_at` is set."""

    stage: str
    name: str
    status: str
    attempts: int
    output: Json
    started_at: float
    finished_at: float | None


async def list_items(engine: AsyncEngine, run_id: str) -> list[Item]:
    """All items of a run in the order in which they were started last."""
    columns = [item.c[name] for name in Item.__slots__]
    statement = select(*columns).where(item.c.run_id == run_id).order_by(item.c.started_at)
    async with reading(engine) as conn:
        return [Item(**row._mapping) for row in await conn.execute(statement)]


async def list_spans(engine: AsyncEngine, run_id: str) -> tuple[Span, ...]:
    """When each finished item of a run was worked on, last."""
    items = await list_items(engine, run_id)
    return tuple(
        Span(f"{each.stage}/{each.name}", each.started_at, each.finished_at)
        for each in items
        if each.finished_at is not None
    )


async def _start(journal: SqlJournal, stage: str, name: str) -> ItemRecord:
    async with writing(journal.engine) as conn:
        owned = await check_owner(conn, journal.run_id, journal.epoch)
        key = (item.c.run_id == journal.run_id, item.c.stage == stage, item.c.name == name)
        found = (await conn.execute(select(item).where(*key))).one_or_none()
        if found is not None and found.status == "finished":
            return ItemRecord(found.attempts, finished=True, output=found.output)
        attempts = (found.attempts if found is not None else 0) + 1
        values = {
            "installation_id": owned.installation_id,
            "status": "started",
            "attempts": attempts,
            "started_at": time.time(),
        }
        statement = insert_into(conn, item).values(
            run_id=journal.run_id, stage=stage, name=name, **values
        )
        await conn.execute(
            statement.on_conflict_do_update(index_elements=["run_id", "stage", "name"], set_=values)
        )
    return ItemRecord(attempts, finished=False)


async def _finish(journal: SqlJournal, stage: str, name: str, output: Json) -> None:
    size = len(json.dumps(output))
    if size > MAX_OUTPUT_BYTES:
        raise OutputTooLarge(
            f"The output of {stage}/{name} is {size} bytes, over {MAX_OUTPUT_BYTES}."
        )
    async with writing(journal.engine) as conn:
        await check_owner(conn, journal.run_id, journal.epoch)
        statement = (
            update(item)
            .where(
                item.c.run_id == journal.run_id,
                item.c.stage == stage,
                item.c.name == name,
                item.c.status == "started",
            )
            .values(status="finished", output=output, finished_at=time.time())
        )
        if (await conn.execute(statement)).rowcount != 1:
            raise NotStarted(f"{stage}/{name} is not in flight in run {journal.run_id}.")
