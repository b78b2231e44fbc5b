"""The inbox: every relevant delivery, written down before it is answered."""

import asyncio
import time
import zlib
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import Now, insert_into, reading, writing
from app.ledger.tables import inbox

COMPRESS_IN_THREAD = 256 * 1024  # bytes; below, a thread costs more than the work


@dataclass(frozen=True, slots=True)
class Delivery:
    """A signed delivery as it arrived. `body` are the bytes the signature covers.

    `semantic_key` names what happened, whatever the delivery's id; `repository_id` is None for
    events about an installation.
    """

    guid: str
    event: str
    action: str
    semantic_key: str
    installation_id: int
    repository_id: int | None
    body: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """A row of the inbox; `outcome` is None until it is processed."""

    delivery: Delivery
    received_at: float
    attempts: int
    outcome: str | None


async def insert(engine: AsyncEngine, delivery: Delivery) -> Literal["new", "duplicate"]:
    """Write a delivery down, durable when this returns; a known id or key writes nothing."""
    body = await _compress(delivery.body)
    async with writing(engine) as conn:
        statement = (
            insert_into(conn, inbox)
            .values(
                guid=delivery.guid,
                event=delivery.event,
                action=delivery.action,
                semantic_key=delivery.semantic_key,
                installation_id=delivery.installation_id,
                repository_id=delivery.repository_id,
                body=body,
                received_at=time.time(),
                attempts=0,
            )
            .on_conflict_do_nothing()
        )
        result = await conn.execute(statement)
    return "new" if result.rowcount == 1 else "duplicate"


async def load(engine: AsyncEngine, guid: str) -> Stored | None:
    """The delivery with this id, None when there is none."""
    async with reading(engine) as conn:
        row = (await conn.execute(select(inbox).where(inbox.c.guid == guid))).one_or_none()
    if row is None:
        return None
    delivery = Delivery(
        guid=row.guid,
        event=row.event,
        action=row.action,
        semantic_key=row.semantic_key,
        installation_id=row.installation_id,
        repository_id=row.repository_id,
        body=await asyncio.to_thread(zlib.decompress, row.body),
    )
    return Stored(delivery, row.received_at, row.attempts, row.outcome)


async def unprocessed(
    engine: AsyncEngine, older_than_s: float = 0.0, limit: int = 100
) -> list[str]:
    """Ids of deliveries nobody is at, oldest first, that came at least `older_than_s` ago."""
    statement = (
        select(inbox.c.guid)
        .where(
            inbox.c.processed_at.is_(None),
            inbox.c.received_at <= time.time() - older_than_s,
            inbox.c.lease_until < Now(),
        )
        .order_by(inbox.c.received_at)
        .limit(limit)
    )
    async with reading(engine) as conn:
        return list((await conn.execute(statement)).scalars())


async def take(engine: AsyncEngine, guid: str, lease_s: float) -> int | None:
    """Start a try and return its number; nobody else may start one for `lease_s` seconds.

    None when the delivery is unknown or processed, or when it is not to be tried now.
    """
    statement = (
        update(inbox)
        .where(inbox.c.guid == guid, inbox.c.processed_at.is_(None), inbox.c.lease_until < Now())
        .values(attempts=inbox.c.attempts + 1, lease_until=Now() + lease_s)
        .returning(inbox.c.attempts)
    )
    async with writing(engine) as conn:
        number = (await conn.execute(statement)).scalar_one_or_none()
    return None if number is None else int(number)


async def put_back(engine: AsyncEngine, guid: str, wait_s: float, *, counts: bool) -> None:
    """End a try without an outcome; the next may start after `wait_s`.

    With `counts` False the try is forgotten: it failed for reasons outside.
    """
    statement = (
        update(inbox)
        .where(inbox.c.guid == guid, inbox.c.processed_at.is_(None))
        .values(lease_until=Now() + wait_s, attempts=inbox.c.attempts - (0 if counts else 1))
    )
    async with writing(engine) as conn:
        await conn.execute(statement)


async def mark(engine: AsyncEngine, guid: str, outcome: str) -> bool:
    """Close a delivery with what became of it (cut at 200 characters).

    The first outcome stays: False when it had one, or when the id is unknown.
    """
    statement = (
        update(inbox)
        .where(inbox.c.guid == guid, inbox.c.processed_at.is_(None))
        .values(processed_at=time.time(), outcome=outcome[:200])
    )
    async with writing(engine) as conn:
        return (await conn.execute(statement)).rowcount == 1


async def _compress(body: bytes) -> bytes:
    if len(body) < COMPRESS_IN_THREAD:
        return zlib.compress(body, 1)
    return await asyncio.to_thread(zlib.compress, body, 1)
