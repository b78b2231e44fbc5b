"""A store whose data was damaged says so, and what can be derived again is derived again."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.index.build import build
from pipeline.index.errors import StoreUnusable
from pipeline.index.graph import build_graph
from pipeline.index.rank.rank import rank
from pipeline.index.search import CodeSearch
from pipeline.index.store import open_index, store_file
from pipeline.index.store.schema import connect, errors_of
from tests.indexed import commit, objects_of

FILES = {"a.py": "def f():\n    return g()\n\n\ndef g():\n    pass\n", "b.py": "import a\n"}
HALF = "UPDATE {0} SET {1} = substr({1}, 1, length({1}) / 2)"


def halved(store: Path, table: str, column: str) -> None:
    """Cut all values of a column."""
    with closing(sqlite3.connect(store_file(store))) as tables, tables:
        tables.execute(HALF.format(table, column))


@pytest.mark.parametrize(("table", "column"), [("blobs", "parsed"), ("commits", "files")])
def test_damaged_data_is_an_unusable_store(tmp_path: Path, table: str, column: str) -> None:
    """One kind of error for everybody who reads: a run goes on without the index then."""
    head, store = commit(tmp_path / "r", FILES), tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        build(objects, head, store, workers=1)
        halved(store, table, column)
        if column == "files":
            for opening in (build, open_index):
                arguments = (objects, head, store) if opening is build else (store, head, objects)
                with pytest.raises(StoreUnusable, match="remove the file"):
                    opening(*arguments)
            return
        with open_index(store, head, objects) as index:
            for ask in (build_graph, lambda index: rank(index, "f", ""), lambda i: i.units("a.py")):
                with pytest.raises(StoreUnusable, match="remove the file"):
                    ask(index)


def test_what_was_derived_is_made_again(tmp_path: Path) -> None:
    """Graph, counts and history are kept with a checksum: damaged ones are as good as none."""
    head, store = commit(tmp_path / "r", FILES), tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        build(objects, head, store, workers=1)
        for _ in range(2):
            with open_index(store, head, objects) as index:
                search = CodeSearch(index, build_graph(index))
                assert search.preview("a.py:f").children == ("a.py:g",)
                assert rank(index, "g fails", "").files[0].id == "a.py"
            halved(store, "kept", "value")


def test_a_full_disk_asks_for_room(tmp_path: Path) -> None:
    """Not for the removal of the store, which is whole."""
    store = tmp_path / "store.sqlite"
    with closing(connect(store)) as tables:
        pages = tables.execute("PRAGMA page_count").fetchone()[0]
        tables.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreUnusable, match="Make room"):
            _fill(tables, store)


def _fill(tables: sqlite3.Connection, store: Path) -> None:
    with errors_of(store):
        tables.execute("INSERT INTO commits (name, used, files) VALUES ('x', 0, zeroblob(9999999))")
