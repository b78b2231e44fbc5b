"""One built commit, as everything else of the index reads it."""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from threading import RLock
from typing import Any

from pipeline.index.errors import NotIndexed, ObjectMissing, StoreUnusable
from pipeline.index.objects import GitObjects
from pipeline.index.parse import is_test, text_of
from pipeline.index.store.packing import sealed, unpack, unpack_parsed, unsealed
from pipeline.index.store.schema import connect, errors_of, reading, store_file, transaction
from pipeline.index.store.units import units_of
from pipeline.index.values import ParsedFile, Unit

CACHED_TEXT = 32_000_000  # characters
KEYS_AT_ONCE = 500  # of one statement
KEEPING_S = 5.0  # who reads does not wait longer to keep what it derived


@dataclass(frozen=True, slots=True)
class FileRow:
    """One regular file of the commit.

    `language` is "" for a file that no parser reads: it has no units but itself, and `lines` is 0.
    `degraded` says why a file of a known language was only cut into chunks. `row` is its number in
    the tables `blobs` and `units`, 0 without a language.
    """

    path: str
    blob: str
    language: str
    is_test: bool
    size: int
    lines: int
    degraded: str
    row: int


class Index:
    """A built commit, read only. Blocks; may be used from several threads. Close it at the end.

    `connection` reads the store's tables (see `pipeline.index.store.schema`); its table `here`
    lists the rows of `blobs` that belong to this commit, so a search of the full text is

        SELECT row, kind, units.name, start, "end" FROM unit_fts
        JOIN units ON units.id = unit_fts.rowid JOIN here USING (row)
        WHERE unit_fts MATCH ? ORDER BY bm25(unit_fts, 10, 5, 3, 1) LIMIT ?
    """

    def __init__(
        self, path: Path, store: sqlite3.Connection, commit: str, entries: Any, objects: GitObjects
    ) -> None:
        self.commit = commit
        self.connection = store
        self._path = path
        self._objects = objects
        self._entries = entries
        self._lock = RLock()
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._length = 0

    @property
    def objects(self) -> GitObjects:
        """The repository it was built from."""
        return self._objects

    def files(self) -> Sequence[FileRow]:
        """All regular files, sorted by path; symlinks and submodules are none."""
        return self._files

    def file(self, path: str) -> FileRow | None:
        """The file at a path, None when the commit has none there."""
        return self._by_path.get(path)

    def paths(self, row: int) -> tuple[str, ...]:
        """The paths whose content is a row of `blobs`; one for most."""
        return self._by_row.get(row, ())

    def parsed(self, blob: str) -> ParsedFile:
        """What a blob of this commit holds, read as the first path that has it; see `parsed_at`."""
        path = self._by_blob.get(blob)
        if path is None:
            raise NotIndexed(f"Blob {blob[:12]} belongs to no file of commit {self.commit[:12]}.")
        return self.parsed_at(path)

    def parsed_at(self, path: str) -> ParsedFile:
        """What the file at a path holds, nothing when no parser reads it; raises NotIndexed."""
        row = self._must(path).row
        if not row:
            return ParsedFile("", 0)
        found = self.rows("SELECT parsed FROM blobs WHERE id = ?", (row,))
        if not found:
            raise self._gone()
        with errors_of(self._path):
            return unpack_parsed(found[0][0])

    def require_whole(self) -> None:
        """Raise StoreUnusable when a part of the commit was pruned: less is not the same as none.

        To be asked after reading many rows, which says nothing of those that went.
        """
        query = "SELECT (SELECT count(*) FROM here), count(*) FROM blobs JOIN here ON row = id"
        ((wanted, there),) = self.rows(query)
        if there < wanted:
            raise self._gone()

    def _gone(self) -> StoreUnusable:
        return StoreUnusable(
            f"The code index {self._path} no longer has this commit; build it again."
        )

    def all_parsed(self) -> Iterator[tuple[FileRow, ParsedFile]]:
        """Every file that has a language, with what it holds: much faster than one by one.

        Raises StoreUnusable, at the end for what was pruned.
        """
        with errors_of(self._path):
            rows = self.connection.execute("SELECT id, parsed FROM blobs JOIN here ON row = id")
            for number, data in rows:
                parsed = unpack_parsed(data)
                for path in self._by_row[number]:
                    yield self._by_path[path], parsed
        self.require_whole()

    def text(self, path: str) -> str:
        """A file's text, its lines as the parser counted them; raises NotIndexed, ObjectMissing."""
        return next(iter(self.texts([path])))[1]

    def texts(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The texts of several files in the order asked for, from one git process."""
        rows = [self._must(path) for path in paths]
        missing = [row.blob for row in rows if row.blob not in self._texts]
        contents = self._objects.blobs(dict.fromkeys(missing))
        for row in rows:
            yield row.path, self._text(row.blob, contents)

    def unit(self, id: str) -> Unit:  # noqa: A002 - units are named by ids everywhere
        """The unit of an id; raises NotIndexed."""
        path = self.path_of(id)
        found = self.units(path) if path in self._by_path else self._folders
        for unit in found if isinstance(found, tuple) else filter(None, [found.get(id)]):
            if unit.id == id:
                return unit
        raise NotIndexed(f"Commit {self.commit[:12]} has no unit {id!r}.")

    def path_of(self, id: str) -> str:  # noqa: A002 - as above
        """The path in a unit's id, which may hold colons itself: the longest that is a file here,
        else what stands before the first colon."""
        path = id
        while path not in self._by_path and ":" in path:
            path = path.rpartition(":")[0]
        return path

    def units(self, path: str) -> tuple[Unit, ...]:
        """A file's units: itself first, then its definitions in source order, or its chunks."""
        row = self._must(path)
        return units_of(path, row.is_test, self.parsed_at(path))

    def folders(self) -> Mapping[str, Unit]:
        """Directories by path; the root is "" and not among them."""
        return self._folders

    def kept(self, kind: str, key: str) -> bytes | None:
        """What `keep` was given, by whichever process; None when there is nothing whole."""
        return self.all_kept(kind, [key]).get(key)

    def all_kept(self, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        """What is kept under some keys; damaged values are left out, to be made again."""
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), KEYS_AT_ONCE):
            part = keys[start : start + KEYS_AT_ONCE]
            marks = ",".join("?" * len(part))
            statement = f"SELECT key, value FROM kept WHERE kind = ? AND key IN ({marks})"  # noqa: S608 - only marks
            for key, data in self.rows(statement, (kind, *part)):
                if (value := unsealed(data)) is not None:
                    found[key] = value
        return found

    def keep(self, kind: str, values: Mapping[str, bytes]) -> None:
        """Store what was derived from blobs or commits, for the next process that needs it.

        `kind` should name the form of the bytes with a version. Where nothing can be written now,
        nothing is kept.
        """
        try:
            _keep(self._path, kind, values)
        except StoreUnusable as error:  # full, busy or not to be written: it can be derived again
            if not isinstance(error.__cause__, sqlite3.OperationalError):
                raise

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query of the store's tables; raises StoreUnusable."""
        with errors_of(self._path):
            return self.connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Let go of the store."""
        self.connection.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _must(self, path: str) -> FileRow:
        row = self._by_path.get(path)
        if row is None:
            raise NotIndexed(f"Commit {self.commit[:12]} has no file {path!r}.")
        return row

    def _text(self, blob: str, contents: Iterator[tuple[str, bytes]]) -> str:
        """One text; those that the git process gives on the way to it are kept too."""
        with self._lock:
            while (text := self._texts.get(blob)) is None:
                found = next(contents, None)
                if found is None:  # it was kept when asked, and let go since
                    found = next(self._objects.blobs([blob]), None)
                if found is None:
                    raise ObjectMissing(f"git has no object {blob}.")
                self._remember(found[0], text_of(found[1]))
            self._texts.move_to_end(blob)
            return text

    def _remember(self, blob: str, text: str) -> None:
        self._length += len(text) - len(self._texts.get(blob, ""))
        self._texts[blob] = text
        while self._length > CACHED_TEXT and len(self._texts) > 1:
            self._length -= len(self._texts.popitem(last=False)[1])

    @cached_property
    def _files(self) -> tuple[FileRow, ...]:
        about = self.rows("SELECT id, lines, degraded FROM blobs JOIN here ON row = id")
        lines = {number: (count, degraded) for number, count, degraded in about}
        return tuple(
            FileRow(path, blob, language, is_test(path), size, *lines.get(row, (0, "")), row)
            for path, blob, size, kind, language, row in self._entries
            if kind == "file"
        )

    @cached_property
    def _by_path(self) -> dict[str, FileRow]:
        return {row.path: row for row in self._files}

    @cached_property
    def _by_blob(self) -> dict[str, str]:
        """A path that has a language, where the blob has several."""
        paths = sorted(self._files, key=lambda row: (bool(row.language), row.path), reverse=True)
        return {row.blob: row.path for row in reversed(paths)}

    @cached_property
    def _by_row(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, list[str]] = {}
        for row in self._files:
            found.setdefault(row.row, []).append(row.path)
        return {number: tuple(paths) for number, paths in found.items() if number}

    @cached_property
    def _folders(self) -> dict[str, Unit]:
        found: dict[str, Unit] = {}
        for row in self._files:
            for parent in PurePosixPath(row.path).parents:
                path = str(parent)
                if path == "." or path in found:
                    break
                name, above = parent.name, str(parent.parent).removeprefix(".")
                is_tested = is_test(f"{path}/x")
                found[path] = Unit(path, "directory", path, name, 0, 0, "", "", above, is_tested)
        return found


def open_index(store_path: Path, commit: str, objects: GitObjects) -> Index:
    """The view of a commit that `build` put into the store.

    Raises NotIndexed, UnknownCommit, StoreUnusable.
    """
    name = objects.resolve(commit)
    file = store_file(store_path)
    store = reading(file)
    if store is None:
        raise _not_indexed(name)
    try:
        with errors_of(file):
            row = store.execute("SELECT files FROM commits WHERE name = ?", (name,)).fetchone()
            if row is None:
                raise _not_indexed(name)
            entries = unpack(row[0])
            store.execute("CREATE TEMP TABLE here (row INTEGER PRIMARY KEY)")
            rows = sorted({(entry[5],) for entry in entries if entry[5]})
            store.execute("BEGIN")  # of the temporary table alone: nothing in the file is locked
            store.executemany("INSERT INTO here VALUES (?)", rows)
            store.execute("COMMIT")
            store.execute("PRAGMA query_only = 1")
    except BaseException:
        store.close()
        raise
    return Index(file, store, name, entries, objects)


def _not_indexed(name: str) -> NotIndexed:
    return NotIndexed(f"Commit {name[:12]} is not indexed yet; build it first.")


def _keep(path: Path, kind: str, values: Mapping[str, bytes]) -> None:
    with errors_of(path), closing(connect(path, KEEPING_S)) as store, transaction(store):
        store.executemany(
            "INSERT OR REPLACE INTO kept (kind, key, value) VALUES (?, ?, ?)",
            [(kind, key, sealed(value)) for key, value in values.items()],
        )
