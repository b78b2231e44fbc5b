"""What searches are given and what they find."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from pipeline.index.values import Edge, EdgeKind

T = TypeVar("T")
Direction = Literal["out", "in", "both"]
Match = Literal["exact", "regex", "fuzzy", "variable", "snippet"]


class NotFound(LookupError):
    """There is no such file, unit or range; the message says what to do instead."""


class Edges(Protocol):
    """The graph of one commit, as far as searches need it."""

    def neighbours(
        self, unit: str, kinds: Collection[EdgeKind], direction: Direction, depth: int, /
    ) -> Sequence[Edge]:
        """Edges that are met within `depth` steps from a unit, nearest first."""


@dataclass(frozen=True, slots=True)
class FileHit:
    """One file. `skeleton` holds the heads of its classes and functions, at most 200 lines."""

    path: str
    language: str
    lines: int
    skeleton: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One unit that was found.

    `children` are ids of what it contains and what it invokes. `preview` shows its head and the
    lines that invoke children or that matched, numbered, at most 40. `lines` are those that
    matched, for content only. `score` is 1.0 except for fuzzy matches.
    """

    id: str
    name: str
    kind: str
    path: str
    start: int
    end: int
    match: Match
    score: float
    children: tuple[str, ...]
    preview: str
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """The best hits first. `more` counts what was found and is not among them (at least), `hidden`
    what was left out because it is test code."""

    hits: tuple[T, ...]
    more: int = 0
    hidden: int = 0
