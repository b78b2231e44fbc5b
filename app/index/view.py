"""What the index knows, as text for a terminal. Names from the repository cannot command it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from app.environment.view import clean, size
from pipeline.index.build import BuildStats
from pipeline.index.quoting import quoted
from pipeline.index.search.values import FileHit, Found, Hit
from pipeline.index.store import FileRow, Index
from pipeline.index.values import Ranking, Scored

SHOWN_PARTS = 4
SHOWN_LINES = 8


def one_line(text: str) -> str:
    """A name of the repository on one line; what cannot be seen is quoted."""
    return clean(quoted(text))


def build_text(stats: BuildStats) -> str:
    """What a build did, in one line."""
    new = f"{stats.parsed} parsed ({size(stats.parsed_bytes)})" if stats.parsed else "none parsed"
    text = f"{stats.commit[:12]}: {stats.files} files, {new}, {stats.reused} known before"
    cut = f", {stats.degraded} only cut into chunks" if stats.degraded else ""
    return f"{text}{cut}, {stats.seconds:.1f} s"


def stats_text(index: Index, store_bytes: int) -> str:
    """Files, lines and definitions by language, what was degraded and why, the store's size."""
    files = index.files()
    found: Counter[tuple[str, str]] = Counter()
    for row, parsed in index.all_parsed():
        found[row.language, "calls"] += len(parsed.calls)
        for item in parsed.definitions:
            found[row.language, item.kind] += 1
    languages = Counter(row.language for row in files if row.language)
    lines = [
        f"{'language':<14}{'files':>8}{'lines':>10}{'classes':>10}{'functions':>11}{'calls':>10}"
    ]
    for language, count in languages.most_common():
        total = sum(row.lines for row in files if row.language == language)
        kinds = [found[language, kind] for kind in ("class", "function", "calls")]
        lines.append(
            f"{language:<14}{count:>8}{total:>10}{kinds[0]:>10}{kinds[1]:>11}{kinds[2]:>10}"
        )
    other = sum(not row.language for row in files)
    lines.append(f"{'(not parsed)':<14}{other:>8}")
    lines += list(_degraded(files))
    lines.append(f"store: {size(store_bytes)}, shared by all commits of the repository")
    return "\n".join(lines)


def search_text(files: Found[FileHit], definitions: Found[Hit], code: Found[Hit]) -> str:
    """What was found, one place a line; "" when there is nothing at all."""
    parts: list[tuple[str, list[str], Found[Any]]] = [
        ("files", [_file(hit) for hit in files.hits], files),
        ("definitions", [_definition(hit) for hit in definitions.hits], definitions),
        ("code", [f"{one_line(hit.id)}  lines {_numbers(hit.lines)}" for hit in code.hits], code),
    ]
    lines = []
    for name, places, found in parts:
        if places or found.hidden:
            lines += [name, *(f"  {place}" for place in places), *_left_out(found)]
    return "\n".join(lines)


def _file(hit: FileHit) -> str:
    """Lines are counted where a parser reads the file."""
    return one_line(hit.path) + (f"  ({hit.lines} lines)" if hit.language else "")


def _definition(hit: Hit) -> str:
    alike = "" if hit.match == "exact" else f", {hit.match} {hit.score:.2f}"
    return f"{one_line(hit.id)}  lines {hit.start}–{hit.end}{alike}"


def _numbers(lines: Sequence[int]) -> str:
    more = ", …" if len(lines) > SHOWN_LINES else ""
    return ", ".join(str(line) for line in lines[:SHOWN_LINES]) + more


def _left_out(found: Found[Any]) -> Iterator[str]:
    if found.more:
        yield f"  … and {found.more} more"
    if found.hidden:
        yield f"  {found.hidden} in test code (--tests shows them)"


def ranking_text(ranking: Ranking, top: int) -> str:
    """The best files and functions, with what spoke for each most."""
    lines = [f"files (probability of the first: {ranking.confidence:.0%})"]
    lines += _scored(ranking.files[:top])
    lines += ["functions", *_scored(ranking.functions[:top])]
    return "\n".join(lines)


def _scored(places: Sequence[Scored]) -> Iterator[str]:
    for number, place in enumerate(places, 1):
        parts = sorted(place.parts.items(), key=lambda part: -abs(part[1]))[:SHOWN_PARTS]
        why = ", ".join(f"{name} {value:+.2f}" for name, value in parts)
        yield f"{number:>3}. {one_line(place.id)}  {place.score:.2f}  ({why})"


def _degraded(files: Iterable[FileRow]) -> Iterator[str]:
    why: dict[str, list[str]] = {}
    for row in files:
        if row.degraded:
            why.setdefault(row.degraded, []).append(row.path)
    for reason, paths in sorted(why.items()):
        more = f" … and {len(paths) - 3} more" if len(paths) > 3 else ""
        shown = ", ".join(one_line(path) for path in paths[:3])
        yield f"only cut into chunks, {reason}: {shown}{more}"
