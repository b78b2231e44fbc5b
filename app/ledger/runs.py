"""Runs: one active per issue, owned by one worker at a time under an epoch and a lease.

queued ──claim──▶ running ──▶ publishing ──▶ done │ no_fix │ cancelled │ …   (final)
   ▲                 │  ▲
   └─ never          │  └─ claim ── waiting_provider ◀── the model provider is down
                     └─ lease over or released: claimed again under a higher epoch
"""

import hashlib
import time
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.ledger.engine import Now, reading, writing
from app.ledger.errors import Fenced
from app.ledger.fence import check_owner
from app.ledger.tables import ACTIVE_STATES, TERMINAL_STATES, call, run

MAX_CRASHES = 5  # then the run is only told of, no longer worked on
BRANCHES = "prism/issue-"  # the issue's number follows
WAITING = "waiting_provider"
_GIVE_UP = MAX_CRASHES + 3  # telling crashed as well: end it without a word


@dataclass(frozen=True, slots=True)
class NewRun:
    """What admission knows. `delivery` is the id of the delivery that asked for the run."""

    delivery: str
    installation_id: int
    repository_id: int
    repository: str
    issue_number: int
    snapshot_id: str
    requested_by: str
    requested_by_id: int
    budget_usd: float
    base_branch: str = ""
    base_commit: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run's row. Times are seconds since the epoch, `outcome` is one sentence for people."""

    id: str
    installation_id: int
    repository_id: int
    repository: str
    issue_number: int
    generation: int
    branch: str
    snapshot_id: str
    requested_by: str
    requested_by_id: int
    base_branch: str
    base_commit: str
    state: str
    stage: str
    epoch: int
    worker: str | None
    lease_until: float
    released: bool
    crash_count: int
    cancel_requested: bool
    budget_usd: float
    created_at: float
    finished_at: float | None
    outcome: str | None

    @property
    def is_active(self) -> bool:
        """Whether the run still has work to do."""
        return self.state in ACTIVE_STATES


@dataclass(frozen=True, slots=True)
class Created:
    """`is_new` is False when the issue had an active run or the delivery had made one."""

    run: Run
    is_new: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """Ownership of a run under an epoch."""

    run: Run

    @property
    def epoch(self) -> int:
        """What every write of this owner is checked against."""
        return self.run.epoch

    @property
    def is_exhausted(self) -> bool:
        """Whether the run crashed its workers too often: say so to people, do nothing else."""
        return self.run.crash_count >= MAX_CRASHES


def run_id_of(delivery: str) -> str:
    """The id of the run a delivery asks for: admitted twice, it is still one run."""
    return f"r-{hashlib.sha256(delivery.encode()).hexdigest()[:16]}"


async def create(engine: AsyncEngine, new: NewRun) -> Created:
    """Make the issue's next run, or return the one that stands in its way.

    Single flight per issue: an active run is returned instead of a second one, and so is a run
    the same delivery made earlier, whatever its state.
    """
    for _ in range(3):
        try:
            async with writing(engine) as conn:
                return await _create(conn, new)
        except IntegrityError:  # PostgreSQL: somebody else's run came first; look again
            continue
    raise RuntimeError(f"Issue {new.repository}#{new.issue_number} could not be queued.")


async def get(engine: AsyncEngine, run_id: str) -> Run | None:
    """The run, None when there is none."""
    async with reading(engine) as conn:
        return await _one(conn, run.c.id == run_id)


async def latest_for_issue(
    engine: AsyncEngine, installation_id: int, repository_id: int, issue_number: int
) -> Run | None:
    """The issue's highest generation, None before the first."""
    async with reading(engine) as conn:
        statement = (
            select(run)
            .where(
                run.c.installation_id == installation_id,
                run.c.repository_id == repository_id,
                run.c.issue_number == issue_number,
            )
            .order_by(run.c.generation.desc())
            .limit(1)
        )
        row = (await conn.execute(statement)).one_or_none()
        return Run(**row._mapping) if row is not None else None


async def lapsed(engine: AsyncEngine, limit: int = 50) -> list[str]:
    """Ids of runs nobody works on (queued, released or lease over), longest waiting first."""
    statement = (
        select(run.c.id)
        .where(run.c.state.in_(ACTIVE_STATES), run.c.lease_until < Now())
        .order_by(run.c.created_at)
        .limit(limit)
    )
    async with reading(engine) as conn:
        return list((await conn.execute(statement)).scalars())


async def claim(engine: AsyncEngine, run_id: str, worker: str, lease_s: float) -> Claim | None:
    """Take an active run whose lease is over; None when there is nothing to take.

    One statement decides, so of several claimers one wins. A previous owner that did not release
    counts as crashed, and its open reservations are settled at their worst case.
    """
    statement = (
        update(run)
        .where(run.c.id == run_id, run.c.state.in_(ACTIVE_STATES), run.c.lease_until < Now())
        .values(
            epoch=run.c.epoch + 1,
            worker=worker[:100],
            lease_until=Now() + lease_s,
            state=case((run.c.state.in_(("queued", WAITING)), "running"), else_=run.c.state),
            crash_count=run.c.crash_count + case((run.c.released.is_(True), 0), else_=1),
            released=False,
        )
        .returning(run)
    )
    async with writing(engine) as conn:
        row = (await conn.execute(statement)).one_or_none()
        if row is None:
            return None
        await _lose_open_calls(conn, run_id)
        if row.crash_count >= _GIVE_UP:
            await _end(conn, run_id, "dead", "Ended without a message: every worker crashed on it.")
            return None
    return Claim(Run(**row._mapping))


async def heartbeat(engine: AsyncEngine, run_id: str, epoch: int, lease_s: float) -> bool:
    """Extend the lease; returns whether somebody asked to cancel. Raises Fenced."""
    statement = (
        update(run)
        .where(_owned(run_id, epoch))
        .values(lease_until=Now() + lease_s)
        .returning(run.c.cancel_requested)
    )
    async with writing(engine) as conn:
        asked = (await conn.execute(statement)).scalar_one_or_none()
    if asked is None:
        raise Fenced(run_id, epoch)
    return bool(asked)


async def release(
    engine: AsyncEngine, run_id: str, epoch: int, wait_s: float = 0.0, state: str = ""
) -> None:
    """Give the run back unfinished, to be claimed after `wait_s`; not a crash. Raises Fenced.

    `state` says what it waits for (`waiting_provider`), "" leaves it as it is.
    """
    # An instant in the past, so that a claim in the same millisecond finds it over.
    until = Now() + wait_s if wait_s > 0 else 0.0
    waiting = {"state": state} if state else {}
    await _write(engine, run_id, epoch, released=True, lease_until=until, **waiting)


async def abandon(engine: AsyncEngine, run_id: str, epoch: int, wait_s: float) -> None:
    """Give the run back as crashed, to be claimed after `wait_s`. Raises Fenced."""
    await _write(engine, run_id, epoch, lease_until=Now() + wait_s)


async def set_stage(
    engine: AsyncEngine, run_id: str, epoch: int, stage: str, state: str = "running"
) -> None:
    """Note where the run stands; `state` is running or publishing. Raises Fenced."""
    if state not in {"running", "publishing"}:
        raise ValueError(f"A working run is running or publishing, not {state!r}.")
    await _write(engine, run_id, epoch, stage=stage, state=state)


async def finish(engine: AsyncEngine, run_id: str, epoch: int, state: str, outcome: str) -> None:
    """End the run in a terminal state with one sentence for people. Raises Fenced."""
    if state not in TERMINAL_STATES:
        raise ValueError(f"{state!r} is not a terminal state.")
    async with writing(engine) as conn:
        await check_owner(conn, run_id, epoch)
        await _lose_open_calls(conn, run_id)
        await _end(conn, run_id, state, outcome)


async def request_cancel(engine: AsyncEngine, run_id: str) -> bool:
    """Ask the owner to stop; it hears at its next heartbeat. False when nothing is active."""
    statement = (
        update(run)
        .where(run.c.id == run_id, run.c.state.in_(ACTIVE_STATES))
        .values(cancel_requested=True)
    )
    async with writing(engine) as conn:
        return (await conn.execute(statement)).rowcount == 1


async def _create(conn: AsyncConnection, new: NewRun) -> Created:
    same_issue = and_(
        run.c.repository_id == new.repository_id, run.c.issue_number == new.issue_number
    )
    run_id = run_id_of(new.delivery)
    mine = await _one(conn, run.c.id == run_id)
    if mine is not None:
        return Created(mine, is_new=False)
    active = await _one(conn, and_(same_issue, run.c.state.in_(ACTIVE_STATES)))
    if active is not None and active.installation_id == new.installation_id:
        return Created(active, is_new=False)
    if active is not None:  # of an installation that is gone: its token is, too
        await _end(conn, active.id, "cancelled", "The App was installed anew meanwhile.")
    highest = select(func.coalesce(func.max(run.c.generation), 0)).where(same_issue)
    generation = int((await conn.execute(highest)).scalar_one()) + 1
    suffix = "" if generation == 1 else f"-{generation}"
    values = {name: getattr(new, name) for name in NewRun.__slots__ if name != "delivery"}
    values |= {
        "id": run_id,
        "generation": generation,
        "branch": f"{BRANCHES}{new.issue_number}{suffix}",
        "state": "queued",
        "created_at": time.time(),
    }
    row = (await conn.execute(run.insert().values(values).returning(run))).one()
    return Created(Run(**row._mapping), is_new=True)


async def _one(conn: AsyncConnection, condition: ColumnElement[bool]) -> Run | None:
    row = (await conn.execute(select(run).where(condition))).one_or_none()
    return Run(**row._mapping) if row is not None else None


async def _write(engine: AsyncEngine, run_id: str, epoch: int, **values: object) -> None:
    async with writing(engine) as conn:
        done = await conn.execute(update(run).where(_owned(run_id, epoch)).values(values))
    if done.rowcount != 1:
        raise Fenced(run_id, epoch)


async def _lose_open_calls(conn: AsyncConnection, run_id: str) -> None:
    """Settle what nobody will settle any more: it may have been paid, so it counts in full."""
    statement = (
        update(call)
        .where(call.c.run_id == run_id, call.c.state == "open")
        .values(state="lost", cost_usd=call.c.reserved_usd, settled_at=time.time())
    )
    await conn.execute(statement)


async def _end(conn: AsyncConnection, run_id: str, state: str, outcome: str) -> None:
    statement = (
        update(run)
        .where(run.c.id == run_id)
        .values(state=state, outcome=outcome, finished_at=time.time(), released=True, lease_until=0)
    )
    await conn.execute(statement)


def _owned(run_id: str, epoch: int) -> ColumnElement[bool]:
    return and_(
        run.c.id == run_id,
        run.c.epoch == epoch,
        run.c.released.is_(False),
        run.c.state.in_(ACTIVE_STATES),
    )
