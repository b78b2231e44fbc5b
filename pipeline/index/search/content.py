"""Where a name or a piece of code stands: candidates by full text, then the text itself."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pipeline.index.search.patterns import identifier, parts_of, snippet, variable
from pipeline.index.store import Index

MAX_ROWS = 2_000  # full-text rows that are looked at
AT_ONCE = 16  # files that one git process gives
MAX_READ = 64
MAX_LINES = 200  # of one file
MAX_WORDS = 12
_WORD = re.compile(r"[^\W\d]\w*|\d{3,}")


class Lines(NamedTuple):
    """The lines of one file that match."""

    path: str
    lines: tuple[int, ...]


def pattern_of(content: str) -> re.Pattern[str]:
    """How content is found in a text: as a variable in any spelling, or as it is written."""
    return variable(content) if identifier(content) else snippet(content)


def matching_lines(pattern: re.Pattern[str], text: str, start: int, end: int) -> tuple[int, ...]:
    """The lines on which matches begin, within start … end (0: to the end), at most 200."""
    found: list[int] = []
    line, at = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if line >= max(1, start) and (not end or line <= end) and line not in found[-1:]:
            found.append(line)
            if len(found) == MAX_LINES:
                break
    return tuple(found)


def candidates(index: Index, content: str, accepts: Callable[[str], bool]) -> list[str]:
    """Paths that may hold it, those with the most units that may first."""
    for queries in _queries(content):
        counts: dict[str, int] = {}
        for row in _rows(index, queries):
            for path in index.paths(row):
                counts[path] = counts.get(path, 0) + 1
        paths = [path for path in counts if accepts(path)]
        if paths:
            return sorted(paths, key=lambda path: (-counts[path], path))
    return []


def search(index: Index, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Texts of the first 64 candidates, read as they are asked for."""
    for at in range(0, min(len(paths), MAX_READ), AT_ONCE):
        yield from index.texts(paths[at : at + AT_ONCE])


def _rows(index: Index, queries: Sequence[str]) -> list[int]:
    """Rows of `blobs`, once for each unit, whose files hold a unit for every query."""
    kept: list[int] | None = None
    for query in queries:
        found = index.rows(
            "SELECT row FROM unit_fts JOIN units ON units.id = unit_fts.rowid "
            "JOIN here USING (row) WHERE unit_fts MATCH ? LIMIT ?",
            (query, MAX_ROWS),
        )
        rows = [row for (row,) in found]
        known = set(rows)
        kept = rows if kept is None else [row for row in kept if row in known]
    return kept or []


def _queries(content: str) -> Iterator[list[str]]:
    """Full-text queries, the narrowest first: all words in one unit, then the longest in one file.

    The second is for code that begins in one unit and ends in another, or in mid word.
    """
    if identifier(content):
        parts = parts_of(content)
        spelt = dict.fromkeys((" ".join(parts), "".join(parts)))
        yield ["body : (" + " OR ".join(f'"{each}"' for each in spelt) + ")"]
        return
    found = [word.lower() for word in _WORD.findall(content)]
    if found:
        yield ["body : (" + " AND ".join(f'"{word}"' for word in _longest(found, MAX_WORDS)) + ")"]
    if len(found) > 2:
        yield [f'body : "{word}"' for word in _longest(found[1:-1], 2)]


def _longest(words: Sequence[str], count: int) -> list[str]:
    return sorted(dict.fromkeys(words), key=len, reverse=True)[:count]
