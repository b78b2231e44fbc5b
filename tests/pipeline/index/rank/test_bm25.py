"""BM25 over arrays is BM25 as written in the books."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.index.rank.bm25 import build

DOCUMENTS = st.lists(
    st.dictionaries(st.integers(0, 8), st.integers(1, 5), max_size=5), min_size=1, max_size=6
)
QUERY = st.dictionaries(st.integers(0, 10), st.floats(0.1, 3), max_size=5)


@given(DOCUMENTS, QUERY)
def test_as_the_formula(documents: list[dict[int, int]], query: dict[int, float]) -> None:
    """Scores are those of the formula, word by word."""
    lengths = np.array([sum(each.values()) for each in documents])
    average = lengths.mean() or 1e-9
    pairs = [(at, word, times) for at, each in enumerate(documents) for word, times in each.items()]
    columns = np.array(pairs, np.int64).reshape(-1, 3).T
    field = build(columns[0], columns[1].astype(np.uint32), columns[2], lengths)
    expected = []
    for at, each in enumerate(documents):
        total = 0.0
        for word, weight in query.items():
            if word in each:
                having = sum(word in other for other in documents)
                idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
                norm = 1.2 * (0.25 + 0.75 * lengths[at] / average)
                total += weight * idf * each[word] * 2.2 / (each[word] + norm)
        expected.append(total)
    assert field.score(query) == pytest.approx(expected, rel=1e-4)


def test_pairs_given_twice_are_summed() -> None:
    """A word in a name and in a body counts once, with both frequencies."""
    at, words = np.array([0, 0, 1]), np.array([7, 7, 8], np.uint32)
    twice = build(at, words, np.array([1, 4, 1]), np.array([1, 1]))
    once = build(at[1:], words[1:], np.array([5, 1]), np.array([1, 1]))
    assert twice.score({7: 1.0}) == pytest.approx(once.score({7: 1.0}))


def test_empty() -> None:
    """No document and no word give no score and no error."""
    none = build(np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.int64))
    assert list(none.score({1: 1.0})) == []
