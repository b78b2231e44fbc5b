"""BM25 over one kind of text at one commit, as arrays: a query is one gather and one sum.

idf and lengths are those of the commit's own candidates, never of everything the store holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.integer] | npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Field:
    """Postings: for the word `words[i]` the documents `documents[starts[i]:starts[i+1]]`, and what
    one occurrence in the query adds to each."""

    words: npt.NDArray[np.uint32]
    starts: Ints
    documents: npt.NDArray[np.int32]
    impacts: npt.NDArray[np.float32]
    size: int

    def score(self, query: Mapping[int, float]) -> Floats:
        """A score for each document, 0 where no word of the query stands."""
        return score(self, query)


def build(
    documents: npt.NDArray[np.integer],
    words: npt.NDArray[np.uint32],
    times: Numbers,
    lengths: Numbers,
    k1: float = 1.2,
    b: float = 0.75,
) -> Field:
    """Postings of (document, word, times); one pair may be given several times and is summed.

    `lengths` has one entry for each document and need not agree with `times`: fields that repeat
    names add to the frequency, not to the length.
    """
    size = len(lengths)
    # In place, and one after the other: of a large repository these are the largest arrays.
    keys = words.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= documents.astype(np.uint64)
    order = np.argsort(keys, kind="stable")
    times = times[order]
    keys = keys[order]
    del order
    is_first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    summed = np.add.reduceat(times.astype(np.float64), first) if len(keys) else np.zeros(0)
    keys = keys[first]
    pair_words = (keys >> np.uint64(32)).astype(np.uint32)
    pair_documents = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    unique, starts, found_in = np.unique(pair_words, return_index=True, return_counts=True)
    idf = np.log1p((size - found_in + 0.5) / (found_in + 0.5))
    average = max(float(lengths.sum()) / size if size else 0.0, 1e-9)
    norm = k1 * (1 - b + b * lengths.astype(np.float64) / average)
    impacts = np.repeat(idf, found_in) * summed * (k1 + 1) / (summed + norm[pair_documents])
    return Field(unique, np.r_[starts, len(keys)], pair_documents, impacts.astype(np.float32), size)


def score(field: Field, query: Mapping[int, float]) -> Floats:
    """See `Field.score`."""
    if not query or not len(field.words):
        return np.zeros(field.size)
    asked = np.fromiter(query, np.uint32, len(query))
    weights = np.fromiter(query.values(), np.float64, len(query))
    at = np.minimum(np.searchsorted(field.words, asked), len(field.words) - 1)
    known = field.words[at] == asked
    at, weights = at[known], weights[known]
    begin, sizes = field.starts[at], field.starts[at + 1] - field.starts[at]
    picked = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    weighted = field.impacts[picked] * np.repeat(weights, sizes)
    return sums(field.documents[picked], weighted, field.size)


def sums(at: npt.NDArray[np.integer], values: npt.NDArray[np.floating], size: int) -> Floats:
    """For each of `size` places the sum of the values that fall on it."""
    return np.bincount(at, values, minlength=size).astype(np.float64, copy=False)
