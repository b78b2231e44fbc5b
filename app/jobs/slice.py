"""One slice: a claimed run is worked on while its lease is kept alive, then ended or given back.

body ends by itself ─▶ finish                    Later, no connection ─▶ release, again later
SIGTERM             ─▶ release (no crash)        any other error      ─▶ abandon (a crash)
somebody cancelled  ─▶ finish as cancelled       epoch lost           ─▶ write nothing more
no heartbeat for ⅔ of the lease ─▶ stop before the lease ends, release if the ledger answers
"""

import asyncio
import time
from typing import Literal

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.github.errors import RateLimited
from app.jobs.contract import Later, RunBody, RunEnd, Times
from app.ledger import runs
from app.ledger.errors import Fenced
from app.ledger.runs import Claim

Ended = Literal["finished", "released", "crashed", "cancelled", "fenced", "silent", "lost"]

STOP_TIMEOUT_S = 20.0  # for a cancelled body to end its containers
CRASH_BACKOFF_S = 5.0  # times the crashes so far

log = structlog.get_logger(__name__)


async def work(engine: AsyncEngine, claim: Claim, times: Times, body: RunBody) -> Ended:
    """Run `body` under the claim and record how it ended; never raises for a body's errors.

    Cancelling this (shutdown) cancels the body, gives the run back and raises CancelledError.
    """
    task = asyncio.ensure_future(body(claim))
    beat = asyncio.create_task(_keep_lease(engine, claim, times.lease_s))
    try:
        await asyncio.wait({task, beat}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        beat.cancel()
        if await _stop(task, claim):
            await _conclude(engine, claim, times, task, "shutdown")
        raise
    if task.done():
        beat.cancel()
        return await _conclude(engine, claim, times, task, "shutdown")
    reason = beat.result()
    if not await _stop(task, claim):
        return "lost"
    return await _conclude(engine, claim, times, task, reason)


_Reason = Literal["shutdown", "cancelled", "fenced", "silent"]


async def _keep_lease(engine: AsyncEngine, claim: Claim, lease_s: float) -> _Reason:
    """Beat every quarter of the lease; returns when the body has to stop, and why."""
    last = time.monotonic()
    while True:
        left = last + lease_s * 2 / 3 - time.monotonic()
        await asyncio.sleep(max(0.0, min(lease_s / 4, left)))
        began = time.monotonic()
        left = last + lease_s * 2 / 3 - began
        if left <= 0:
            return "silent"
        try:
            async with asyncio.timeout(left):
                asked = await runs.heartbeat(engine, claim.run.id, claim.epoch, lease_s)
        except Fenced:
            return "fenced"
        except (TimeoutError, SQLAlchemyError, OSError) as error:
            log.warning("heartbeat failed", run_id=claim.run.id, error=type(error).__name__)
            continue
        last = began
        if asked:
            return "cancelled"


async def _stop(task: "asyncio.Future[RunEnd]", claim: Claim) -> bool:
    """Cancel the body and wait for it; False when it does not listen."""
    task.cancel()
    await asyncio.wait({task}, timeout=STOP_TIMEOUT_S)
    if not task.done():
        log.error("run does not stop", run_id=claim.run.id, epoch=claim.epoch)
    return task.done()


async def _conclude(
    engine: AsyncEngine,
    claim: Claim,
    times: Times,
    task: "asyncio.Future[RunEnd]",
    reason: _Reason,
) -> Ended:
    note = log.bind(run_id=claim.run.id, epoch=claim.epoch)
    try:
        ended = await _record(engine, claim, times, task, reason)
    except Fenced:
        ended = "fenced"
    except (SQLAlchemyError, OSError) as error:
        note.error("the ledger does not answer", error=type(error).__name__)
        ended = "lost"
    note.info("slice ended", outcome=ended)
    return ended


async def _record(
    engine: AsyncEngine,
    claim: Claim,
    times: Times,
    task: "asyncio.Future[RunEnd]",
    reason: _Reason,
) -> Ended:
    run_id, epoch = claim.run.id, claim.epoch
    if not task.cancelled() and task.exception() is None:
        end = task.result()
        state = "dead" if claim.is_exhausted else end.state
        await runs.finish(engine, run_id, epoch, state, end.outcome)
        return "finished"
    if reason == "fenced":
        return "fenced"
    if reason == "cancelled":
        await runs.finish(engine, run_id, epoch, "cancelled", "Stopped on request.")
        return "cancelled"
    if task.cancelled():
        await runs.release(engine, run_id, epoch)
        return "silent" if reason == "silent" else "released"
    return await _record_error(engine, claim, times, task.exception())


async def _record_error(
    engine: AsyncEngine, claim: Claim, times: Times, error: BaseException | None
) -> Ended:
    run_id, epoch = claim.run.id, claim.epoch
    if isinstance(error, Fenced):
        return "fenced"
    if (wait_s := wait_of(error, times)) is not None:
        log.warning("run waits", run_id=run_id, error=str(error), duration_s=wait_s)
        state = error.state if isinstance(error, Later) else ""
        await runs.release(engine, run_id, epoch, wait_s, state)
        return "released"
    log.error("run crashed", run_id=run_id, epoch=epoch, exc_info=error)
    backoff_s = CRASH_BACKOFF_S * (claim.run.crash_count + 1)
    await runs.abandon(engine, run_id, epoch, backoff_s)
    return "crashed"


def wait_of(error: BaseException | None, times: Times) -> float | None:
    """Seconds to wait when an error means "not now", None when it means something else."""
    if isinstance(error, Later):
        return max(error.wait_s, 1.0)
    if isinstance(error, RateLimited):
        return max(error.retry_after_s, 1.0)
    if isinstance(error, ConnectionError | TimeoutError):
        return times.reconnect_s
    return None
