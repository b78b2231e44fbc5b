"""A process that parses, started by `pipeline.index.workers`.

It has no secrets in its environment, little memory, and nothing to write to but its parent.
"""

import resource
import sys
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Literal

from pipeline.index.languages import spec_of
from pipeline.index.languages.reader import TimeOut, parses
from pipeline.index.parse import parse, text_of
from pipeline.index.store.packing import pack_parsed
from pipeline.index.store.words import Piece, pieces, words
from pipeline.index.values import ParsedFile

MAX_MEMORY = 700_000_000  # bytes of address space; a file that needs more is a bomb
READY = "ready"
UNREADABLE = frozenset({"binary", "LFS pointer"})


@dataclass(frozen=True, slots=True)
class Job:
    """One blob to parse; `path` chooses the language and lends its words to the full text.

    With `only` nothing is kept: the result says whether the text is free of syntax errors, or which
    names nothing in it defines.
    """

    blob: str
    path: str
    data: bytes
    only: Literal["", "syntax", "names"] = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What the store keeps of a blob, ready to be written; `only` sets `clean` or `undefined`."""

    blob: str
    language: str
    lines: int
    degraded: str
    parsed: bytes
    path_words: str
    pieces: tuple[Piece, ...]
    clean: bool | None = None
    undefined: frozenset[str] = frozenset()


def result_of(job: Job, deadline_s: float) -> Result:
    """Parse one blob and cut it into searchable pieces, or only check it."""
    if job.only == "syntax":
        return replace(packed(job, ParsedFile("", 0)), clean=_is_clean(job, deadline_s))
    if job.only == "names":
        return replace(packed(job, ParsedFile("", 0)), undefined=_undefined(job))
    parsed = parse(job.path, job.data, deadline_s)
    text = "" if parsed.degraded in UNREADABLE else text_of(job.data)
    return packed(job, parsed, tuple(pieces(parsed, text)) if text else ())


def _is_clean(job: Job, deadline_s: float) -> bool | None:
    spec = spec_of(job.path)
    try:
        return (
            None
            if spec is None
            else parses(spec, job.data.decode("utf-8", "surrogateescape"), deadline_s)
        )
    except (TimeOut, MemoryError):
        return None


def _undefined(job: Job) -> frozenset[str]:
    spec = spec_of(job.path)
    if spec is None or spec.undefined is None:
        return frozenset()
    return spec.undefined(job.path, job.data.decode("utf-8", "surrogateescape"))


def packed(job: Job, parsed: ParsedFile, found: tuple[Piece, ...] = ()) -> Result:
    """The result of a job whose blob was parsed or given up."""
    return Result(
        blob=job.blob,
        language=parsed.language,
        lines=parsed.lines,
        degraded=parsed.degraded,
        parsed=pack_parsed(parsed),
        path_words=words(job.path),
        pieces=found,
    )


def serve(parent: Connection) -> None:
    """Say READY, then answer (jobs, seconds each may take), one result each as soon as it is
    there, until the parent is gone."""
    parent.send(READY)
    while True:
        try:
            jobs, deadline_s = parent.recv()
        except EOFError:
            return
        for job in jobs:
            parent.send(result_of(job, deadline_s))


def main() -> None:
    """The process; its argument is the end of a pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(Connection(int(sys.argv[1])))
