"""Snapshots: the text a maintainer approved. A run reads nothing else of the issue."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import insert_into, reading, writing
from app.ledger.tables import snapshot


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Title and body after cleaning. `sha256` is of the text before it, `removed` what went.

    `author` wrote the issue; `removed` is plain JSON for the status comment.
    """

    id: str
    installation_id: int
    title: str
    body: str
    author: str
    author_id: int
    sha256: str
    removed: Any
    taken_at: float


async def insert(engine: AsyncEngine, new: Snapshot) -> str:
    """Keep a snapshot and return its id; one with the same id stays as it is."""
    async with writing(engine) as conn:
        statement = insert_into(conn, snapshot).values(asdict(new)).on_conflict_do_nothing()
        await conn.execute(statement)
    return new.id


async def load(engine: AsyncEngine, snapshot_id: str) -> Snapshot | None:
    """The snapshot, None when there is none."""
    async with reading(engine) as conn:
        found = await conn.execute(select(snapshot).where(snapshot.c.id == snapshot_id))
        row = found.one_or_none()
    return Snapshot(**row._mapping) if row is not None else None
