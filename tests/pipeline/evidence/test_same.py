"""Which patches share one run."""

import pytest

from pipeline.evidence.same import runs_as
from tests.pipeline.evidence.small_repository import make_patch

BASE = {"a.py": "def f(x):\n    return x\n", "a.js": "f = x => x\n"}
TEXT = 'def f(x):\n    "Twice."\n    return x + x\n'


def program(text: str, path: str = "a.py") -> str:
    return runs_as(make_patch(BASE, {path: text}), {path: text})


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("return", "# because\n    return"),
        TEXT.replace("x + x", "(x+x)"),
        TEXT.replace('"', "'"),
        TEXT.replace("\n    return", "\n\n    return"),
    ],
)
def test_comments_and_layout_are_not_run(other: str) -> None:
    """What the interpreter never sees makes no other program."""
    assert program(other) == program(TEXT)


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("Twice.", "Twice. >>> f(1)"),  # doctests run what stands there
        TEXT.replace("x + x", "2 * x"),
        TEXT.replace("x", "y"),
        TEXT + "del f\n",
    ],
)
def test_anything_else_is_another_program(other: str) -> None:
    """Equal to the vote or not, it is run on its own."""
    assert program(other) != program(TEXT)


def test_equality_with_none_is_not_identity() -> None:
    """The vote takes these for the same change; an `__eq__` of its own may tell them apart."""
    asks = "def f(x):\n    return x {} None\n"
    assert program(asks.format("==")) != program(asks.format("is"))


def test_other_languages_count_by_their_bytes() -> None:
    """So do files that do not parse, and paths and deletions are part of it."""
    assert program("f = x => x + x\n", "a.js") != program("f = x => x+x\n", "a.js")
    assert program("def f(:\n") != program("def f( :\n")
    assert program(TEXT, "b.py") != program(TEXT)
    gone = runs_as(
        "diff --git a/a.js b/a.js\ndeleted file mode 100644\n--- a/a.js\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-f = x => x\n",
        {"a.js": None},
    )
    assert gone != program("", "a.js")
