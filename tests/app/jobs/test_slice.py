"""Slices: however a body ends, the ledger says so, and a lost claim writes nothing."""

import asyncio
from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from app.github.errors import GitHubUnavailable, RateLimited
from app.jobs.contract import Later, RunEnd, Times
from app.jobs.slice import work
from app.ledger import runs
from app.ledger.engine import writing
from app.ledger.errors import Fenced
from app.ledger.runs import MAX_CRASHES, WAITING, Claim, NewRun, Run
from pipeline.errors import ModelUnavailable

TIMES = Times(lease_s=60, reconnect_s=0.2)
QUICK = Times(lease_s=1.2, reconnect_s=0.2)
DONE = RunEnd("done", "Pull request #4.")


async def _run(ledger: AsyncEngine, claim: Claim) -> Run:
    run = await runs.get(ledger, claim.run.id)
    assert run is not None
    return run


async def _again(ledger: AsyncEngine, claim: Claim, lease_s: float = 60) -> Claim:
    next_claim = await runs.claim(ledger, claim.run.id, "worker-2", lease_s)
    assert next_claim is not None
    return next_claim


async def _forever(_: Claim) -> RunEnd:
    await asyncio.sleep(3600)
    return DONE


async def test_a_body_that_ends_ends_its_run(ledger: AsyncEngine, claim: Claim) -> None:
    """In the state and with the sentence it returned."""

    async def body(given: Claim) -> RunEnd:
        assert given == claim
        return RunEnd("no_fix", "No candidate passed.")

    assert await work(ledger, claim, TIMES, body) == "finished"
    run = await _run(ledger, claim)
    assert (run.state, run.outcome) == ("no_fix", "No candidate passed.")


async def test_the_lease_is_kept_while_the_body_works(ledger: AsyncEngine, claim: Claim) -> None:
    """A body may take many leases; nobody can take the run from it."""

    async def body(_: Claim) -> RunEnd:
        for _ in range(5):
            await asyncio.sleep(0.5)
            assert await runs.claim(ledger, claim.run.id, "thief", 60) is None
        return DONE

    await runs.heartbeat(ledger, claim.run.id, claim.epoch, QUICK.lease_s)
    assert await work(ledger, claim, QUICK, body) == "finished"


@pytest.mark.parametrize(
    ("error", "earliest"),
    [
        (Later(1, "wait"), 1.0),
        (RateLimited(1.0), 1.0),
        (GitHubUnavailable("502"), 0.2),
        (ModelUnavailable("overloaded"), 0.2),
        (TimeoutError(), 0.2),
    ],
)
async def test_not_now_gives_the_run_back(
    ledger: AsyncEngine, claim: Claim, error: Exception, earliest: float
) -> None:
    """It waits, unclaimed, and has not crashed: an outage kills no run."""

    async def body(_: Claim) -> RunEnd:
        raise error

    assert await work(ledger, claim, TIMES, body) == "released"
    assert await runs.claim(ledger, claim.run.id, "worker-2", 60) is None
    await asyncio.sleep(earliest + 0.05)
    assert (await _again(ledger, claim)).run.crash_count == 0


async def test_a_run_that_waits_for_the_provider_says_so(ledger: AsyncEngine, claim: Claim) -> None:
    """It stays its issue's active run under that state, and runs again when it is claimed."""

    async def body(_: Claim) -> RunEnd:
        raise Later(1.0, "overloaded", WAITING)

    assert await work(ledger, claim, TIMES, body) == "released"
    run = await _run(ledger, claim)
    assert (run.state, run.is_active, run.released) == (WAITING, True, True)
    await asyncio.sleep(1.05)
    again = (await _again(ledger, claim)).run
    assert (again.state, again.crash_count) == ("running", 0)


async def test_an_unexpected_error_is_a_crash(ledger: AsyncEngine, claim: Claim) -> None:
    """The run stays active, waits a little and is counted when the next owner claims it."""

    async def body(_: Claim) -> RunEnd:
        raise KeyError("bug")

    assert await work(ledger, claim, TIMES, body) == "crashed"
    run = await _run(ledger, claim)
    assert (run.state, run.released) == ("running", False)
    assert await runs.claim(ledger, claim.run.id, "worker-2", 60) is None


async def test_a_run_that_crashed_too_often_ends_dead(
    ledger: AsyncEngine, new_run: Callable[..., NewRun]
) -> None:
    """Its last owner tells people; whatever state it returns, the run is dead."""
    run_id = (await runs.create(ledger, new_run())).run.id
    for _ in range(MAX_CRASHES):
        crashed = await runs.claim(ledger, run_id, "worker", 60)
        assert crashed is not None
        await runs.abandon(ledger, run_id, crashed.epoch, -1)
    claim = await runs.claim(ledger, run_id, "worker", 60)
    assert claim is not None

    async def body(given: Claim) -> RunEnd:
        assert given.is_exhausted
        return RunEnd("failed", "Given up; see run r-1.")

    assert await work(ledger, claim, TIMES, body) == "finished"
    run = await _run(ledger, claim)
    assert (run.state, run.outcome) == ("dead", "Given up; see run r-1.")


async def test_a_cancelled_run_stops_within_a_heartbeat(ledger: AsyncEngine, claim: Claim) -> None:
    """The body is cancelled and the run ends as cancelled."""
    await runs.request_cancel(ledger, claim.run.id)
    async with asyncio.timeout(5):
        assert await work(ledger, claim, QUICK, _forever) == "cancelled"
    assert (await _run(ledger, claim)).state == "cancelled"


async def test_a_lost_epoch_stops_the_body_and_writes_nothing(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """Somebody took the run over: the old body is cancelled at the next heartbeat."""
    await runs.abandon(ledger, claim.run.id, claim.epoch, -1)
    taken = await _again(ledger, claim)
    async with asyncio.timeout(5):
        assert await work(ledger, claim, QUICK, _forever) == "fenced"
    assert (await _run(ledger, claim)).epoch == taken.epoch
    assert (await _run(ledger, claim)).state == "running"


async def test_a_body_that_finds_itself_fenced_writes_nothing(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """Its own writes may be the first to notice."""

    async def body(given: Claim) -> RunEnd:
        raise Fenced(given.run.id, given.epoch)

    assert await work(ledger, claim, TIMES, body) == "fenced"
    assert (await _run(ledger, claim)).state == "running"


async def test_a_zombie_that_finishes_late_does_not_end_the_new_owners_run(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """The result of a body whose claim was lost is dropped."""

    async def body(_: Claim) -> RunEnd:
        await runs.abandon(ledger, claim.run.id, claim.epoch, -1)
        await _again(ledger, claim)
        return DONE

    assert await work(ledger, claim, TIMES, body) == "fenced"
    assert (await _run(ledger, claim)).state == "running"


async def test_without_heartbeats_the_body_stops_before_its_lease_ends(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """Self-fence: when the ledger cannot be written, nothing goes on after two thirds."""
    await runs.heartbeat(ledger, claim.run.id, claim.epoch, 2.1)
    stopped: list[float] = []
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def body(_: Claim) -> RunEnd:
        try:
            return await _forever(claim)
        finally:
            stopped.append(loop.time() - began)

    async with writing(ledger) as conn:  # holds the only write lock
        await conn.execute(text("UPDATE snapshot SET title = 'x'"))
        task = asyncio.create_task(work(ledger, claim, Times(2.1, 1), body))
        await asyncio.sleep(2.0)
    assert await task == "silent"
    assert 1.2 < stopped[0] < 2.0


async def test_shutdown_gives_the_run_back(ledger: AsyncEngine, claim: Claim) -> None:
    """Cancelling the slice cancels the body, releases the run and counts no crash."""
    ended: list[str] = []

    async def body(_: Claim) -> RunEnd:
        try:
            return await _forever(claim)
        finally:
            await asyncio.sleep(0.05)  # containers take a moment
            ended.append("containers")

    task = asyncio.create_task(work(ledger, claim, TIMES, body))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["containers"]
    assert (await _again(ledger, claim)).run.crash_count == 0


async def test_shutdown_keeps_the_result_of_a_body_that_ends_meanwhile(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """An effect under way is finished, and so is its run."""

    async def body(_: Claim) -> RunEnd:
        try:
            return await _forever(claim)
        except asyncio.CancelledError:
            return DONE

    task = asyncio.create_task(work(ledger, claim, TIMES, body))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await _run(ledger, claim)).state == "done"
