"""A ranking as a short text: where an agent should look first, and why there."""

from collections.abc import Iterator

from pipeline.index.quoting import quoted
from pipeline.index.values import Ranking, Scored

FILES, FUNCTIONS = 20, 50  # hold all places of 19 of 20 issues, and all functions of 3 of 4
REASONS = 2
MAX_NAME = 200
UNSURE = 0.5
# They shape a score but say nothing about a place.
_SILENT = frozenset({"length", "rank of its file", "score of its file"})


def seed_text(ranking: Ranking, files: int = FILES, functions: int = FUNCTIONS) -> str:
    """The best files and functions, a line each with its two strongest reasons.

    At most about 20,000 characters whatever the repository's names look like; "" for an empty
    ranking. Names are quoted. Pure.
    """
    if not ranking.files:
        return ""
    return "\n".join(_lines(ranking, files, functions))


def _lines(ranking: Ranking, files: int, functions: int) -> Iterator[str]:
    sure = "likely" if ranking.confidence >= UNSURE else "far from certain: look further too"
    yield f"Files by how well they fit the issue (the first is {sure}, {ranking.confidence:.0%}):"
    yield from _numbered(ranking.files[:files])
    if ranking.functions[:functions]:
        yield "Functions in these files:"
        yield from _numbered(ranking.functions[:functions])


def _numbered(scored: tuple[Scored, ...]) -> Iterator[str]:
    for place, each in enumerate(scored, 1):
        because = "; ".join(reasons(each))
        yield f"{place}. {_plain(each.id)}" + (f" ({because})" if because else "")


def reasons(scored: Scored, limit: int = REASONS) -> list[str]:
    """The signals that speak most for a place, strongest first."""
    speaking = {
        name: value for name, value in scored.parts.items() if value > 0 and name not in _SILENT
    }
    return sorted(speaking, key=lambda name: (-speaking[name], name))[:limit]


def _plain(name: str) -> str:
    """A name on one line that any encoder takes, cut where it gets unreasonable."""
    shown = quoted(name)
    return shown if len(shown) <= MAX_NAME else shown[: MAX_NAME - 1] + "…"
