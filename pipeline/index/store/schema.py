"""The tables of one repository's store, and how a connection to them is made.

blobs    what was parsed, by (blob, language); never changed once written, no number used twice
commits  the files of a built commit, each with its row of `blobs`; when it was last used
units    the searchable pieces of a row of `blobs`; `id` is the rowid in `unit_fts`
unit_fts full text of the units: words as written and split, lower case (contentless)
kept     what other parts of the index derive and want back: (kind, key) → bytes; a key that is
         `blob:language` goes with that blob, a kind `graph-…` with the commit of its key, kinds
         `past-…` whole whenever commits go (git tells them again in a second)

Each version of the parser has a file of its own, so an older Prism may go on beside a newer one.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.index.errors import StoreUnusable
from pipeline.index.store.packing import Damaged
from pipeline.index.store.version import version

BUSY_TIMEOUT_S = 60.0
_NO_ACCESS = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")
_TABLES = ("blobs", "commits", "units", "unit_fts", "kept")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS blobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, blob TEXT NOT NULL, language TEXT NOT NULL,
    lines INTEGER NOT NULL, degraded TEXT NOT NULL, parsed BLOB NOT NULL, UNIQUE (blob, language)
);
CREATE TABLE IF NOT EXISTS commits (
    name TEXT PRIMARY KEY, used REAL NOT NULL, files BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS units (
    id INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS units_of_row ON units (row);
CREATE VIRTUAL TABLE IF NOT EXISTS unit_fts USING fts5 (
    name, owner, path, body, content='', tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE TABLE IF NOT EXISTS kept (
    kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
"""


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """SQLite's errors, and data that cannot be unpacked, as StoreUnusable."""
    try:
        yield
    except (sqlite3.Error, Damaged) as error:
        raise StoreUnusable(
            f"The code index {path} cannot be used: {error}. {_advice(error)}"
        ) from (error)


def _advice(error: Exception) -> str:
    if getattr(error, "sqlite_errorname", "").startswith(_NO_ACCESS):
        return "See that Prism's user may write this file and its folder."
    if getattr(error, "sqlite_errorname", "").startswith("SQLITE_FULL"):
        return "Make room on its disk and try again; what was parsed before is kept."
    return "It holds nothing that cannot be made again: remove the file if this stays."


def store_file(store_path: Path) -> Path:
    """The file of a store for this version of the parser: `a/x.sqlite` → `a/x.0c0ffee.sqlite`."""
    return store_path.with_name(f"{store_path.stem}.{version():07x}{store_path.suffix}")


def connect(path: Path, wait_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Open a store's file, created or emptied when it is new or says that it is another version's.

    The connection may be used from several threads, one statement at a time. It waits `wait_s`
    for who writes. Raises StoreUnusable.
    """
    with errors_of(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnusable(
                f"{path.parent} cannot be used for a code index: {error}"
            ) from error
        connection = sqlite3.connect(
            path, timeout=wait_s, isolation_level=None, check_same_thread=False
        )
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def reading(path: Path) -> sqlite3.Connection | None:
    """Open a store's file to read only; None when it is not there or is another version's.

    Waits for no writer. Where neither file nor folder can be written, and nobody left changes
    beside the file, it is read as one that does not change. Raises StoreUnusable.
    """
    with errors_of(path):
        if not path.exists():
            return None
        try:
            connection = _read(path, "mode=rw")
        except sqlite3.OperationalError:
            if os.access(path.parent, os.W_OK) or path.with_name(f"{path.name}-wal").exists():
                raise
            connection = _read(path, "mode=ro&immutable=1")
        if connection is not None:
            connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _read(path: Path, how: str) -> sqlite3.Connection | None:
    """The connection, closed again when the file is not this version's."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if _version(connection) == version():
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One write at a time among all processes; nothing of it stays when the block raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    if _version(connection) == version():
        return
    with transaction(connection):
        if _version(connection) == version():  # another process was faster
            return
        for table in _TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version()}")


def _version(connection: sqlite3.Connection) -> int:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    return int(found)
