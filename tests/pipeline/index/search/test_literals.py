"""Looking for pieces first must never lose a name that the pattern itself would find."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.index.search.literals import Haystack, required

NAMES = [
    "get_order",
    "GetOrder",
    "getÖrder",
    "ſave",
    "save",
    "SAVE_K",
    "save_\u212a",
    "x",
    "a1",
    "aab",
]
PIECES = st.sampled_from(
    re.split(
        " ",
        "get order save k s a b _ . | ^ $ * + ? ( ) { } # O K [a-z] [^s] []o] [|] "
        "(?: (?= (?! (?i) (?x) (?s: (?#x|y) (?> (?P<n> (?P=n) (?(1) "
        r"\w \d \. \b \x73ave \u0073 \\ \( {2} {1,2} {,1} \1 )? ))",
    )
)


@given(st.lists(PIECES, max_size=8).map("".join))
@settings(max_examples=400, deadline=None)
def test_no_match_is_lost(pattern: str) -> None:
    """Whatever the pattern is made of, names of other alphabets included."""
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error:
        return
    tried = [NAMES[at] for at in Haystack(NAMES).holding(required(pattern))]
    assert [name for name in tried if compiled.search(name)] == [
        name for name in NAMES if compiled.search(name)
    ]


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("^get_.*_by$", ("get_",)),
        ("Query\\.cl", ("query",)),
        ("save|loads?", ("save", "load")),
        ("(a|b)_item", ("_item",)),
        ("(?:get|fetch(ed)?)\\w*", ("get", "fetch")),
        ("(save)?|load", ()),
        ("save|.*", ()),
        ("(save)", ("save",)),
        ("(?!save)", ()),
        ("[save]", ()),
        ("x{12}save+", ("save",)),
        ("(?x) sa ve # other", ()),
        ("\\x41save", ()),
    ],
)
def test_what_every_match_holds(pattern: str, pieces: tuple[str, ...]) -> None:
    """The longest piece of each alternative; nothing when one has none."""
    assert required(pattern) == pieces


def test_names_are_found_by_pieces() -> None:
    """In their order and each once, wherever the piece stands."""
    text = Haystack(["ab", "", "bab", "Ba", "abab", "é"])
    assert list(text.holding(["ab", "bab"])) == [0, 2, 4, 5]
    assert list(text.holding(["ba"])) == [2, 3, 4, 5]
    assert list(text.holding(["b"])) == [0, 1, 2, 3, 4, 5]
    assert list(text.holding([])) == [0, 1, 2, 3, 4, 5]
    assert list(Haystack([]).holding(["a"])) == []
