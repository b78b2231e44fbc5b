"""The sweep: find in the ledger what nobody was woken for. Redis may forget everything."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import inbox, runs

GRACE_S = 5.0  # a fresh delivery's own wake-up call is on its way

log = structlog.get_logger(__name__)

Wake = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Swept:
    """Ids that were woken."""

    deliveries: tuple[str, ...]
    runs: tuple[str, ...]


async def sweep(engine: AsyncEngine, admit: Wake, wake: Wake, grace_s: float = GRACE_S) -> Swept:
    """Call `admit` for every unprocessed delivery and `wake` for every run without an owner."""
    deliveries = await inbox.unprocessed(engine, older_than_s=grace_s)
    waiting = await runs.lapsed(engine)
    for guid in deliveries:
        await admit(guid)
    for run_id in waiting:
        await wake(run_id)
    return Swept(tuple(deliveries), tuple(waiting))


async def sweep_forever(
    engine: AsyncEngine, admit: Wake, wake: Wake, every_s: float, nudge: asyncio.Event
) -> None:
    """Sweep now, every `every_s` seconds and whenever `nudge` is set, until cancelled."""
    while True:
        nudge.clear()
        try:
            swept = await sweep(engine, admit, wake)
        except (SQLAlchemyError, OSError) as error:
            log.error("sweep failed", error=type(error).__name__)
        else:
            count = len(swept.deliveries) + len(swept.runs)
            log.debug("swept", count=count)
        try:
            async with asyncio.timeout(every_s):
                await nudge.wait()
        except TimeoutError:
            continue
