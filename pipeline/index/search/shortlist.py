"""The full code of the units that a search ends with, cut to what one answer can hold."""

from collections.abc import Mapping, Sequence

from pipeline.index.values import Unit

LIMIT = 100_000  # characters, some 30,000 tokens (method.md §4.5)
_MARGIN = 8  # a line's number and its end


def full_code(units: Sequence[Unit], texts: Mapping[str, str], limit: int = LIMIT) -> list[str]:
    """Numbered lines of each unit; what was cut is said. `texts` by path."""
    spans = [texts[unit.path].split("\n")[max(0, unit.start - 1) : unit.end] for unit in units]
    rooms = shares([sum(len(line) + _MARGIN for line in span) for span in spans], limit)
    return [_numbered(*each) for each in zip(units, spans, rooms, strict=True)]


def shares(sizes: Sequence[int], limit: int) -> list[int]:
    """How much of the limit each gets: the small ones all they need, the large ones the rest."""
    rooms = list(sizes)
    order = sorted(range(len(sizes)), key=lambda at: sizes[at])
    for position, at in enumerate(order):
        rooms[at] = min(sizes[at], limit // (len(order) - position))
        limit -= rooms[at]
    return rooms


def _numbered(unit: Unit, span: Sequence[str], room: int) -> str:
    rows: list[str] = []
    for number, line in enumerate(span, max(1, unit.start)):
        room -= len(line) + _MARGIN
        if room < 0:
            rows.append(f"(cut: {len(span) - len(rows)} more lines)")
            break
        rows.append(f"{number:>6}\t{line}")
    return "\n".join(rows)
