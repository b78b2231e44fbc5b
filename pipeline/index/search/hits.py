"""Units as hits: with children, and a preview of the lines that matter."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from pipeline.index.search.content import Lines
from pipeline.index.search.preview import MAX_CALLS, preview
from pipeline.index.search.values import Edges, Hit, Match
from pipeline.index.store import Index
from pipeline.index.values import Edge, EdgeKind, Unit

MAX_MATCHED = 8  # lines of one unit that are shown
MAX_CHILDREN = 40
KEPT_FILES = 512
CALLS: tuple[EdgeKind, ...] = ("invokes",)


class Hits:
    """Makes hits of units of one commit; remembers the units of the last 512 files."""

    def __init__(self, index: Index, graph: Edges | None) -> None:
        self._graph = graph
        self.units = lru_cache(maxsize=KEPT_FILES)(index.units)

    def children(self, unit: Unit) -> tuple[str, ...]:
        """What a unit contains, then what it invokes, the surest first, at most 40."""
        called = sorted(self._calls(unit), key=lambda edge: -edge.confidence)
        inside = [each.id for each in self._inside(unit)]
        return tuple(dict.fromkeys([*inside, *(edge.target for edge in called)]))[:MAX_CHILDREN]

    def with_calls(self, unit: Unit, text: str, match: Match, score: float) -> Hit:
        """Head, lines that invoke children, and the heads of what a class contains."""
        calls = sorted({edge.line for edge in self._calls(unit) if edge.line})[:MAX_CALLS]
        heads = [each.start for each in self._inside(unit)] if unit.kind == "class" else []
        return self.shaped(unit, match, score, preview(unit, text.split("\n"), [*calls, *heads]))

    def with_lines(self, found: Lines, text: str, match: Match) -> Iterator[Hit]:
        """Matched lines under the innermost units that hold them, each unit once."""
        units = self.units(found.path)
        by_unit: dict[str, list[int]] = {}
        known = {unit.id: unit for unit in units}
        for line in found.lines:
            by_unit.setdefault(_innermost(units, line).id, []).append(line)
        lines = text.split("\n")
        for id_, matched in by_unit.items():
            shown = preview(known[id_], lines, matched[:MAX_MATCHED])
            yield self.shaped(known[id_], match, 1.0, shown, tuple(matched))

    def shaped(
        self, unit: Unit, match: Match, score: float, shown: str, lines: tuple[int, ...] = ()
    ) -> Hit:
        """A hit with this preview."""
        return Hit(
            id=unit.id,
            name=unit.name,
            kind=unit.kind,
            path=unit.path,
            start=unit.start,
            end=unit.end,
            match=match,
            score=score,
            children=self.children(unit),
            preview=shown,
            lines=lines,
        )

    def _inside(self, unit: Unit) -> Iterable[Unit]:
        if unit.kind == "directory":
            return ()
        return [each for each in self.units(unit.path) if each.parent == unit.id]

    def _calls(self, unit: Unit) -> Sequence[Edge]:
        if self._graph is None or unit.kind == "directory":
            return ()
        return self._graph.neighbours(unit.id, CALLS, "out", 1)


def _innermost(units: Sequence[Unit], line: int) -> Unit:
    """The last one that holds the line: an enclosing unit comes first; the file when none."""
    held = units[0]
    for unit in units:
        if unit.start > line:
            break
        if line <= unit.end and unit.end - unit.start <= max(held.end - held.start, 0):
            held = unit
    return held
