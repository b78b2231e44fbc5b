"""Records of runs over the record table (implements pipeline.services.Recorder).

Agents never wait for the database: records are collected and written a few times a second.
"""

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import structlog
from sqlalchemy import delete, func, or_, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import reading, writing
from app.ledger.errors import LedgerError
from app.ledger.fence import check_owner
from app.ledger.tables import installation, record
from pipeline.recording import Packer, Record, record_event, recorded
from pipeline.services import Json, RecordKind

COLLECT_S = 0.25
LAST_WORDS_S = 5.0
MAX_PENDING_BYTES = 64 * 1024 * 1024  # not compressed, while the database does not answer
MAX_RECORD_BYTES = 8 * 1024 * 1024  # of a tool result, not compressed
PRUNED_AT_ONCE = 500  # rows: others must get their turn to write

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class SqlRecorder:
    """Records of one run, written under one epoch; made by `recording`.

    What cannot be written ends the recording with one line in the log, and never the run.
    """

    engine: AsyncEngine
    run_id: str
    epoch: int
    limit_bytes: int
    _written_bytes: int = 0
    _packer: Packer = field(default_factory=Packer)
    _pending: list[dict[str, Any]] = field(default_factory=list)
    _pending_bytes: int = 0
    _more: asyncio.Event = field(default_factory=asyncio.Event)
    _stopped: bool = False

    async def record(self, kind: RecordKind, address: str, attempt: int, data: Json) -> None:
        """See Recorder.record; the row is written within half a second."""
        if self._stopped:
            return
        try:
            text = json.dumps(self._packer.pack(kind, data), separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            self._stop(f"{address} is no JSON ({error})")
            return
        if len(text) > MAX_RECORD_BYTES and kind != "call":
            text = json.dumps({"left_out_bytes": len(text)}).encode()
        self._pending.append(
            {
                "kind": kind,
                "address": address[:160],
                "attempt": attempt,
                "data": text,
                "recorded_at": time.time(),
            }
        )
        self._pending_bytes += len(text)
        self._more.set()
        if self._pending_bytes > MAX_PENDING_BYTES:
            self._stop("the database is too slow")

    async def flush(self) -> None:
        """Write what is pending; raises Fenced and the database's errors."""
        rows, self._pending, self._pending_bytes = self._pending, [], 0
        self._more.clear()
        if not rows or self._stopped:
            return
        await asyncio.to_thread(_compress, rows)
        size = sum(len(row["data"]) for row in rows)
        if self._written_bytes + size > self.limit_bytes:
            self._stop(f"its records are larger than {self.limit_bytes / 1e6:g} MB")
            return
        async with writing(self.engine) as conn:
            owned = await check_owner(conn, self.run_id, self.epoch)
            of_run = {"run_id": self.run_id, "installation_id": owned.installation_id}
            await conn.execute(record.insert(), [{**row, **of_run} for row in rows])
        self._written_bytes += size

    async def _keep_flushing(self, closing: asyncio.Event) -> None:
        """Until `closing`, a few times a second; then once more."""
        while not closing.is_set():
            await self._more.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(COLLECT_S):
                    await closing.wait()
            await self._try_flush()
        await self._try_flush()

    async def _try_flush(self) -> None:
        try:
            await self.flush()
        except (LedgerError, SQLAlchemyError, OSError) as error:
            self._stop(type(error).__name__)

    def _stop(self, reason: str) -> None:
        """Later records could not be read without the lost ones, so none follow."""
        self._stopped = True
        self._pending, self._pending_bytes = [], 0
        log.warning("recording stopped", run_id=self.run_id, reason=reason)


@asynccontextmanager
async def recording(
    engine: AsyncEngine, run_id: str, epoch: int, limit_bytes: int
) -> AsyncIterator[SqlRecorder]:
    """A recorder whose rows are all written when the context ends, also by an error.

    `limit_bytes` bounds the compressed records of the run, those of earlier epochs included.
    """
    recorder, closing = SqlRecorder(engine, run_id, epoch, limit_bytes), asyncio.Event()
    try:
        recorder._written_bytes = await size_of(engine, run_id)
    except (SQLAlchemyError, OSError) as error:
        recorder._stop(type(error).__name__)
    task = asyncio.create_task(recorder._keep_flushing(closing))
    try:
        yield recorder
    finally:
        closing.set()
        recorder._more.set()
        _, late = await asyncio.wait({task}, timeout=LAST_WORDS_S)
        if late:
            task.cancel()
            log.warning("recording stopped", run_id=run_id, reason="the database is too slow")


async def size_of(engine: AsyncEngine, run_id: str) -> int:
    """Bytes that a run's records take in the table."""
    statement = select(func.coalesce(func.sum(func.length(record.c.data)), 0))
    async with reading(engine) as conn:
        return int((await conn.execute(statement.where(record.c.run_id == run_id))).scalar_one())


async def load(engine: AsyncEngine, run_id: str) -> list[Record]:
    """Everything recorded of a run in the order in which it happened."""
    return list(recorded(await load_events(engine, run_id)))


async def load_events(engine: AsyncEngine, run_id: str) -> list[Json]:
    """The same as events of a journal file (`pipeline.recording`), still packed."""
    statement = select(record).where(record.c.run_id == run_id).order_by(record.c.id)
    async with reading(engine) as conn:
        rows = (await conn.execute(statement)).all()
    return [
        record_event(row.kind, row.address, row.attempt, json.loads(zlib.decompress(row.data)))
        for row in rows
    ]


async def prune(engine: AsyncEngine, max_days: float) -> int:
    """Delete records older than `max_days`, and all of installations that are gone; their count.

    A few hundred rows per transaction, so that runs can write in between.
    """
    gone = select(installation.c.installation_id).where(installation.c.deleted)
    old = record.c.recorded_at < time.time() - max_days * 86_400
    some = select(record.c.id).where(or_(old, record.c.installation_id.in_(gone)))
    count = 0
    while True:
        async with writing(engine) as conn:
            ids = some.order_by(record.c.id).limit(PRUNED_AT_ONCE)
            deleted = (await conn.execute(delete(record).where(record.c.id.in_(ids)))).rowcount
        count += deleted
        if deleted < PRUNED_AT_ONCE:
            return count


def _compress(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row["data"] = zlib.compress(row["data"])
