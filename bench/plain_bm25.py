"""Plain BM25, what every other way of ranking has to beat.

Words of the issue, each as often as it stands there, against whole files and whole functions: names
split at underscores and humps, lower case, two letters or more, no stop words; k1 1.5, b 0.75.
"""

import re
from collections import Counter
from functools import lru_cache
from itertools import chain

import numpy as np

from pipeline.index.rank.bm25 import build
from pipeline.index.rank.counts import FUNCTION, Counts
from pipeline.index.rank.prepare import candidates, counted
from pipeline.index.rank.tokens import STOP, WORD, number
from pipeline.index.store import Index
from pipeline.index.values import Scored

K1, B = 1.5, 0.75
KIND = "bench.bm25.1"
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(maxsize=1 << 18)
def parts(raw: str) -> tuple[int, ...]:
    """The words of an identifier as numbers."""
    words = (part.lower() for part in _PART.findall(raw))
    return tuple(number(word) for word in words if len(word) > 1 and word not in STOP)


def plain(index: Index, title: str, body: str) -> tuple[list[Scored], list[Scored]]:
    """The best files and functions of the commit's main language."""
    rows = candidates(index.files())
    languages = [row.language for row in rows]
    main = max(set(languages), key=languages.count, default="")
    rows = [row for row in rows if row.language == main]
    counts = counted(index, rows, kind=KIND, split=parts)
    words = chain.from_iterable(parts(raw) for raw in WORD.findall(f"{title}\n{body}"))
    query = {word: float(times) for word, times in Counter(words).items()}
    return _files([row.path for row in rows], counts, query), _functions(
        [row.path for row in rows], counts, query
    )


def _files(paths: list[str], counts: list[Counts], query: dict[int, float]) -> list[Scored]:
    if not paths:
        return []
    field = build(
        np.repeat(np.arange(len(paths)), [len(each.file_ids) for each in counts]),
        np.concatenate([each.file_ids for each in counts]),
        np.concatenate([each.file_times for each in counts]),
        np.array([each.file_times.sum() for each in counts], np.int64),
        K1,
        B,
    )
    return _best(paths, field.score(query))


def _functions(paths: list[str], counts: list[Counts], query: dict[int, float]) -> list[Scored]:
    names: list[str] = []
    documents, words, times, lengths = [], [], [], []
    for path, each in zip(paths, counts, strict=True):
        numbers = np.full(len(each.names), -1, np.int64)
        inside = np.flatnonzero(each.kinds == FUNCTION)
        numbers[inside] = np.arange(len(inside)) + len(names)
        names += [f"{path}:{each.names[unit]}" for unit in inside]
        at = numbers[each.word_units]
        documents.append(at[at >= 0])
        words.append(each.word_ids[at >= 0])
        times.append(each.word_times[at >= 0])
        lengths.append(each.lengths[inside])
    if not names:
        return []
    field = build(
        np.concatenate(documents),
        np.concatenate(words),
        np.concatenate(times),
        np.concatenate(lengths),
        K1,
        B,
    )
    return _best(names, field.score(query))


def _best(names: list[str], scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Scored]:
    order = np.argsort(-scores, kind="stable")[:100]
    return [Scored(names[at], float(scores[at]), {}) for at in order]
