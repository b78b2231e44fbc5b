"""What the full text holds of a file: its units, and their words as written and split."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from pipeline.index.values import Definition, ParsedFile

CHUNK_LINES = 60
MAX_CHUNK = 100_000  # characters: more of one minified line finds nothing better
_WORD = re.compile(r"[^\W\d]\w*|\d{3,}")
_HUMP = re.compile(r"[A-Z]+(?![^\W\dA-Z_])|[A-Z]?[^\W\dA-Z_]+|\d+")


class Piece(NamedTuple):
    """One searchable unit of a blob: what it is, its lines, and the words of each column.

    `name` is qualified; "" for the lines outside all definitions. A tuple: it is handed from
    process to process by the ten thousand, and dataclasses take thrice as long there.
    """

    kind: Literal["file", "class", "function", "chunk"]
    name: str
    start: int
    end: int
    own: str
    owner: str
    body: str


@lru_cache(maxsize=100_000)
def forms(word: str) -> str:
    """An identifier in lower case, followed by its parts: `getOrderBy` → getorderby get order by.

    >>> forms("HTTPServer_x2")
    'httpserver_x2 http server x 2'
    """
    parts = [part.lower() for part in _HUMP.findall(word)]
    whole = word.lower()
    return whole if len(parts) < 2 else " ".join((whole, *parts))


def words(text: str) -> str:
    """All words of a text in all their forms, separated by spaces."""
    return " ".join([forms(word) for word in _WORD.findall(text)])


def pieces(parsed: ParsedFile, text: str) -> Iterator[Piece]:
    """The units of a file: functions whole, classes and the file without what is defined inside.

    A file that was not parsed is cut into chunks of 60 lines.
    """
    lines = text.split("\n")
    if parsed.degraded or not parsed.definitions:
        yield from _chunks(lines, bool(parsed.degraded))
        return
    inner = _owned(parsed.definitions, len(lines))
    for number, item in enumerate(parsed.definitions):
        span = range(item.start - 1, min(item.end, len(lines)))
        kept = span if item.kind == "function" else [at for at in span if inner[at] == number]
        owner, _, own = item.name.rpartition(".")
        body = words("\n".join([lines[at] for at in kept]))
        yield Piece(item.kind, item.name, item.start, item.end, forms(own), words(owner), body)
    rest = "\n".join([line for line, owner in zip(lines, inner, strict=True) if owner < 0])
    yield Piece("file", "", 1, len(lines), "", "", words(rest))


def _owned(definitions: Sequence[Definition], count: int) -> list[int]:
    """For each line the number of its innermost definition, -1 for none."""
    owner = [-1] * count
    for number, item in enumerate(definitions):  # an enclosing one comes first
        end = min(item.end, count)
        owner[item.start - 1 : end] = [number] * max(0, end - item.start + 1)
    return owner


def _chunks(lines: Sequence[str], degraded: bool) -> Iterator[Piece]:
    if not degraded and len(lines) <= CHUNK_LINES:
        yield Piece("file", "", 1, len(lines), "", "", words("\n".join(lines)[:MAX_CHUNK]))
        return
    for start in range(0, len(lines), CHUNK_LINES):
        part = lines[start : start + CHUNK_LINES]
        body = words("\n".join(part)[:MAX_CHUNK])
        yield Piece("chunk", "", start + 1, start + len(part), "", "", body)
