"""Bring a database to this version's tables; safe when several processes start at once."""

import asyncio
import functools
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import reading, writing
from app.ledger.errors import LedgerUnavailable, NotMigrated

_LOCK = 0x5052_4953  # any number, the same in every process: PostgreSQL's advisory lock


async def migrate(engine: AsyncEngine) -> None:
    """Upgrade to the newest version in one transaction; nothing happens when it is there.

    Raises LedgerUnavailable when the database cannot even be read, NotMigrated when a newer
    program has already changed its tables.
    """
    found = await _found(engine)
    if found == newest_version():
        return
    if not is_older(found):
        raise NotMigrated(found, newest_version())
    async with writing(engine) as conn:
        if conn.dialect.name == "postgresql":
            await conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if await conn.run_sync(_version) != newest_version():
            await conn.run_sync(_upgrade)


async def require_migrated(engine: AsyncEngine) -> None:
    """Raise NotMigrated unless the database has exactly this version's tables.

    Raises LedgerUnavailable when it cannot be read.
    """
    found = await _found(engine)
    if found != newest_version():
        raise NotMigrated(found, newest_version())


def is_older(version: str | None) -> bool:
    """Whether a database's version (None: no tables yet) is one this program can upgrade."""
    scripts = ScriptDirectory.from_config(_config())
    return version is None or version in {each.revision for each in scripts.walk_revisions()}


async def _found(engine: AsyncEngine) -> str | None:
    try:
        async with reading(engine) as conn:
            return await conn.run_sync(_version)
    except (SQLAlchemyError, OSError) as error:
        await asyncio.sleep(0.05)  # aiosqlite's thread still reports to this loop, which may end
        raise LedgerUnavailable(error) from error


@functools.cache
def newest_version() -> str:
    """The version this program was written for."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def _config(**attributes: Any) -> Config:
    config = Config(attributes=attributes)
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.set_main_option("path_separator", "os")
    return config


def _upgrade(connection: Connection) -> None:
    command.upgrade(_config(connection=connection), "head")


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)
