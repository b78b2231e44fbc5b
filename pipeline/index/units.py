"""Definitions in one text of a work tree: what `outline` shows and votes compare.

The same reading as the index's, for texts that are in no commit yet. Static only, and in another
process: what a text does to a parser it does not do to this one.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.index.guard import MAX_BYTES
from pipeline.index.languages import language_of, spec_of
from pipeline.index.store.packing import unpack_parsed
from pipeline.index.worker import Job
from pipeline.index.workers import parse_one

__all__ = ["MAX_BYTES", "Unit", "enclosing", "language_of", "parses", "undefined", "units"]


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


async def units(path: str, text: str) -> tuple[Unit, ...]:
    """Find the definitions of a file, in order of their first line.

    Empty when the language is unknown, or the file is one that the index only cuts into chunks
    (over 1 MB, minified, generated), or takes more time or memory to read than any file should. A
    file with syntax errors gives what could still be read.
    """
    job = Job("", path, text.encode("utf-8", "surrogateescape"))
    if spec_of(path) is None or len(job.data) > MAX_BYTES:
        return ()
    found = unpack_parsed((await asyncio.to_thread(parse_one, job)).parsed).definitions
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


async def parses(path: str, text: str) -> bool | None:
    """Whether the text is free of syntax errors; None when the language is unknown, the text is
    huge or takes too much. Python is judged by the running interpreter's own front end."""
    job = Job("", path, text.encode("utf-8", "surrogateescape"), only="syntax")
    if spec_of(path) is None or len(job.data) > MAX_BYTES:
        return None
    return (await asyncio.to_thread(parse_one, job)).clean


async def undefined(path: str, text: str) -> frozenset[str]:
    """Names that the text uses and that certainly nothing defines; Python's only.

    None of them when the text does not parse, is huge or takes too much. What defines a name from
    another file (`builtins.name = …`) is not looked at.
    """
    job = Job("", path, text.encode("utf-8", "surrogateescape"), only="names")
    if spec_of(path) is None or len(job.data) > MAX_BYTES:
        return frozenset()
    return (await asyncio.to_thread(parse_one, job)).undefined


def _is_method(name: str, kind: str, classes: set[str]) -> bool:
    return kind == "function" and name.rpartition(".")[0] in classes
