"""A unit in few lines: its head as written, and the lines that matter, with their numbers."""

from collections.abc import Iterable, Sequence

from pipeline.index.values import Unit

MAX_PREVIEW = 40
MAX_HEAD = 12
MAX_CALLS = 6
MAX_WIDTH = 200


def head_lines(unit: Unit, lines: Sequence[str]) -> list[int]:
    """The numbers of the lines that hold decorators and signature, at most 12."""
    if unit.kind not in {"class", "function"}:
        return []
    wanted = _squeezed(unit.signature).removesuffix("…")
    last = min(unit.end, len(lines), unit.start + MAX_HEAD - 1)
    text = ""
    for number in range(unit.start, last + 1):
        text += _squeezed(lines[number - 1])
        if wanted and wanted in text:
            return list(range(unit.start, number + 1))
    return [unit.start]


def preview(unit: Unit, lines: Sequence[str], others: Iterable[int]) -> str:
    """Head and other lines in order, where lines are left out `…`; at most 40."""
    wanted = sorted({*head_lines(unit, lines), *others})
    shown: list[str] = []
    before = wanted[0] if wanted else 0
    for number in wanted:
        if not 1 <= number <= len(lines):
            continue
        if number > before + 1:
            shown.append("     …")
        shown.append(f"{number:>6}\t{shortened(lines[number - 1])}")
        before = number
        if len(shown) >= MAX_PREVIEW - 1:
            break
    return "\n".join(shown)


def shortened(line: str) -> str:
    """A line of source, cut where it gets unreasonable."""
    return line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 1]}…"


def _squeezed(text: str) -> str:
    return "".join(text.split())
