"""Effects of a run on GitHub: noted before they are tried and when they are there.

The row says what was meant; whether it happened is looked up at GitHub by whoever carries it
out. Kinds are status_comment, branch, pull_request, reply.
"""

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.ledger.engine import reading, writing
from app.ledger.errors import EffectMismatch, LedgerError
from app.ledger.fence import check_owner
from app.ledger.tables import effect


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect. `remote_id` and `url` are None until the state is done."""

    kind: str
    request_hash: str
    state: Literal["intent", "done"]
    remote_id: str | None
    url: str | None


def request_hash(request: Any) -> str:
    """A hash of the plain JSON that identifies an effect (not of texts that change)."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


async def intend(
    engine: AsyncEngine, run_id: str, epoch: int, kind: str, hash_of_request: str
) -> Effect:
    """Note what is about to be done and return the row, which may say that it is done.

    Raises Fenced; EffectMismatch when the same kind was noted with another request.
    """
    async with writing(engine) as conn:
        owned = await check_owner(conn, run_id, epoch)
        known = await _load(conn, run_id, kind)
        if known is None:
            statement = effect.insert().values(
                run_id=run_id,
                kind=kind,
                installation_id=owned.installation_id,
                request_hash=hash_of_request,
                state="intent",
                recorded_at=time.time(),
            )
            await conn.execute(statement)
            return Effect(kind, hash_of_request, "intent", None, None)
    if known.request_hash != hash_of_request:
        raise EffectMismatch(run_id, kind)
    return known


async def done(
    engine: AsyncEngine, run_id: str, epoch: int, kind: str, remote_id: str, url: str
) -> None:
    """Note where the effect is to be found. Raises Fenced, LedgerError without an intent."""
    async with writing(engine) as conn:
        await check_owner(conn, run_id, epoch)
        statement = (
            update(effect)
            .where(effect.c.run_id == run_id, effect.c.kind == kind)
            .values(state="done", remote_id=remote_id, url=url, recorded_at=time.time())
        )
        if (await conn.execute(statement)).rowcount != 1:
            raise LedgerError(f"The effect {kind!r} of run {run_id} was never announced.")


async def load(engine: AsyncEngine, run_id: str, kind: str) -> Effect | None:
    """The effect of this kind, None when it was never announced."""
    async with reading(engine) as conn:
        return await _load(conn, run_id, kind)


async def _load(conn: AsyncConnection, run_id: str, kind: str) -> Effect | None:
    columns = [effect.c[name] for name in Effect.__slots__]
    statement = select(*columns).where(effect.c.run_id == run_id, effect.c.kind == kind)
    row = (await conn.execute(statement)).one_or_none()
    return Effect(**row._mapping) if row is not None else None
