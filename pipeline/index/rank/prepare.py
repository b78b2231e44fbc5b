"""One commit made ready for ranking: blobs counted once in their life, arrays laid out."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from pipeline.index.rank import kept
from pipeline.index.rank.arrays import Arrays, arrays
from pipeline.index.rank.counts import Counts, Splitter, counts, pack, unpack
from pipeline.index.rank.history import History, history
from pipeline.index.rank.tokens import numbers
from pipeline.index.store import FileRow, Index

KEPT_COMMITS = 4  # in memory; a large repository's arrays take some 50 MB
AT_ONCE = 200  # blobs counted between two writes
# Files of which a person wrote no line, or no reader got through.
_NO_CANDIDATES = frozenset({"minified", "generated", "binary", "LFS pointer"})

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `rank` works on; holds no connection and may be used from several threads."""

    arrays: Arrays
    history: History


_memory: OrderedDict[str, Prepared] = OrderedDict()
_lock = Lock()


def prepared(index: Index, progress: Progress | None = None) -> Prepared:
    """The arrays of an opened commit; laid out at the first call and kept for four commits.

    `progress` is told (done, total) blobs that have to be counted.
    """
    key = index.commit  # names the content, whatever store it is in
    with _lock:
        if key in _memory:
            _memory.move_to_end(key)
            return _memory[key]
    made = prepare(index, progress)
    with _lock:
        _memory[key] = made
        while len(_memory) > KEPT_COMMITS:
            _memory.popitem(last=False)
    return made


def prepare(index: Index, progress: Progress | None = None) -> Prepared:
    """Lay out a commit. Costs git reads only for blobs and commits that are not kept yet."""
    rows = candidates(index.files())
    paths = [row.path for row in rows]
    laid_out = arrays(paths, [row.language for row in rows], counted(index, rows, progress))
    return Prepared(laid_out, history(index, paths))


def candidates(rows: Sequence[FileRow]) -> list[FileRow]:
    """The files that a fix may be in: source of a known language, no tests, nothing generated."""
    return [
        row
        for row in rows
        if row.language and not row.is_test and row.degraded not in _NO_CANDIDATES
    ]


def _key(row: FileRow) -> str:
    return f"{row.blob}:{row.language}"


def counted(
    index: Index,
    rows: Sequence[FileRow],
    progress: Progress | None = None,
    kind: str = kept.BLOB,
    split: Splitter = numbers,
) -> list[Counts]:
    """The counts of each file, read where the store has them under `kind`, else made and kept."""
    wanted = {_key(row): row for row in rows}
    found = {key: unpack(data) for key, data in index.all_kept(kind, list(wanted)).items()}
    missing = [row for key, row in wanted.items() if key not in found]
    for start in range(0, len(missing), AT_ONCE):
        by_path = {row.path: row for row in missing[start : start + AT_ONCE]}
        new = {
            _key(by_path[path]): pack(counts(index.parsed_at(path), text, split))
            for path, text in index.texts(list(by_path))
        }
        index.keep(kind, new)
        # As read back: made anew, the small arrays of 100,000 files take twice the memory.
        found.update({key: unpack(data) for key, data in new.items()})
        if progress is not None:
            progress(start + len(by_path), len(missing))
    return [found[_key(row)] for row in rows]
