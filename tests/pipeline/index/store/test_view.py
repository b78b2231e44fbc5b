"""An index as its readers use it."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.index.build import build
from pipeline.index.errors import NotIndexed
from pipeline.index.store import Index, open_index
from pipeline.index.values import Unit
from tests.indexed import commit, indexed, objects_of

CODE = '''"""Orders."""
import os as system

class Order(Base):
    """An order."""

    def total(self):
        return helper(self.items)

    def total(self):
        def inner():
            pass

def helper(x):
    return "two words or more"
'''
SEARCH = """
SELECT row, kind, units.name, start, "end" FROM unit_fts
JOIN units ON units.id = unit_fts.rowid JOIN here USING (row)
WHERE unit_fts MATCH ? ORDER BY bm25(unit_fts, 10, 5, 3, 1)
"""


def test_units_have_ids_parents_and_lines(tmp_path: Path) -> None:
    """A second definition of one name is told apart, and what is inside it belongs to it."""
    with indexed(tmp_path, {"shop/orders.py": CODE, "shop/tests/test_orders.py": CODE}) as index:
        units = index.units("shop/orders.py")
        path = "shop/orders.py"
        assert [(unit.id, unit.kind, unit.parent) for unit in units] == [
            (path, "file", "shop"),
            (f"{path}:Order", "class", path),
            (f"{path}:Order.total", "function", f"{path}:Order"),
            (f"{path}:Order.total#2", "function", f"{path}:Order"),
            (f"{path}:Order.total.inner", "function", f"{path}:Order.total#2"),
            (f"{path}:helper", "function", path),
        ]
        assert [(unit.start, unit.end) for unit in units] == [
            (1, 15),
            (4, 12),
            (7, 8),
            (10, 12),
            (11, 12),
            (14, 15),
        ]
        assert units[1].doc == "An order."
        for unit in units:
            assert index.unit(unit.id) == unit
        assert index.unit("shop") == Unit(
            "shop", "directory", "shop", "shop", 0, 0, "", "", "", False
        )
        assert index.unit("shop/tests").is_test
        assert index.units("shop/tests/test_orders.py")[1].is_test


@pytest.mark.parametrize("wanted", ["", "nope", "a.py:nope", "a.py:f#2", "b.py:f", ":", "a.py:"])
def test_what_is_not_there_is_told(tmp_path: Path, wanted: str) -> None:
    """By an error that names it, for units, files and blobs."""
    with indexed(tmp_path, {"a.py": "def f(): pass\n"}) as index:
        with pytest.raises(NotIndexed):
            index.unit(wanted)
        for ask in (index.units, index.text, index.parsed_at, index.parsed):
            with pytest.raises(NotIndexed):
                ask(wanted)
        assert index.file(wanted) is None


def test_contents_are_read_back(tmp_path: Path) -> None:
    """Parsed files as the parser gave them, texts from git with lines as it counted them."""
    files: dict[str, str | bytes | None] = {
        "a.py": CODE,
        "same.py": CODE,
        "b.py": b"def f():\r\n    return '\xff'\r\n",
        "note.txt": "text",
    }
    with indexed(tmp_path, files) as index:
        row = index.file("a.py")
        assert row is not None
        assert (row.language, row.lines, row.size, row.degraded) == ("python", 15, len(CODE), "")
        parsed = index.parsed(row.blob)
        assert parsed == index.parsed_at("same.py")
        assert [(item.module, item.alias) for item in parsed.imports] == [("os", "system")]
        assert [(call.owner, call.target) for call in parsed.calls] == [("Order.total", "helper")]
        assert parsed.strings == ("two words or more",)
        assert index.paths(row.row) == ("a.py", "same.py")
        assert {row.path for row, _ in index.all_parsed()} == {"a.py", "same.py", "b.py"}
        assert list(index.texts(["note.txt", "a.py", "note.txt", "same.py"])) == [
            ("note.txt", "text"),
            ("a.py", CODE),
            ("note.txt", "text"),
            ("same.py", CODE),
        ]
        assert index.text("b.py") == "def f():\n    return '\ufffd'\n"
        note = index.file("note.txt")
        assert note is not None
        assert replace(note, blob="") == replace(
            note, blob="", language="", lines=0, degraded="", row=0, is_test=False
        )
        assert index.parsed_at("note.txt").definitions == ()


def test_full_text_finds_this_commit_only(tmp_path: Path) -> None:
    """By parts of names, the definition before its callers, without other commits' versions."""
    with indexed(
        tmp_path, {"a.py": "def getOrderBy(): pass\n\ndef g():\n    getOrderBy()\n"}
    ) as index:
        found = index.connection.execute(SEARCH, ('"order" "by"',)).fetchall()
        assert [row[2] for row in found] == ["getOrderBy", "g"]
        assert found[0][3:] == (1, 1)
        assert index.paths(found[0][0]) == ("a.py",)
    later = commit(tmp_path / "r", {"a.py": "def other(): pass\n"})
    with objects_of(tmp_path / "r") as objects:
        build(objects, later, tmp_path / "store.sqlite")
        with open_index(tmp_path / "store.sqlite", later, objects) as index:
            assert index.connection.execute(SEARCH, ("order",)).fetchall() == []
            assert len(index.connection.execute(SEARCH, ("other",)).fetchall()) == 1


def test_what_was_derived_is_kept_for_others(tmp_path: Path) -> None:
    """Under a kind and a key, for every later reader; the view itself cannot write."""
    with indexed(tmp_path, {"a.py": CODE}) as index:
        assert index.kept("graph/1", index.commit) is None
        index.keep("graph/1", {index.commit: b"\0bytes", "other": b""})
        index.keep("graph/1", {"other": b"new"})
        assert index.kept("graph/1", index.commit) == b"\0bytes"
        assert index.kept("graph/2", index.commit) is None
        with open_index(tmp_path / "store.sqlite", index.commit, index.objects) as again:
            assert again.kept("graph/1", "other") == b"new"
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            index.connection.execute("DELETE FROM blobs")


def test_threads_may_share_an_index(tmp_path: Path) -> None:
    """Agents read side by side."""
    files = {f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(40)}

    def read(index: Index, number: int) -> bool:
        path = f"m{number}.py"
        found = index.connection.execute(SEARCH, (f"f{number}",)).fetchall()
        return (
            index.text(path) == files[path]
            and index.units(path)[1].id == f"{path}:f{number}"
            and len(found) >= 1
        )

    with indexed(tmp_path, dict(files)) as index, ThreadPoolExecutor(8) as threads:
        assert all(threads.map(lambda number: read(index, number % 40), range(400)))
