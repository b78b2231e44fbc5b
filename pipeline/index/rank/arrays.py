"""Everything that ranking asks of one commit, laid out as arrays over its files and units."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from pipeline.index.rank.bm25 import Field, Numbers, build
from pipeline.index.rank.counts import CLASS, FUNCTION, MODULE, Counts
from pipeline.index.rank.tokens import number, numbers
from pipeline.index.rank.walk import Links, links

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]
Small = npt.NDArray[np.int32]

NAME, OWNER, PATH = 4, 2, 1  # occurrences that a word in a unit's names counts for
_WORD = re.compile(r"[A-Za-z_]\w*|\d{3,}")
_ASIDE = frozenset(
    """
    doc docs documentation example examples tool tools build benchmark benchmarks asv_bench gallery
    galleries tutorial tutorials script scripts ci demo demos sample samples release dist vendor
    third_party node_modules
    """.split()  # noqa: SIM905 - a list of strings is hard to read
)
# Mostly re-exports, or no code at all.
_BARE = ("__init__.py", ".pyi", ".d.ts")


@dataclass(frozen=True, slots=True)
class Arrays:
    """Files and units in the order of paths; unit arrays have one entry for each unit.

    `first` holds the first unit of each file (its module unit) and one past the last.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    file_of: Ints
    kinds: Ints
    starts: Ints
    ends: Ints
    lengths: Ints
    first: Ints
    file_lengths: Ints
    aside: Floats
    bare: Floats
    minority: Floats
    units: Field
    text: Field
    title: Field
    docs: Field
    file_names: Field
    unit_names: Field
    path_words: Field
    defined: Mapping[str, tuple[int, ...]]
    bases: Mapping[int, tuple[str, ...]]
    pieces: tuple[str, ...]
    piece_words: Words
    piece_units: Ints
    endings: Mapping[str, tuple[int, ...]]
    links: Links
    imports: tuple[tuple[tuple[str, str, str], ...], ...]
    modules: Mapping[str, int]

    tails: tuple[str, ...]
    repeats: Mapping[int, int]

    def unit_id(self, unit: int) -> str:
        """`path:Qual.Name`, with `#2` for a second definition of the name; a file is its path."""
        path, name = self.paths[self.file_of[unit]], self.names[unit]
        number = f"#{self.repeats[unit]}" if unit in self.repeats else ""
        return f"{path}:{name}{number}" if name else path


def arrays(paths: Sequence[str], languages: Sequence[str], counted: Sequence[Counts]) -> Arrays:
    """Lay out the candidates of a commit; paths, languages and counts belong together."""
    sizes = np.array([len(each.names) for each in counted], np.int64)
    first = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    file_of = np.repeat(np.arange(len(paths)), sizes)
    names = tuple(chain.from_iterable(each.names for each in counted))
    kinds = _joined([each.kinds for each in counted])
    lengths = _joined([each.lengths for each in counted])
    file_lengths = np.array([each.file_times.sum() for each in counted], np.int64)
    defined = _defined(names, kinds)
    pieces = tuple(chain.from_iterable(each.pieces for each in counted))
    units, file_names, unit_names, path_words = _name_fields(
        paths, names, file_of, _unit_words(counted, first), lengths
    )
    text, title, docs = _text_fields(counted, file_lengths)
    return Arrays(
        paths=tuple(paths),
        names=names,
        file_of=file_of,
        kinds=kinds,
        starts=_joined([each.starts for each in counted]),
        ends=_joined([each.ends for each in counted]),
        lengths=lengths,
        first=first,
        file_lengths=file_lengths,
        aside=np.array([float(is_aside(path)) for path in paths]),
        bare=np.array([float(path.endswith(_BARE)) for path in paths]),
        minority=_minority(languages),
        units=units,
        text=text,
        title=title,
        docs=docs,
        file_names=file_names,
        unit_names=unit_names,
        path_words=path_words,
        defined=defined,
        bases=_bases(counted, first),
        pieces=pieces,
        piece_words=np.array([number(longest(each)) for each in pieces], np.uint32),
        piece_units=_joined([each.piece_units + at for each, at in _placed(counted, first)]),
        endings=_endings(paths),
        links=_links(counted, first, defined, len(names)),
        imports=tuple(each.imports for each in counted),
        modules=_modules(paths),
        tails=tuple(name.rpartition(".")[2] for name in names),
        repeats=_repeats(names, file_of),
    )


def _links(
    counted: Sequence[Counts], first: Ints, defined: Mapping[str, tuple[int, ...]], units: int
) -> Links:
    used = _joined([each.used_units + at for each, at in _placed(counted, first)])
    return links(used, _words([each.used_ids for each in counted]), defined, units)


def _placed(counted: Sequence[Counts], first: Ints) -> Iterable[tuple[Counts, int]]:
    """Each file's counts with the number of its first unit, as wide as sums with it must be."""
    return zip(counted, first, strict=False)


def _unit_words(counted: Sequence[Counts], first: Ints) -> tuple[Small, Words, Small]:
    return (
        _narrow([each.word_units + at for each, at in _placed(counted, first)]),
        _words([each.word_ids for each in counted]),
        _narrow([each.word_times for each in counted]),
    )


def _text_fields(counted: Sequence[Counts], lengths: Ints) -> tuple[Field, Field, Field]:
    """Whole files, with large ones held back more and less, and documentation."""
    by_file = np.arange(len(counted))
    files = np.repeat(by_file, [len(each.file_ids) for each in counted])
    words = _words([each.file_ids for each in counted])
    times = _joined([each.file_times for each in counted])
    docs = _plain(
        np.repeat(by_file, [len(each.doc_ids) for each in counted]),
        _words([each.doc_ids for each in counted]),
        _joined([each.doc_times for each in counted]),
        len(counted),
    )
    return build(files, words, times, lengths, 2.0, 0.9), build(files, words, times, lengths), docs


def _name_fields(
    paths: Sequence[str],
    names: Sequence[str],
    file_of: Ints,
    body: tuple[Small, Words, Small],
    lengths: Ints,
) -> tuple[Field, Field, Field, Field]:
    """Units with their names and paths as fields; names by file and by unit; words of paths.

    A body holds neither its own name nor its class and path: without these it is not found.
    """
    own, owners, per_path = _name_words(names), _owner_words(names), _path_words(paths)
    path_units = np.repeat(np.arange(len(names)), [len(per_path[at]) for at in file_of])
    path_ids = _ids([per_path[at] for at in file_of])
    counts = (len(own[0]), len(owners[0]), len(path_units))
    weights = np.repeat((NAME, OWNER, PATH), counts)
    units = build(
        _narrow([body[0], own[0], owners[0], path_units]),
        np.r_[body[1], own[1], owners[1], path_ids],
        _narrow([body[2], weights]),
        lengths,
    )
    at, words = np.r_[own[0], owners[0]], np.r_[own[1], owners[1]]
    once = np.ones(len(at))
    by_path = np.repeat(np.arange(len(paths)), [len(each) for each in per_path])
    return (
        units,
        _plain(file_of[at], words, once, len(paths)),
        _plain(at, words, once, len(names)),
        _plain(by_path, _ids(per_path), np.ones(len(by_path)), len(paths)),
    )


def is_aside(path: str) -> bool:
    """Whether a path is documentation, an example or a tool of the project, by its first folder."""
    return "/" in path and path.partition("/")[0].lower() in _ASIDE


def longest(piece: str) -> str:
    """The longest word of a piece of text, by which it is looked up."""
    return max(piece.split(), key=len)


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)


def _narrow(parts: Sequence[npt.NDArray[np.integer]]) -> Small:
    """Joined with half the bytes: numbers of units, and how often a word stands in one."""
    return (
        np.concatenate(parts, dtype=np.int32, casting="same_kind")
        if parts
        else np.zeros(0, np.int32)
    )


def _words(parts: Sequence[Words]) -> Words:
    return np.concatenate(parts) if parts else np.zeros(0, np.uint32)


def _ids(groups: Sequence[Sequence[int]]) -> Words:
    return np.fromiter(chain.from_iterable(groups), np.uint32)


def _plain(documents: Ints, words: Words, times: Numbers, size: int) -> Field:
    """A field whose length is the number of its words."""
    return build(documents, words, times, np.bincount(documents, times, minlength=size))


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _text_words(text: str) -> list[int]:
    return list(dict.fromkeys(chain.from_iterable(numbers(raw) for raw in _WORD.findall(text))))


def _name_words(names: Sequence[str]) -> tuple[Ints, Words]:
    groups = [numbers(name.rpartition(".")[2]) if name else () for name in names]
    return np.repeat(np.arange(len(names)), [len(each) for each in groups]), _ids(groups)


def _owner_words(names: Sequence[str]) -> tuple[Ints, Words]:
    known: dict[str, list[int]] = {}
    groups = []
    for name in names:
        owner = name.rpartition(".")[0]
        if owner not in known:
            known[owner] = _text_words(owner)
        groups.append(known[owner])
    return np.repeat(np.arange(len(names)), [len(each) for each in groups]), _ids(groups)


def _path_words(paths: Sequence[str]) -> list[list[int]]:
    return [_text_words(path.rpartition(".")[0] or path) for path in paths]


def _defined(names: Sequence[str], kinds: Ints) -> dict[str, tuple[int, ...]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for unit in map(int, np.flatnonzero(kinds != MODULE)):
        found[names[unit].rpartition(".")[2]].append(unit)
    return {name: tuple(units) for name, units in found.items()}


def _bases(counted: Sequence[Counts], first: Ints) -> dict[int, tuple[str, ...]]:
    """Own names of the bases of each class, without arguments and modules."""
    found = {}
    for at, each in enumerate(counted):
        for unit, bases in enumerate(each.bases):
            if bases:
                plain = (base.partition("[")[0].partition("(")[0] for base in bases)
                found[int(first[at]) + unit] = tuple(re.split(r"[.:]+", base)[-1] for base in plain)
    return found


def _repeats(names: Sequence[str], file_of: Ints) -> dict[int, int]:
    """How many definitions of its name in its file a unit is, from the second on."""
    seen: Counter[str] = Counter()
    found = {}
    file = -1
    for unit, (at, name) in enumerate(zip(file_of.tolist(), names, strict=True)):
        if at != file:  # the units of a file follow each other
            file = at
            seen.clear()
        seen[name] += 1
        if seen[name] > 1:
            found[unit] = seen[name]
    return found


def _modules(paths: Sequence[str]) -> dict[str, int]:
    """Dotted module names, from the repository's root and from a source folder in it."""
    found: dict[str, int] = {}
    for at, path in enumerate(paths):
        parts = path.rpartition(".")[0].split("/")
        if parts[-1] == "__init__":
            parts = parts[:-1]
        for skipped in (0, 1):
            if len(parts) > skipped and (not skipped or parts[0] in {"src", "lib"}):
                found.setdefault(".".join(parts[skipped:]), at)
    return found


def _minority(languages: Sequence[str]) -> Floats:
    """1 for a language in which hardly any of the candidates is written, 0 for the main ones."""
    share = {each: languages.count(each) / len(languages) for each in set(languages)}
    return np.array([float(share[each] < 0.1) for each in languages])


def _endings(paths: Sequence[str]) -> dict[str, tuple[int, ...]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for at, path in enumerate(paths):
        found[_base(path).lower()].append(at)
    return {name: tuple(each) for name, each in found.items()}


__all__ = ["CLASS", "FUNCTION", "MODULE", "Arrays", "arrays", "is_aside", "longest"]
