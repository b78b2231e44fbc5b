"""The code a set of plans is about, as numbered lines: what reviewers and the judge read."""

from collections.abc import Iterable, Mapping

from pipeline.prompts.blocks import data_block
from pipeline.values import Location, Plan
from sandbox.base import Source

MARGIN = 8  # lines shown around a place
WHOLE = 120  # a place without lines shows this many from the top of its file
LIMIT = 24_000  # characters in all


async def excerpts(source: Source, plans: Iterable[Plan]) -> str:
    """The places of all plans' contexts at the base commit, each line once, cut at 24,000.

    A place in a file that does not exist is left out.
    """
    wanted = wanted_lines(place for plan in plans for place in plan.solution.context)
    blocks, room = [], LIMIT
    for path, lines in wanted.items():
        data = await source.read(path)
        if data is None or room <= 0:
            continue
        text = numbered(data.decode("utf-8", "replace").splitlines(), lines)[:room]
        room -= len(text)
        blocks.append(data_block("code", f"path: {path}\n{text}"))
    return "\n\n".join(blocks) or "(no code)"


def wanted_lines(places: Iterable[Location]) -> Mapping[str, frozenset[int]]:
    """1-based line numbers to show of each path, in the order in which paths are first named."""
    wanted: dict[str, frozenset[int]] = {}
    for place in places:
        first = max(1, place.start - MARGIN) if place.start else 1
        last = max(place.start, place.end) + MARGIN if place.start else WHOLE
        shown = frozenset(range(first, min(last, first + 400) + 1))
        wanted[place.path] = wanted.get(place.path, frozenset()) | shown
    return wanted


def numbered(lines: list[str], wanted: frozenset[int]) -> str:
    """The wanted lines with their numbers; a gap is one line of dots."""
    shown: list[str] = []
    previous = 0
    for number in sorted(line for line in wanted if line <= len(lines)):
        if number != previous + 1:
            shown.append("…")
        shown.append(f"{number:5d}  {lines[number - 1]}")
        previous = number
    return "\n".join(shown)
