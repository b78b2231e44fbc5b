"""Plans may refer only to what is there, or say that it is new."""

from dataclasses import replace

import pytest

from pipeline.explore.references import References
from pipeline.values import Change, Location

KNOWN = References(
    files={"a.py", "b.go", "c.py"},
    texts={
        "a.py": "class A:\n    LIMIT = 3\n    def run(self): ...\n",
        "b.go": "func (s *S) Do() {}",
    },
)


@pytest.mark.parametrize(
    ("path", "symbol"),
    [
        ("a.py", "A.run"),
        ("a.py", "A.LIMIT"),
        ("b.go", "S.Do"),
        ("a.py", "a.py:A.run()"),
        ("c.py", ""),
    ],
)
def test_what_exists_is_accepted(path: str, symbol: str) -> None:
    """Methods, constants, other languages, ids of the index, and files without a name."""
    assert KNOWN.problem([Change(path, "w", symbol)], [Location(path, symbol)]) is None


@pytest.mark.parametrize(
    ("path", "symbol", "said"),
    [
        ("d.py", "", "d.py does not exist"),
        ("../a.py", "A", "does not exist"),
        ("a.py", "A.stop", "has no 'A.stop'"),
        ("a.py", "ru", "has no 'ru'"),
        ("a.py", "…", "has no"),
        ("c.py", "f", "was not shown"),
    ],
)
def test_what_does_not_exist_is_named(path: str, symbol: str, said: str) -> None:
    """In changes and in the context, with what to do instead."""
    assert said in str(KNOWN.problem([Change(path, "w", symbol)], []))
    assert said in str(KNOWN.problem([], [Location(path, symbol)]))


def test_what_is_marked_new_need_not_exist() -> None:
    """A file to be created counts as there for the whole plan, a new unit in its file too."""
    changes = [Change("d.py", "(new) the helper", "f"), Change("a.py", "Stop it (new).", "A.stop")]
    assert KNOWN.problem(changes, [Location("d.py", "f"), Location("a.py", "A.stop")]) is None


def test_a_file_is_made_only_where_that_is_marked_or_planned() -> None:
    """Words such as "add" are enough for a new unit, not for a file that nobody planned."""
    assert KNOWN.problem([Change("a.py", "Add a way to stop.", "A.stop")], []) is None
    change = Change("d.py", "Add a check.", "f")
    assert "does not exist" in str(KNOWN.problem([change], []))
    assert replace(KNOWN, planned={"d.py"}).problem([change], [Location("d.py", "f")]) is None
