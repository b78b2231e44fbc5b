"""Open the ledger: SQLite on one host, PostgreSQL for several; the same tables and statements.

SQLite takes its write lock when a transaction begins. With the default (lock at the first
write) processes that read and then write fail with "database is locked" however long they wait.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Float, Table, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from app.settings import SettingsError

BUSY_TIMEOUT_S = 10
_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_S * 1000}",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
)
# One writer at a time inside a process: waiting here is fair and cheap, waiting in SQLite is
# neither.
_turns: WeakKeyDictionary[Engine, asyncio.Lock] = WeakKeyDictionary()


class Now(FunctionElement[float]):
    """The database's own clock as seconds since the epoch: leases compare in one clock."""

    type = Float()
    inherit_cache = True


@compiles(Now, "sqlite")
def _now_sqlite(*_: object, **__: object) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Now, "postgresql")
def _now_postgresql(*_: object, **__: object) -> str:
    return "extract(epoch from clock_timestamp())::double precision"


def open_ledger(url: str) -> AsyncEngine:
    """An engine for `url` (`settings.database`); connects when first used.

    A missing folder of an SQLite file is made. The caller disposes of the engine. Raises
    SettingsError when the database's driver is not installed.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(parsed)
    try:
        return create_async_engine(parsed, pool_pre_ping=True, hide_parameters=True)
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"DATABASE_URL needs the package {error.name}: install Prism with its `postgres` extra."
        ) from error


@asynccontextmanager
async def writing(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that may write; commits at the end, rolls back on an error."""
    if engine.dialect.name != "sqlite":
        async with engine.begin() as conn:
            yield conn
        return
    async with _turns.setdefault(engine.sync_engine, asyncio.Lock()), engine.begin() as conn:
        yield conn


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction that only reads; on SQLite it never waits for a writer."""
    async with engine.connect() as conn:
        yield await conn.execution_options(prism_reads=True)


def insert_into(conn: AsyncConnection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that knows ON CONFLICT, in the connection's dialect."""
    if conn.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def _open_sqlite(url: URL) -> AsyncEngine:
    if url.database and url.database != ":memory:":
        with suppress(OSError):  # told by the first connection, in SQLAlchemy's words
            Path(url.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = create_async_engine(
        url,
        connect_args={"isolation_level": None},  # SQLAlchemy begins, the driver must not
        pool_size=8,
        max_overflow=0,
        pool_timeout=60,
        hide_parameters=True,  # errors are logged, bodies are not
    )
    event.listen(engine.sync_engine, "connect", _on_connect)
    event.listen(engine.sync_engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _on_begin(connection: Connection) -> None:
    reads = connection.get_execution_options().get("prism_reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
