"""Words of code and prose meet in one vocabulary, whatever the text is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.index.rank.tokens import STOP, count, expand, number, query, stem, strongest


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("HTTPServer", {"http", "server", "httpserver"}),
        ("get_order_by", {"order", "get_order_by"}),
        ("_meta", {"meta"}),
        ("parseUTF8Text", {"pars", "utf8", "text", "parseutf8text"}),
        ("self", set()),
        ("x", set()),
        ("größe", {"größ"}),
        ("2024", {"2024"}),
        ("a" * 81, set()),
    ],
)
def test_expand(raw: str, words: set[str]) -> None:
    """An identifier comes apart at its humps and underscores, and a compound stays whole too."""
    assert set(expand(raw)) == words


@pytest.mark.parametrize(
    "same",
    [
        ("serialize", "serializing", "serialized", "serialization", "serializes"),
        ("query", "queries"),
        ("class", "classes"),
        ("connect", "connection", "connections", "connected"),
        ("running", "runned"),
        ("validate", "validation", "validating"),
    ],
)
def test_stem(same: tuple[str, ...]) -> None:
    """Forms of one word come to the same stem."""
    assert len({stem(word) for word in same}) == 1


@given(st.text(max_size=300))
def test_count_never_raises(text: str) -> None:
    """Any text can be counted, and no stop word is among the counts."""
    found = count(text)
    assert all(times > 0 for times in found.values())
    assert not {number(word) for word in STOP} & set(found)


@given(st.text(max_size=80), st.text(max_size=200))
def test_query_is_every_word_once(title: str, body: str) -> None:
    """Each word of title and body has one positive weight, more when the title has it too."""
    weights = query(title, body)
    assert set(weights) == set(count(title)) | set(count(body))
    alone = query("", body)
    assert all(weights[word] >= alone[word] for word in alone)


def test_title_weighs_more() -> None:
    """A word of the title outweighs the same word in the body."""
    weights = query("session", "cookie")
    assert weights[number(stem("session"))] > weights[number(stem("cookie"))]


def test_strongest_keeps_the_heaviest() -> None:
    """The bound on words keeps those that weigh most."""
    assert strongest({1: 0.5, 2: 2.0, 3: 1.0}, 2) == {2: 2.0, 3: 1.0}


@pytest.mark.parametrize("unit", ["a", "_", "aB", "A", "1", "a1_", "ß"])
def test_linear(unit: str) -> None:
    """Half a megabyte of one run is counted in well under a second."""
    start = time.process_time()
    count(unit * (500_000 // len(unit)))
    assert time.process_time() - start < 1.0
