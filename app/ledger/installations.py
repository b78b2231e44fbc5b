"""Which organisations installed the App, and on which repositories."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.ledger.engine import insert_into, reading, writing
from app.ledger.tables import installation, installation_repository


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation. `selection` is all or selected."""

    installation_id: int
    account: str
    selection: str
    suspended: bool = False
    deleted: bool = False
    updated_at: float = 0.0


async def upsert(engine: AsyncEngine, new: Installation) -> None:
    """Write an installation down as it is now; `updated_at` is set here."""
    values = {
        "installation_id": new.installation_id,
        "account": new.account[:200],
        "selection": new.selection[:16],
        "suspended": new.suspended,
        "deleted": new.deleted,
        "updated_at": time.time(),
    }
    async with writing(engine) as conn:
        await _upsert(conn, installation, values, ("installation_id",))


async def add_repositories(
    engine: AsyncEngine, installation_id: int, repositories: Mapping[int, str]
) -> None:
    """Note repositories (id → full name) as covered; known ones get their new name."""
    async with writing(engine) as conn:
        for repository_id, full_name in repositories.items():
            values = {
                "installation_id": installation_id,
                "repository_id": repository_id,
                "full_name": full_name[:300],
                "removed": False,
            }
            keys = ("installation_id", "repository_id")
            await _upsert(conn, installation_repository, values, keys)


async def remove_repositories(
    engine: AsyncEngine, installation_id: int, repository_ids: Iterable[int]
) -> None:
    """Note repositories as no longer covered; unknown ones are ignored."""
    table = installation_repository
    statement = (
        update(table)
        .where(
            table.c.installation_id == installation_id,
            table.c.repository_id.in_(list(repository_ids)),
        )
        .values(removed=True)
    )
    async with writing(engine) as conn:
        await conn.execute(statement)


async def load(engine: AsyncEngine, installation_id: int) -> Installation | None:
    """One installation, None when no event told of it (a labelled issue may come first)."""
    statement = select(installation).where(installation.c.installation_id == installation_id)
    async with reading(engine) as conn:
        row = (await conn.execute(statement)).one_or_none()
    return Installation(**row._mapping) if row is not None else None


async def repositories(engine: AsyncEngine, installation_id: int) -> dict[int, str]:
    """Covered repositories (id → full name) as far as events told; "all" need not be complete."""
    table = installation_repository
    statement = select(table.c.repository_id, table.c.full_name).where(
        table.c.installation_id == installation_id, table.c.removed.is_(False)
    )
    async with reading(engine) as conn:
        return {row.repository_id: row.full_name for row in await conn.execute(statement)}


async def find_repository(engine: AsyncEngine, full_name: str) -> tuple[int, int] | None:
    """Installation and repository id of a covered repository by its name, upper or lower case.

    None when no event told of it; the newest installation that was not deleted counts.
    """
    covered, installed = installation_repository, installation
    statement = (
        select(covered.c.installation_id, covered.c.repository_id)
        .join(installed, installed.c.installation_id == covered.c.installation_id, isouter=True)
        .where(
            func.lower(covered.c.full_name) == full_name.lower(),
            covered.c.removed.is_(False),
            func.coalesce(installed.c.deleted, False).is_(False),
        )
        .order_by(installed.c.updated_at.desc())
        .limit(1)
    )
    async with reading(engine) as conn:
        row = (await conn.execute(statement)).one_or_none()
    return (row.installation_id, row.repository_id) if row is not None else None


async def _upsert(
    conn: AsyncConnection, table: Table, values: dict[str, Any], keys: tuple[str, ...]
) -> None:
    statement = insert_into(conn, table).values(values)
    changed = {name: value for name, value in values.items() if name not in keys}
    await conn.execute(statement.on_conflict_do_update(index_elements=list(keys), set_=changed))
