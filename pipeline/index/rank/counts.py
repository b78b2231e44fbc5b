"""Words, names and strings of one blob, as small arrays: what ranking needs and nothing more.

Content-addressed like the parse it comes from: no path in it, kept by blob id for every commit.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from pipeline.index.rank.mentions import folded
from pipeline.index.rank.tokens import MAX_WORD, WORD, number, numbers
from pipeline.index.values import Definition, ParsedFile

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint32]

MODULE, CLASS, FUNCTION = 0, 1, 2
_KINDS = {"class": CLASS, "function": FUNCTION}
_HOLES = re.compile(
    r"%[-#0 +]?\d*(?:\.\d+)?[sdrifxgoec]|%\(\w{1,60}\)[sdrifxg]|\{[^{}]{0,80}\}|\\[nt]"
)
MIN_PIECE = 10
MAX_PIECES = 1_000  # literals looked at, and pieces kept


@dataclass(frozen=True, slots=True)
class Counts:
    """Unit 0 is the file outside every definition; the others follow the parse's order.

    `word_*` hold the words of units (a function with all that is inside, a class without its
    functions), `file_*` those of the file, `doc_*` of its documentation, `used_*` the identifiers
    each unit names. `pieces` are fixed parts of string literals, with the unit they stand in.
    """

    names: tuple[str, ...]
    bases: tuple[tuple[str, ...], ...]
    pieces: tuple[str, ...]
    imports: tuple[tuple[str, str, str], ...]
    kinds: Ints
    starts: Ints
    ends: Ints
    lengths: Ints
    word_units: Ints
    word_ids: Words
    word_times: Ints
    file_ids: Words
    file_times: Ints
    doc_ids: Words
    doc_times: Ints
    used_units: Ints
    used_ids: Words
    piece_units: Ints


_TEXTS = ("names", "bases", "pieces", "imports")
_ARRAYS = tuple(name for name in Counts.__dataclass_fields__ if name not in _TEXTS)


Splitter = Callable[[str], Iterable[int]]


def counts(parsed: ParsedFile, text: str, split: Splitter = numbers) -> Counts:
    """Count one blob, with `split` from an identifier to the numbers of its words.

    Linear in its size, apart from functions nested in functions.
    """
    definitions = parsed.definitions
    parents = _parents(definitions)
    owners = _owners(definitions, text.count("\n") + 1)
    raw = _raw_counts(len(definitions) + 1, owners, text)
    whole = _with_nested(definitions, parents, raw)
    words = [_words(each, split) for each in whole]
    file_words: Counter[int] = Counter()
    for each in raw:
        file_words.update(_words(each, split))
    docs: Counter[int] = Counter()
    for definition in definitions:
        docs.update(_words(Counter(WORD.findall(definition.doc)), split))
    pieces = _pieces(parsed.strings, owners, text)
    used = [
        np.array(
            sorted({number("=" + name) for name in each if 2 < len(name) <= MAX_WORD}), np.uint32
        )
        for each in whole
    ]
    return Counts(
        names=("", *(each.name for each in definitions)),
        bases=((), *(each.bases for each in definitions)),
        pieces=tuple(piece for piece, _ in pieces),
        imports=tuple((each.module, each.name, each.alias) for each in parsed.imports),
        kinds=np.array([MODULE, *(_KINDS[each.kind] for each in definitions)], np.int64),
        starts=np.array([1, *(each.start for each in definitions)], np.int64),
        ends=np.array([parsed.lines, *(each.end for each in definitions)], np.int64),
        lengths=np.array([sum(each.values()) for each in words], np.int64),
        word_units=np.repeat(np.arange(len(words)), [len(each) for each in words]),
        word_ids=np.array([word for each in words for word in each], np.uint32),
        word_times=np.array([times for each in words for times in each.values()], np.int64),
        file_ids=np.array(list(file_words), np.uint32),
        file_times=np.array(list(file_words.values()), np.int64),
        doc_ids=np.array(list(docs), np.uint32),
        doc_times=np.array(list(docs.values()), np.int64),
        used_units=np.repeat(np.arange(len(used)), [len(each) for each in used]),
        used_ids=np.concatenate(used),
        piece_units=np.array([unit for _, unit in pieces], np.int64),
    )


def _parents(definitions: tuple[Definition, ...]) -> list[int]:
    """Position of the enclosing definition of each, -1 for none; enclosing ones come first."""
    parents: list[int] = []
    open_ones: list[int] = []
    for position, each in enumerate(definitions):
        while open_ones and definitions[open_ones[-1]].end < each.end:
            open_ones.pop()
        parents.append(open_ones[-1] if open_ones else -1)
        open_ones.append(position)
    return parents


def _owners(definitions: tuple[Definition, ...], lines: int) -> list[int]:
    """The innermost unit of each line, by line number."""
    owners = [0] * (lines + 1)
    for position, each in enumerate(definitions):
        last = min(each.end, lines)
        owners[each.start : last + 1] = [position + 1] * (last + 1 - each.start)
    return owners


def _raw_counts(units: int, owners: list[int], text: str) -> list[Counter[str]]:
    """Identifiers on the lines that belong to no inner definition, for the file and each unit."""
    segments: list[list[str]] = [[] for _ in range(units)]
    for number_, line in enumerate(text.split("\n"), 1):
        segments[owners[number_]].append(line)
    return [Counter(WORD.findall("\n".join(each))) for each in segments]


def _with_nested(
    definitions: tuple[Definition, ...], parents: list[int], raw: list[Counter[str]]
) -> list[Counter[str]]:
    """A function counts what is inside it too; a class and the file do not."""
    whole = [Counter(each) for each in raw]
    for position in range(len(definitions) - 1, -1, -1):
        parent = parents[position]
        if parent >= 0 and definitions[parent].kind == "function":
            whole[parent + 1].update(whole[position + 1])
    return whole


def _words(raw: Mapping[str, int], split: Splitter) -> Counter[int]:
    found: Counter[int] = Counter()
    for name, times in raw.items():
        for each in split(name):
            found[each] += times
    return found


def _pieces(strings: Iterable[str], owners: list[int], text: str) -> list[tuple[str, int]]:
    """Fixed parts of literals, cut where values are filled in, with the innermost unit.

    Literals come in source order, so each is looked for after the one before.
    """
    breaks = [match.start() for match in re.finditer("\n", text)]
    found: list[tuple[str, int]] = []
    place = 0
    for literal in islice(strings, MAX_PIECES):
        at = text.find(literal, place)
        unit = owners[bisect_right(breaks, at - 1) + 1] if at >= 0 else 0
        place = max(place, at)
        for part in _HOLES.split(literal):
            piece = folded(part)
            if len(piece) >= MIN_PIECE and " " in piece:
                found.append((piece[:200], unit))
    return found[:MAX_PIECES]


def pack(value: Counts) -> bytes:
    """As bytes: one line of JSON with texts and array types, then the arrays."""
    arrays = [np.ascontiguousarray(getattr(value, name)) for name in _ARRAYS]
    small = [_smallest(each) for each in arrays]
    head = {name: getattr(value, name) for name in _TEXTS}
    head["arrays"] = [(each.dtype.str, len(each)) for each in small]
    return json.dumps(head).encode() + b"\n" + b"".join(each.tobytes() for each in small)


def unpack(data: bytes) -> Counts:
    """What `pack` wrote."""
    start = data.index(b"\n") + 1
    head = json.loads(data[: start - 1])
    arrays = {}
    for name, (kind, size) in zip(_ARRAYS, head["arrays"], strict=True):
        arrays[name] = np.frombuffer(data, kind, size, start)
        start += arrays[name].nbytes
    return Counts(
        names=tuple(head["names"]),
        bases=tuple(map(tuple, head["bases"])),
        pieces=tuple(head["pieces"]),
        imports=tuple(map(tuple, head["imports"])),
        **arrays,
    )


def _smallest(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    if array.dtype == np.uint32 or not len(array):
        return array
    return array.astype(np.uint16 if int(array.max()) < 65_536 else np.uint32)
