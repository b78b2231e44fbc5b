"""Edges of one commit in memory: sorted columns, searched by halving."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pipeline.index.graph.edges import CONTAINS, KINDS
from pipeline.index.values import Edge, EdgeKind

Direction = Literal["out", "in", "both"]
LIMIT = 200
MAX_WALK = 6


@dataclass(slots=True)
class Graph:
    """What is related to what at a commit. Read only, safe for several threads.

    Columns are parallel and sorted by source; a negative target -1 - g means each unit of group
    g, all of one name. `by_target` lists rows by their target, `groups_of` the groups of a unit
    (`group_units` beside `group_numbers`, sorted by unit).
    """

    ids: list[str]
    tests: bytes
    sources: "array[int]"
    targets: "array[int]"
    kinds: "array[int]"
    confidences: "array[int]"
    lines: "array[int]"
    aliases: "array[int]"
    texts: list[str]
    by_target: "array[int]"
    group_starts: "array[int]"
    group_members: "array[int]"
    group_units: "array[int]"
    group_numbers: "array[int]"
    _numbers: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = {id_: number for number, id_ in enumerate(self.ids)}

    def neighbours(
        self,
        ids: str | Iterable[str],
        kinds: Iterable[EdgeKind] = KINDS,
        direction: Direction = "both",
        depth: int = 1,
        *,
        limit: int = LIMIT,
        min_confidence: float = 0.0,
        with_tests: bool = True,
    ) -> list[Edge]:
        """Edges reached within `depth` steps, nearest first, then the surest; at most `limit`.

        `direction` "out" follows edges from source to target. An id that is no unit has none.
        `with_tests` off leaves out edges that lead to or from test code, unless it was asked for.
        """
        wanted = {KINDS.index(kind) for kind in kinds}
        front = [self._numbers[i] for i in _listed(ids) if i in self._numbers]
        seen, found = set(front), dict[tuple[int, int, int, int], tuple[int, int]]()
        asked = set(front)
        for _ in range(min(depth, MAX_WALK)):
            step: list[tuple[int, int, int, int, int]] = []
            for number in front:
                step += self._touching(number, wanted, direction, int(min_confidence * 100 + 0.5))
            step.sort(key=_surest_first)
            following: list[int] = []
            for source, target, row, confidence, kind in step:
                ends = (source, target)
                if not with_tests and any(self.tests[e] and e not in asked for e in ends):
                    continue
                if len(found) >= limit:
                    break
                found.setdefault((source, target, kind, self.lines[row]), (row, confidence))
                following += [e for e in ends if e not in seen]
                seen.update(ends)
            front = following
            if len(found) >= limit or not front:
                break
        return [self._edge(key[0], key[1], row) for key, (row, _) in found.items()]

    def degree(
        self, unit: str, kinds: Iterable[EdgeKind] = KINDS, direction: Direction = "both"
    ) -> int:
        """How many edges a unit has, ambiguous ones each counted; 0 when there is no such unit."""
        if unit not in self._numbers:
            return 0
        wanted = {KINDS.index(kind) for kind in kinds}
        return sum(1 for _ in self._touching(self._numbers[unit], wanted, direction, 0))

    def is_test(self, unit: str) -> bool:
        """Whether a unit is test code."""
        return unit in self._numbers and bool(self.tests[self._numbers[unit]])

    def edges(self, kinds: Iterable[EdgeKind] = KINDS) -> Iterator[Edge]:
        """All edges of these kinds, ambiguous ones written out: many."""
        wanted = {KINDS.index(kind) for kind in kinds}
        for row, kind in enumerate(self.kinds):
            if kind in wanted:
                for target in self._ends(row):
                    yield self._edge(self.sources[row], target, row)

    def __contains__(self, unit: object) -> bool:
        return unit in self._numbers

    def _edge(self, source: int, target: int, row: int) -> Edge:
        return Edge(
            self.ids[source],
            self.ids[target],
            KINDS[self.kinds[row]],
            self.confidences[row] / 100,
            self.lines[row],
            self.texts[self.aliases[row]],
        )

    def _ends(self, row: int) -> Sequence[int]:
        target = self.targets[row]
        if target >= 0:
            return (target,)
        group = -1 - target
        return self.group_members[self.group_starts[group] : self.group_starts[group + 1]]

    def _touching(
        self, number: int, kinds: set[int], direction: Direction, sure: int
    ) -> Iterator[tuple[int, int, int, int, int]]:
        if direction != "in":
            start, end = bisect_left(self.sources, number), bisect_right(self.sources, number)
            for row in range(start, end):
                if self.kinds[row] in kinds and self.confidences[row] >= sure:
                    for target in self._ends(row):
                        yield number, target, row, self.confidences[row], self.kinds[row]
        if direction != "out":
            for row in self._rows_to(number):
                if self.kinds[row] in kinds and self.confidences[row] >= sure:
                    yield self.sources[row], number, row, self.confidences[row], self.kinds[row]

    def _rows_to(self, number: int) -> Iterator[int]:
        start, end = (
            bisect_left(self.group_units, number),
            bisect_right(self.group_units, number),
        )
        for target in (number, *(-1 - group for group in self.group_numbers[start:end])):
            yield from self._rows_at(target)

    def _rows_at(self, target: int) -> Sequence[int]:
        key = self.targets.__getitem__
        start = bisect_left(self.by_target, target, key=key)
        return self.by_target[start : bisect_right(self.by_target, target, key=key)]


def _listed(ids: str | Iterable[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else list(dict.fromkeys(ids))


def _surest_first(item: tuple[int, int, int, int, int]) -> tuple[int, bool, int]:
    _, _, row, confidence, kind = item
    return -confidence, kind == CONTAINS, row
