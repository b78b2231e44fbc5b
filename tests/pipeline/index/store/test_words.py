"""What the full text of a file holds."""

import pytest

from pipeline.index.parse import parse
from pipeline.index.store.words import CHUNK_LINES, MAX_CHUNK, forms, pieces, words

CODE = """import os

class Order(Base):
    limit = 5

    def getTotal(self):
        def inner_sum():
            return 1
        return inner_sum()

def last(): pass
"""


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("order", "order"),
        ("getOrderBy", "getorderby get order by"),
        ("get_order_by", "get_order_by get order by"),
        ("HTTPServer", "httpserver http server"),
        ("_private", "_private"),
        ("__init__", "__init__"),
        ("utf8", "utf8 utf 8"),
        ("Straße_x", "straße_x straße x"),
        ("名前", "名前"),
    ],
)
def test_an_identifier_is_kept_and_split(word: str, expected: str) -> None:
    """At humps, underscores and digits; what has one part is kept once."""
    assert forms(word) == expected


def test_words_of_a_line() -> None:
    """Short numbers and signs say nothing."""
    assert words("x = f(12, 404) # Größe!") == "x f 404 größe"


def test_each_line_belongs_to_its_unit() -> None:
    """A function holds all its lines, a class and the file those that no inner unit has."""
    found = {piece.name: piece for piece in pieces(parse("a.py", CODE.encode()), CODE)}
    assert set(found) == {"Order", "Order.getTotal", "Order.getTotal.inner_sum", "last", ""}
    method = found["Order.getTotal"]
    assert (method.own, method.owner) == ("gettotal get total", "order")
    assert "inner_sum" in method.body
    assert "limit" in found["Order"].body
    assert "inner_sum" not in found["Order"].body
    assert "import os" in found[""].body
    assert "limit" not in found[""].body
    assert found["last"].kind == "function"


def test_what_is_not_parsed_is_cut() -> None:
    """Every line is in one chunk; a line of megabytes is cut short."""
    data = b"x\0y\n" * 150
    parsed = parse("a.py", data)
    assert parsed.degraded
    found = list(pieces(parsed, "line\n" * 150))
    assert [(piece.start, piece.end) for piece in found[:2]] == [(1, CHUNK_LINES), (61, 120)]
    assert sum(piece.body.count("line") for piece in found) == 150
    (long,) = pieces(parsed, "word " * 1_000_000)
    assert len(long.body) <= MAX_CHUNK
