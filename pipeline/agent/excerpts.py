"""The code that plans talk about, as text for reviewers and judge."""

from collections.abc import Iterable

from pipeline.agent.reading import numbered
from pipeline.index.units import Unit, enclosing, units
from pipeline.prompts.blocks import data_block
from pipeline.values import Location, Plan
from sandbox.base import Workspace
from sandbox.errors import FileNotFound, NotAllowed

AROUND = 10
MAX_SPAN = 120
MAX_CHARACTERS = 40_000


def places_of(plans: Iterable[Plan]) -> tuple[Location, ...]:
    """Every place that some plan relies on or changes, without repetition."""
    found: dict[tuple[str, str, int], Location] = {}
    for plan in plans:
        for place in plan.solution.context:
            found.setdefault((place.path, place.symbol, place.start), place)
        for change in plan.changes:
            found.setdefault((change.path, change.symbol, 0), Location(change.path, change.symbol))
    return tuple(found.values())


async def excerpts(
    workspace: Workspace, places: Iterable[Location], limit: int = MAX_CHARACTERS
) -> str:
    """Numbered lines of the units around the places, file by file, as one block of data.

    A place is found by its symbol, else by its lines. At most 120 lines for one place and
    `limit` characters in all; what was left out is said.
    """
    by_path: dict[str, list[Location]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place)
    parts: list[str] = []
    left = limit
    for path, wanted in by_path.items():
        part = await _file(workspace, path, wanted)
        if len(part) > left:
            parts.append(f"({path} and what follows is left out: too long)")
            break
        parts.append(part)
        left -= len(part)
    return data_block("code", "\n\n".join(parts) or "(no place was named)")


async def _file(workspace: Workspace, path: str, wanted: list[Location]) -> str:
    try:
        text = await workspace.read(path)
    except FileNotFound:
        return f"{path}: does not exist yet"
    except NotAllowed as error:  # a picture, a huge file, a way out: nothing to show
        return f"{path}: {error}"
    last = max(1, text.count("\n") + (not text.endswith("\n")))
    found = await units(path, text)
    spans = _merged(_span(place, found, last) for place in wanted)
    return "\n".join([f"{path}:", *(numbered(text, start, end) for start, end in spans)])


def _span(place: Location, found: tuple[Unit, ...], last: int) -> tuple[int, int]:
    named = [u for u in found if place.symbol and f".{u.name}".endswith(f".{place.symbol}")]
    unit = named[0] if named else enclosing(found, place.start)
    if unit is not None:
        start, end = unit.start, unit.end
    elif place.start:
        start, end = place.start - AROUND, max(place.end, place.start) + AROUND
    else:
        start, end = 1, MAX_SPAN
    start = min(max(1, start), last)
    return start, max(start, min(end, start + MAX_SPAN - 1, last))


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
