"""All signals of one issue, for files and for the units of the best files."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.index.rank import places
from pipeline.index.rank.arrays import MODULE, Arrays
from pipeline.index.rank.bm25 import sums
from pipeline.index.rank.history import History, referred, similar
from pipeline.index.rank.mentions import Mentions
from pipeline.index.rank.quotes import quotes
from pipeline.index.rank.tokens import count, query, strongest
from pipeline.index.rank.walk import walk

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAX_WORDS = 1_500  # of one query
DAMPING = 10.0


@dataclass(frozen=True, slots=True)
class Signals:
    """Values by signal, one for each file or unit; not yet divided by their greatest."""

    file: Mapping[str, Floats]
    unit: Mapping[str, Floats]


def signals(arrays: Arrays, past: History, found: Mentions, title: str) -> Signals:
    """Measure every signal that one issue gives."""
    files = len(arrays.paths)
    if not files:
        return Signals({}, {})
    full = strongest(query(title, found.clean), MAX_WORDS)
    prose = strongest(query(title, found.prose), MAX_WORDS)
    head = {word: float(times) for word, times in count(title).items()}
    units, names = arrays.units.score(full), arrays.unit_names.score(full)
    in_trace, unit_trace, deepest, unit_deepest = places.frames(arrays, found.frames)
    defines, unit_defines = places.defined(arrays, found.identifiers)
    quoted, unit_quoted = quotes(arrays, found.folded)
    of_class, inherited = places.classes(arrays, found.identifiers)
    hits = _share(units) + 0.5 * _share(unit_defines) + unit_trace + _share(unit_quoted)
    near, reached = walk(arrays.links, hits + places.dotted(arrays, found.dotted))
    return Signals(
        {
            "words in its best units": best_units(arrays, units),
            "words in the file": arrays.text.score(full),
            "words of the title": arrays.title.score(head),
            "words outside code blocks": arrays.text.score(prose),
            "named path or link": places.path_files(arrays, found),
            "title words in the path": arrays.path_words.score(head),
            "words in unit names": arrays.file_names.score(full),
            "words in documentation": arrays.docs.score(full),
            "quoted message": quoted,
            "deepest call of a traceback": deepest,
            "similar commit messages": similar(past, full, files),
            "commit named in the issue": referred(past, found.references, files),
            "defines what is named": defines,
            "near in the graph of names": _by_file(arrays, near),
            "reached in the graph of names": _by_file(arrays, reached),
            "in a traceback": in_trace,
            "changed lately": past.recent,
            **_priors(arrays),
        },
        {
            "words, against its file": _within(arrays, units),
            "near in the graph of names": np.sqrt(near),
            "words": units,
            "linked lines": places.linked_units(arrays, found.permalinks),
            "words in its name, against its file": _within(arrays, names),
            "deepest call of a traceback": unit_deepest,
            "named member of a class above": inherited,
            "class is named": _rank_share(of_class),
            "in a traceback": unit_trace,
            "quoted message": unit_quoted,
            "length": np.log1p(arrays.lengths) / DAMPING,
        },
    )


def _priors(arrays: Arrays) -> Mapping[str, Floats]:
    """What speaks for or against a file whatever the issue says."""
    return {
        "length": np.log1p(arrays.file_lengths) / DAMPING,
        "package or declaration file": arrays.bare,
        "documentation, example, tool or copy": arrays.aside,
        "not the project's language": arrays.minority,
    }


def best_units(arrays: Arrays, scores: Floats) -> Floats:
    """For each file its three best units: the first, half the second, a third of the third."""
    order = np.lexsort((-scores, arrays.file_of))
    rank = np.arange(len(order)) - np.repeat(arrays.first[:-1], np.diff(arrays.first))
    top = rank < 3
    return sums(arrays.file_of[order[top]], scores[order[top]] / (rank[top] + 1), len(arrays.paths))


def _by_file(arrays: Arrays, values: Floats) -> Floats:
    return np.sqrt(sums(arrays.file_of, values, len(arrays.paths)))


def _share(values: Floats) -> Floats:
    greatest = values.max(initial=0.0)
    return values / greatest if greatest > 0 else values


def _within(arrays: Arrays, values: Floats) -> Floats:
    """Each unit's value as a share of the best function or class of its file."""
    best = np.zeros(len(arrays.paths))
    inner = arrays.kinds != MODULE
    np.maximum.at(best, arrays.file_of[inner], values[inner])
    return np.divide(
        values, best[arrays.file_of], out=np.zeros(len(values)), where=best[arrays.file_of] > 0
    )


def _rank_share(values: Floats) -> Floats:
    """5 / (5 + rank), 0 for what has no value; equals share a rank."""
    positive = np.unique(values[values > 0])[::-1]
    if not len(positive):
        return np.zeros(len(values))
    rank = np.searchsorted(-positive, -values)
    return np.where(values > 0, 5 / (5 + rank), 0.0)
