"""Hand a stored delivery to admission; try again when it fails, give up when it keeps failing."""

import asyncio
import time
from collections.abc import Sequence

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from app.jobs.contract import Admit, Times
from app.jobs.slice import wait_of
from app.ledger import inbox

MAX_FAILURES = 3
MAX_STARTS = 6  # counted before the work, so this also ends a delivery that ends its workers
MAX_WAIT_S = 24 * 3600.0  # GitHub unreachable for longer: give up
_BACKOFF_S = 5.0  # times the number of the try

log = structlog.get_logger(__name__)


async def process_delivery(
    engine: AsyncEngine, guid: str, admit: Admit, times: Times
) -> Sequence[str]:
    """Admit a delivery once; returns the ids of runs to wake, none when it is done or failed.

    Of several callers one works. Never raises for admission's errors: the row is put back for
    a later sweep or gets the outcome `poison: …`.
    """
    number = await inbox.take(engine, guid, times.lease_s)
    if number is None:
        return ()
    note = log.bind(delivery_id=guid, attempt=number)
    if number > MAX_STARTS:
        await inbox.mark(engine, guid, "poison: it ended the worker every time")
        note.error("delivery is poison")
        return ()
    try:
        run_ids = await admit(guid)
    except asyncio.CancelledError:  # shutdown: the next worker may begin at once
        await inbox.put_back(engine, guid, 0.0, counts=False)
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of a delivery: recorded, not lost
        note.warning("admission failed", error=type(error).__name__, exc_info=error)
        await _record_failure(engine, guid, number, error, times)
        return ()
    await inbox.mark(engine, guid, "processed")  # keeps the outcome admission gave it
    return run_ids


async def _record_failure(
    engine: AsyncEngine, guid: str, number: int, error: Exception, times: Times
) -> None:
    stored = await inbox.load(engine, guid)
    is_fresh = stored is not None and time.time() - stored.received_at < MAX_WAIT_S
    wait_s = wait_of(error, times)
    if wait_s is not None and is_fresh:
        await inbox.put_back(engine, guid, wait_s, counts=False)
    elif number >= MAX_FAILURES:
        await inbox.mark(engine, guid, f"poison: {type(error).__name__}: {error}")
    else:
        await inbox.put_back(engine, guid, _BACKOFF_S * number, counts=True)
