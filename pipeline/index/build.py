"""Build the index of one commit: list it, parse what no earlier commit brought, remember both."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.index.errors import IndexingFailed
from pipeline.index.objects import GitObjects, TreeEntry
from pipeline.index.parse import language_of
from pipeline.index.store.packing import pack, unpack
from pipeline.index.store.pruning import mark_used, prune, remove_other_versions
from pipeline.index.store.schema import connect, errors_of, reading, store_file, transaction
from pipeline.index.worker import Job, Result
from pipeline.index.workers import Workers, degraded

MAX_READ = 4_000_000  # bytes; what is larger is not even read
WRITE_FILES = 200  # results per transaction
MAX_ROUNDS = 5  # another process may prune what this one found known

Progress = Callable[[int, int], None]
Key = tuple[str, str]
_Tree = Sequence[tuple[TreeEntry, str]]  # with the language, "" for none


@dataclass(frozen=True, slots=True)
class BuildStats:
    """What a build did. `files` counts all of the commit, `parsed` and `parsed_bytes` what was
    new, `reused` what an earlier build had, `degraded` what is only cut into chunks."""

    commit: str
    files: int
    parsed: int
    reused: int
    degraded: int
    parsed_bytes: int
    seconds: float


def build(
    objects: GitObjects,
    commit: str,
    store_path: Path,
    progress: Progress | None = None,
    workers: int | None = None,
) -> BuildStats:
    """Make sure that `commit` is in the store; only blobs that it does not know are parsed.

    Blocks, so call it in a thread. `progress` is told (done, total) files. `workers` is the number
    of processes, one per core when None. Several processes may build into one store at once. An
    interrupted build keeps what was parsed. Of a store that grew old parts go; see
    `pipeline.index.store.pruning`. Raises UnknownCommit, ObjectMissing, StoreUnusable,
    IndexingFailed.
    """
    start = time.monotonic()
    name, file = objects.resolve(commit), store_file(store_path)
    known, new = _listed(file, name), _New()
    if known is None:
        with closing(connect(file)) as store, errors_of(file):
            added, new = _added(store, objects, name, progress, workers or os.cpu_count() or 1)
            prune(store)
            remove_other_versions(file)
            known = _Known(added, _degraded(store))
    rows = {entry[5] for entry in known.entries if entry[5]}
    return BuildStats(
        commit=name,
        files=len(known.entries),
        parsed=new.files,
        reused=max(0, len(rows) - new.files),
        degraded=len(rows & known.degraded),
        parsed_bytes=new.bytes,
        seconds=time.monotonic() - start,
    )


class _Known(NamedTuple):
    """The files of a built commit, and the rows of all blobs that are only cut into chunks."""

    entries: list[Any]
    degraded: set[int]


class _New(NamedTuple):
    """What a build had to parse."""

    files: int = 0
    bytes: int = 0


def _added(
    store: sqlite3.Connection,
    objects: GitObjects,
    name: str,
    progress: Progress | None,
    count: int,
) -> tuple[list[Any], _New]:
    """Parse and remember a commit; again what another process pruned meanwhile."""
    tree = [(entry, _language(entry)) for entry in objects.tree(name)]
    new = _New()
    for _ in range(MAX_ROUNDS):
        wanted = _wanted(tree, _known(store))
        size = sum(entry.size for entry in wanted.values())
        new = _New(new.files + len(wanted), new.bytes + size)
        if wanted:
            _parse_all(store, objects, wanted, progress, count)
        entries = _remember(store, name, tree)
        if entries is not None:
            return entries, new
    raise IndexingFailed(
        f"Other processes removed parts of commit {name[:12]} from the code index as often as they "
        "were added. Try again."
    )


def _listed(file: Path, name: str) -> _Known | None:
    """A commit that was built before, None for a new one; nobody who writes is waited for."""
    store = reading(file)
    if store is None:
        return None
    with closing(store), errors_of(file):
        row = store.execute("SELECT files FROM commits WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        mark_used(store, name)
        return _Known(unpack(row[0]), _degraded(store))


def _known(store: sqlite3.Connection) -> dict[Key, int]:
    rows = store.execute("SELECT blob, language, id FROM blobs")
    return {(blob, language): number for blob, language, number in rows}


def _wanted(tree: _Tree, known: dict[Key, int]) -> dict[Key, TreeEntry]:
    """The first path of each blob that can be parsed and is not known."""
    wanted: dict[Key, TreeEntry] = {}
    for entry, language in tree:
        key = (entry.blob, language)
        if language and key not in known:
            wanted.setdefault(key, entry)
    return wanted


def _language(entry: TreeEntry) -> str:
    name = entry.path[entry.path.rfind("/") + 1 :]  # `splitext` is four times as slow
    dot = name.rfind(".")
    return _by_suffix(name[dot:]) if dot > 0 and entry.kind == "file" else ""


@lru_cache(maxsize=10_000)
def _by_suffix(suffix: str) -> str:
    """Trees have a hundred thousand paths and a few suffixes."""
    return language_of(f"x{suffix}") or ""


def _parse_all(
    store: sqlite3.Connection,
    objects: GitObjects,
    wanted: dict[Key, TreeEntry],
    progress: Progress | None,
    count: int,
) -> None:
    huge = [entry for entry in wanted.values() if entry.size > MAX_READ]
    usual = [entry for entry in wanted.values() if entry.size <= MAX_READ]
    pool = Workers(min(count, -(-len(usual) // 8) or 1))  # a process is not worth a few files
    try:
        done = 0
        unread = [degraded(Job(entry.blob, entry.path, b""), "too large") for entry in huge]
        for results in _groups(unread, pool.parse(_jobs(objects, usual))):
            _write(store, results)
            done += len(results)
            if progress is not None:
                progress(done, len(wanted))
    finally:
        pool.close()


def _jobs(objects: GitObjects, entries: Sequence[TreeEntry]) -> Iterator[Job]:
    contents = objects.blobs([entry.blob for entry in entries])
    for entry, (blob, data) in zip(entries, contents, strict=True):
        yield Job(blob, entry.path, data)


def _groups(first: Sequence[Result], rest: Iterable[Result]) -> Iterator[list[Result]]:
    group = list(first)
    for result in rest:
        group.append(result)
        if len(group) >= WRITE_FILES:
            yield group
            group = []
    if group:
        yield group


def _write(store: sqlite3.Connection, results: Sequence[Result]) -> None:
    """Add parsed blobs; those that another process added meanwhile are left alone."""
    with transaction(store):
        for result in results:
            added = store.execute(
                "INSERT OR IGNORE INTO blobs (blob, language, lines, degraded, parsed) "
                "VALUES (?, ?, ?, ?, ?)",
                (result.blob, result.language, result.lines, result.degraded, result.parsed),
            )
            if added.rowcount:
                assert added.lastrowid is not None
                _write_pieces(store, added.lastrowid, result)


def _write_pieces(store: sqlite3.Connection, row: int, result: Result) -> None:
    for piece in result.pieces:
        unit = store.execute(
            'INSERT INTO units (row, kind, name, start, "end") VALUES (?, ?, ?, ?, ?)',
            (row, piece.kind, piece.name, piece.start, piece.end),
        )
        store.execute(
            "INSERT INTO unit_fts (rowid, name, owner, path, body) VALUES (?, ?, ?, ?, ?)",
            (unit.lastrowid, piece.own, piece.owner, result.path_words, piece.body),
        )


def _remember(store: sqlite3.Connection, name: str, tree: _Tree) -> list[Any] | None:
    """Write down the files of a commit: path, blob, size, kind, language, row of `blobs`.

    None, and nothing written, when a row has been pruned since it was seen.
    """
    with transaction(store):
        known = _known(store)
        entries: list[Any] = []
        for entry, language in tree:
            row = known.get((entry.blob, language)) if language else 0
            if row is None:
                return None
            entries.append([entry.path, entry.blob, entry.size, entry.kind, language, row])
        store.execute(
            "INSERT OR REPLACE INTO commits (name, used, files) VALUES (?, ?, ?)",
            (name, time.time(), pack(entries)),
        )
    return entries


def _degraded(store: sqlite3.Connection) -> set[int]:
    return {number for (number,) in store.execute("SELECT id FROM blobs WHERE degraded != ''")}
