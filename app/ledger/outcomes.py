"""Outcomes of delivered pull requests: merged as they were, edited before, closed; or still open.

A row is made with the pull request and holds numbers only. What people made of it is GitHub's
word, told in any order and any number of times: the newest counts.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Row, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.ledger.engine import insert_into, reading, writing
from app.ledger.fence import check_owner
from app.ledger.tables import installation, outcome, run
from pipeline.choose.calibration import Outcome
from pipeline.choose.choice import Choice
from pipeline.jsonable import to_json

MOST = 500  # the newest outcomes of an installation: more would hide how it is now
How = Literal["merged", "edited", "closed", "open"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A pull request as GitHub shows it; `at` (seconds) tells how new that is."""

    number: int
    head_commit: str
    is_open: bool
    is_merged: bool
    at: float


@dataclass(frozen=True, slots=True)
class Known:
    """A row, for reports. `account` is whose installation it is, as far as is known."""

    installation_id: int
    account: str
    band: str
    how: How
    said: Outcome


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open pull request that GitHub is to be asked about."""

    installation_id: int
    repository_id: int
    repository: str
    number: int


def how_it_ended(delivered: str, seen: Seen) -> How:
    """What people made of the commit that was delivered."""
    if seen.is_open:
        return "open"
    if not seen.is_merged:
        return "closed"
    return "merged" if seen.head_commit == delivered else "edited"


async def deliver(
    engine: AsyncEngine, run_id: str, epoch: int, head_commit: str, seen: Seen, choice: Choice
) -> None:
    """Note that a run's pull request is there, and how it stands; again changes nothing.

    Raises Fenced.
    """
    told = to_json(choice)
    features = told.pop("confidence")
    del features["outcomes"]
    now = time.time()
    async with writing(engine) as conn:
        await check_owner(conn, run_id, epoch)
        of = (await conn.execute(select(run).where(run.c.id == run_id))).one()
        values = features | {
            "run_id": run_id,
            "installation_id": of.installation_id,
            "repository_id": of.repository_id,
            "pull_number": seen.number,
            "head_commit": head_commit,
            "delivered_at": now,
            "asked_at": now,
            "choice": told,
        }
        await conn.execute(insert_into(conn, outcome).values(values).on_conflict_do_nothing())
        await _note(conn, of.installation_id, of.repository_id, seen)


async def note(
    engine: AsyncEngine, installation_id: int, repository_id: int, seen: Seen
) -> How | None:
    """How a pull request stands now; None when it is none that Prism opened.

    Older news than what is known changes nothing.
    """
    async with writing(engine) as conn:
        return await _note(conn, installation_id, repository_id, seen)


async def finished(engine: AsyncEngine, installation_id: int) -> tuple[Outcome, ...]:
    """What an installation's choices came to, newest first, at most `MOST`."""
    statement = (
        select(outcome)
        .where(outcome.c.installation_id == installation_id, outcome.c.outcome.is_not(None))
        .order_by(outcome.c.ended_at.desc(), outcome.c.run_id)
        .limit(MOST)
    )
    async with reading(engine) as conn:
        return tuple(_said(row) for row in await conn.execute(statement))


async def list_all(engine: AsyncEngine) -> Sequence[Known]:
    """Every row, by installation, those that ended last first and open ones at the end."""
    statement = (
        select(outcome, installation.c.account)
        .join(
            installation,
            installation.c.installation_id == outcome.c.installation_id,
            isouter=True,
        )
        .order_by(
            outcome.c.installation_id,
            func.coalesce(outcome.c.ended_at, 0.0).desc(),
            outcome.c.run_id,
        )
    )
    async with reading(engine) as conn:
        return [
            Known(
                row.installation_id,
                row.account or "",
                row.band,
                row.outcome or "open",
                _said(row),
            )
            for row in await conn.execute(statement)
        ]


async def take_open(engine: AsyncEngine, older_than_s: float, limit: int) -> list[Waiting]:
    """Open pull requests that nobody asked about for so long, longest first; now they are asked.

    Those of installations that are gone or suspended are left out.
    """
    away = select(installation.c.installation_id).where(
        or_(installation.c.deleted, installation.c.suspended)
    )
    now = time.time()
    some = (
        select(outcome.c.run_id)
        .where(
            outcome.c.outcome.is_(None),
            outcome.c.asked_at <= now - older_than_s,
            outcome.c.installation_id.not_in(away),
        )
        .order_by(outcome.c.asked_at)
        .limit(limit)
    )
    columns = (
        outcome.c.installation_id,
        outcome.c.repository_id,
        run.c.repository,
        outcome.c.pull_number,
    )
    async with writing(engine) as conn:
        ids = list((await conn.execute(some)).scalars())
        mine = outcome.c.run_id.in_(ids)
        await conn.execute(update(outcome).where(mine).values(asked_at=now))
        rows = select(*columns).join(run, run.c.id == outcome.c.run_id).where(mine)
        found = await conn.execute(rows.order_by(outcome.c.run_id))
        return [Waiting(*row) for row in found]


async def prune(engine: AsyncEngine) -> int:
    """Delete the rows of installations that are gone; their count."""
    gone = select(installation.c.installation_id).where(installation.c.deleted)
    async with writing(engine) as conn:
        statement = delete(outcome).where(outcome.c.installation_id.in_(gone))
        return (await conn.execute(statement)).rowcount


async def _note(
    conn: AsyncConnection, installation_id: int, repository_id: int, seen: Seen
) -> How | None:
    of = (
        outcome.c.installation_id == installation_id,
        outcome.c.repository_id == repository_id,
        outcome.c.pull_number == seen.number,
    )
    row = (await conn.execute(select(outcome).where(*of).with_for_update())).one_or_none()
    if row is None:
        return None
    if seen.at < row.seen_at:
        known: How = row.outcome or "open"
        return known
    how = how_it_ended(row.head_commit, seen)
    word, when = (None, None) if how == "open" else (how, seen.at)
    changed = update(outcome).where(*of).values(outcome=word, ended_at=when, seen_at=seen.at)
    await conn.execute(changed)
    return how


def _said(row: Row[Any]) -> Outcome:
    share = row.valid / row.total if row.total else 0.0
    return Outcome(row.eff, share, row.outcome == "merged")
