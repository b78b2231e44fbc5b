"""Definitions in one text of a work tree: what `outline` shows and votes compare.

The same reading as the index's, for texts that are in no commit yet. Static only.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.index.guard import MAX_BYTES
from pipeline.index.languages import language_of, spec_of
from pipeline.index.languages.reader import TimeOut
from pipeline.index.languages.reader import parses as is_clean
from pipeline.index.parse import parse

__all__ = ["MAX_BYTES", "Unit", "enclosing", "language_of", "parses", "units"]

DEADLINE_S = 5.0


@dataclass(frozen=True, slots=True)
class Unit:
    """One definition. `name` is qualified (`Class.method`); lines are 1-based and inclusive.

    `kind` is class, function or method. `start` includes decorators. `signature` is the
    definition's head on one line, cut to 160 characters.
    """

    name: str
    kind: str
    start: int
    end: int
    signature: str


def units(path: str, text: str) -> tuple[Unit, ...]:
    """Find the definitions of a file, in order of their first line.

    Empty when the language is unknown, or the file is one that the index only cuts into chunks
    (over 1 MB, minified, generated). A file with syntax errors gives what could still be read.
    """
    found = parse(path, text.encode("utf-8", "surrogateescape"), DEADLINE_S).definitions
    classes = {one.name for one in found if one.kind == "class"}
    return tuple(
        Unit(
            name=one.name,
            kind="method" if _is_method(one.name, one.kind, classes) else one.kind,
            start=one.start,
            end=one.end,
            signature=one.signature,
        )
        for one in found
    )


def enclosing(found: Iterable[Unit], line: int) -> Unit | None:
    """The innermost unit that holds a 1-based line, None at module level."""
    around = [unit for unit in found if unit.start <= line <= unit.end]
    return min(around, key=lambda unit: (unit.end - unit.start, -unit.start), default=None)


def parses(path: str, text: str) -> bool | None:
    """Whether the text is free of syntax errors; None when the language is unknown, the text is
    huge or takes too long. Python is judged by the running interpreter's own front end."""
    spec = spec_of(path)
    if spec is None or len(text.encode("utf-8", "surrogateescape")) > MAX_BYTES:
        return None
    try:
        return is_clean(spec, text, DEADLINE_S)
    except TimeOut:
        return None


def _is_method(name: str, kind: str, classes: set[str]) -> bool:
    return kind == "function" and name.rpartition(".")[0] in classes
