"""What goes from a store: commits long not used, blobs that no kept commit has, other versions."""

import re
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from pipeline.index.store.packing import unpack
from pipeline.index.store.schema import transaction

KEPT_COMMITS = 50  # those last used; the graph of one may take some megabytes
SPARE_COMMITS = 25  # so that the lists of all kept commits are read for every 25th build only
OTHER_DAYS = 7  # an older Prism may still finish its runs beside a newer one
_USED_EVERY_S = 600.0
_DAY_S = 86_400.0


def mark_used(store: sqlite3.Connection, commit: str) -> None:
    """Remember that a built commit is used now: at most every ten minutes, and not when another
    process writes or nothing can be written."""
    now = time.time()
    statement = "SELECT 1 FROM commits WHERE name = ? AND used < ?"
    if store.execute(statement, (commit, now - _USED_EVERY_S)).fetchone():
        store.execute("PRAGMA busy_timeout = 0")
        with suppress(sqlite3.OperationalError), transaction(store):
            store.execute("UPDATE commits SET used = ? WHERE name = ?", (now, commit))


def prune(store: sqlite3.Connection) -> int:
    """Forget all but the 50 commits last used, and what only the others had; returns how many
    blobs went.

    Does nothing until there are 75. Blobs that came after the last time stay: a build that still
    goes on may have brought them. Numbers are not used again, so who has such a commit open finds
    nothing in place of what went, never something else. Of the full text the rows become
    unreachable; SQLite cannot take them out of a table that holds no text.
    """
    (count,) = store.execute("SELECT count(*) FROM commits").fetchone()
    if count <= KEPT_COMMITS + SPARE_COMMITS:
        return 0
    with transaction(store):
        _forget_commits(store)
        return _forget_blobs(store)


def _forget_commits(store: sqlite3.Connection) -> None:
    store.execute(
        "DELETE FROM commits WHERE name NOT IN "
        "(SELECT name FROM commits ORDER BY used DESC, name LIMIT ?)",
        (KEPT_COMMITS,),
    )
    store.execute(
        "DELETE FROM kept WHERE kind GLOB 'graph-*' AND key NOT IN (SELECT name FROM commits)"
    )
    # Lists of ancestors go on in one another: parts of them cannot go.
    store.execute("DELETE FROM kept WHERE kind GLOB 'past-*'")


def _forget_blobs(store: sqlite3.Connection) -> int:
    used = {
        entry[5]
        for (files,) in store.execute("SELECT files FROM commits")
        for entry in unpack(files)
    }
    last = store.execute("SELECT value FROM kept WHERE kind = 'pruned' AND key = ''").fetchone()
    known = store.execute(
        "SELECT id, blob, language FROM blobs WHERE id <= ?", (int(last[0]) if last else 0,)
    ).fetchall()
    gone = [row for row in known if row[0] not in used]
    rows = [(number,) for number, _, _ in gone]
    store.executemany("DELETE FROM units WHERE row = ?", rows)
    store.executemany("DELETE FROM blobs WHERE id = ?", rows)
    keys = [(f"{blob}:{language}",) for _, blob, language in gone]
    store.executemany("DELETE FROM kept WHERE key = ?", keys)
    store.execute(
        "INSERT OR REPLACE INTO kept (kind, key, value) "
        "SELECT 'pruned', '', CAST(coalesce(max(id), 0) AS TEXT) FROM blobs"
    )
    return len(gone)


def remove_other_versions(file: Path) -> None:
    """Remove stores that other versions made beside this one and did not write to for a week."""
    stem, _, _ = file.stem.rpartition(".")
    name = re.compile(rf"{re.escape(stem)}\.[0-9a-f]{{7}}{re.escape(file.suffix)}")
    with suppress(OSError):  # what cannot be removed costs space only
        for other in file.parent.iterdir():
            if name.fullmatch(other.name) and other != file:
                parts = [other, *(other.with_name(other.name + end) for end in ("-wal", "-shm"))]
                if _written(parts) < time.time() - OTHER_DAYS * _DAY_S:
                    _remove(parts)


def _remove(parts: list[Path]) -> None:
    for part in parts:
        part.unlink(missing_ok=True)


def _written(parts: list[Path]) -> float:
    latest = 0.0
    for part in parts:
        with suppress(OSError):
            latest = max(latest, part.stat().st_mtime)
    return latest
