"""What the Test agent reads of a suite: the tests nearest to the issue, whatever file they are in.

Few tests of a repository can contradict one issue. Whole files would hide those that stand far
below in a long one, and cost more than everything else that is asked about a patch.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.evidence.runs import file_of
from pipeline.index.rank.tokens import count, query
from pipeline.index.units import Unit, units
from pipeline.prompts.blocks import data_block
from pipeline.values import Task
from sandbox.base import Source

MAX_IDS = 20_000  # characters of test ids in the prompt
MAX_SOURCES = 30_000  # characters of test sources in the prompt
MAX_FILES = 60  # that are read for it, near ones first
MAX_PIECE = 60  # lines of what stands in no function
FUSED = 60  # reciprocal rank fusion: how little a single place counts
SATURATION, LENGTH = 1.2, 0.75  # BM25: repetitions of a word, and how much length takes away


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a test file that are shown together, 1-based; `name` is "" outside of functions."""

    path: str
    name: str
    start: int
    text: str

    @property
    def shown(self) -> str:
        """The text below the name that ids use, which its own lines may not tell."""
        return f"[{self.name}]\n{self.text}" if self.name else self.text


async def suite_block(
    source: Source, task: Task, tests: Sequence[str], near: Sequence[str] = ()
) -> str:
    """Ids and sources of the tests that pass today, as data; `near` are files near to the issue.

    Sources are pieces, the best by the issue's words and by nearness, 30,000 characters of them.
    Ids are those of what is shown, without parameters, and those whose file cannot be told.
    """
    known = frozenset(await source.files())
    by_path: dict[str, list[str]] = {}
    for test in tests:
        by_path.setdefault(file_of(test, known) or "", []).append(test)
    paths = await _chosen(source, task, sorted(set(by_path) - {""}), near)
    pieces = [piece for path, text in paths.items() for piece in await _pieces(path, text)]
    shown = _within(MAX_SOURCES, _ranked(pieces, task, list(near)))
    ids = [id_ for path in by_path for id_ in _ids(path, by_path[path], pieces, shown)]
    files = dict.fromkeys(piece.path for piece in shown)
    blocks = [data_block("tests", _cut("\n".join(dict.fromkeys(ids)), MAX_IDS))]
    blocks += [data_block("test_file", _rendered(path, shown)) for path in files]
    return "\n\n".join(blocks)


async def _chosen(
    source: Source, task: Task, paths: Sequence[str], near: Sequence[str]
) -> dict[str, str]:
    """Texts of at most 60 test files: near ones first, then by words shared with the issue."""
    words = query(task.title, task.body)
    texts = {path: (await source.read(path) or b"").decode("utf-8", "replace") for path in paths}
    place = {path: at for at, path in enumerate(near)}
    shared = {path: len(words.keys() & count(text)) for path, text in texts.items()}
    order = sorted(paths, key=lambda path: (place.get(path, len(near)), -shared[path], path))
    return {path: texts[path] for path in order[:MAX_FILES]}


async def _pieces(path: str, text: str) -> list[Piece]:
    """A file in pieces: its functions, and what is between them in at most 60 lines each."""
    lines = text.splitlines()
    found: list[Piece] = []
    at = 1
    for unit in _functions(await units(path, text)):
        found += _between(path, lines, at, unit.start - 1)
        found.append(Piece(path, unit.name, unit.start, _lines(lines, unit.start, unit.end)))
        at = unit.end + 1
    return [*found, *_between(path, lines, at, len(lines))]


def _functions(found: Iterable[Unit]) -> Iterator[Unit]:
    """Functions and methods in order, without those inside of others."""
    end = 0
    for unit in sorted(found, key=lambda each: (each.start, -each.end)):
        if unit.kind != "class" and unit.start > end:
            yield unit
            end = unit.end


def _between(path: str, lines: Sequence[str], start: int, end: int) -> Iterator[Piece]:
    for first in range(start, end + 1, MAX_PIECE):
        text = _lines(lines, first, min(end, first + MAX_PIECE - 1))
        if text.strip():
            yield Piece(path, "", first, text)


def _lines(lines: Sequence[str], start: int, end: int) -> str:
    return "\n".join(lines[start - 1 : end])


def _ranked(pieces: Sequence[Piece], task: Task, near: list[str]) -> list[Piece]:
    """Best first: two orders, by the issue's words (BM25) and by nearness of the file, fused."""
    words = query(task.title, task.body)
    counts = [count(piece.shown) for piece in pieces]
    holding = {word: sum(word in each for each in counts) for word in words}
    mean = sum(len(piece.text) for piece in pieces) / max(1, len(pieces))
    scores = []
    for piece, found in zip(pieces, counts, strict=True):
        damped = SATURATION * (1 - LENGTH + LENGTH * len(piece.text) / max(1.0, mean))
        scores.append(
            sum(
                weight
                * math.log(1 + len(pieces) / holding[word])
                * found[word]
                / (found[word] + damped)
                for word, weight in words.items()
                if found[word]
            )
        )
    order = sorted(range(len(pieces)), key=lambda at: -scores[at])
    fused = {at: 1 / (FUSED + rank) for rank, at in enumerate(order)}
    places = {path: rank for rank, path in enumerate(near)}
    for at, piece in enumerate(pieces):
        if piece.path in places:
            fused[at] += 1 / (FUSED + places[piece.path])
    return [pieces[at] for at in sorted(fused, key=lambda at: (-fused[at], at))]


def _within(limit: int, ranked: Iterable[Piece]) -> list[Piece]:
    """As many of the best as fit; a piece that is too long is passed over."""
    shown = []
    for piece in ranked:
        if len(piece.shown) <= limit:
            shown.append(piece)
            limit -= len(piece.shown)
    return shown


def _ids(
    path: str, tests: Iterable[str], pieces: Iterable[Piece], shown: Iterable[Piece]
) -> Iterator[str]:
    """Ids worth naming: all of a file that is no file of ours; else what is shown of it.

    Where tests have titles instead of names, all of a file that is shown in part.
    """
    functions = {_last(each.name) for each in pieces if each.path == path and each.name}
    seen = [each for each in shown if each.path == path]
    names = {_last(each.name) for each in seen if each.name}
    for test in tests:
        bare = test.partition("[")[0]
        name = _last(bare)
        if not path or name in names or (seen and name not in functions):
            yield bare if test.endswith("]") else test


def _last(name: str) -> str:
    return re.split(r"::|\.", name)[-1]


def _rendered(path: str, shown: Iterable[Piece]) -> str:
    """The file's pieces in their order; what is left out between them is marked."""
    parts = sorted((each for each in shown if each.path == path), key=lambda each: each.start)
    return "\n…\n".join([path, *(each.shown for each in parts)])


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: text.rfind("\n", 0, size)] + "\n(cut)"
