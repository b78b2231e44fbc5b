"""Who only reads waits for no writer, and needs nothing that can be written."""

import multiprocessing
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from pipeline.index.build import build
from pipeline.index.errors import NotIndexed, StoreUnusable
from pipeline.index.graph import build_graph
from pipeline.index.rank.rank import rank
from pipeline.index.search import CodeSearch
from pipeline.index.store import open_index, store_file, view
from tests.indexed import commit, objects_of

FILES = {"a.py": "def f():\n    return g()\n\n\ndef g():\n    pass\n", "b.py": "import a\n"}
NOBODY = 65534


def asked(folder: Path, head: str) -> None:
    """Everything that reads a commit, twice: what could not be kept is derived again."""
    with objects_of(folder / "r") as objects:
        for _ in range(2):
            assert build(objects, head, folder / "s/store.sqlite").parsed == 0
            with open_index(folder / "s/store.sqlite", head, objects) as index:
                search = CodeSearch(index, build_graph(index))
                assert search.preview("a.py:f").children == ("a.py:g",)
                assert [hit.id for hit in search.find_code_content("g").hits][:1] == ["a.py:f"]
                assert rank(index, "g fails", "").files[0].id == "a.py"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users reach."""
    folder = Path(tempfile.mkdtemp(prefix="prism-reading-"))
    folder.chmod(0o755)
    yield folder
    (folder / "s").chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def head(place: Path) -> str:
    """A commit whose store was just built, used long ago."""
    name = commit(place / "r", FILES)
    with objects_of(place / "r") as objects:
        build(objects, name, place / "s/store.sqlite", workers=1)
    with closing(sqlite3.connect(store_file(place / "s/store.sqlite"))) as tables, tables:
        tables.execute("UPDATE commits SET used = 1")
    return name


def test_a_writer_is_not_waited_for(
    place: Path, head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that holds its lock as long as the reader lives, and has changed what is read."""
    monkeypatch.setattr(view, "KEEPING_S", 0.0)
    with closing(sqlite3.connect(store_file(place / "s/store.sqlite"))) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM units")
        writer.execute("DELETE FROM commits")
        asked(place, head)
        writer.rollback()


def unprivileged(work: Callable[[], None]) -> int:
    """Exit code of work done by a user who may write nothing."""

    def run() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        work()

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


@pytest.mark.parametrize("mode", [0o555, 0o755])
def test_nothing_needs_to_be_written(place: Path, head: str, mode: int) -> None:
    """Neither file nor folder; beside a writer's changes that are not in the file yet, too."""
    file = store_file(place / "s/store.sqlite")
    before = file.read_bytes()
    file.chmod(0o444)
    (place / "s").chmod(0o555)
    assert unprivileged(lambda: asked(place, head)) == 0
    assert file.read_bytes() == before
    (place / "s").chmod(0o755)
    file.chmod(0o644)
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("INSERT INTO kept VALUES ('x', 'y', 'z')")
        writer.commit()
        for path in (place / "s").iterdir():
            path.chmod(0o444)
        (place / "s").chmod(mode & 0o555)
        assert unprivileged(lambda: asked(place, head)) == 0


def test_what_cannot_be_read_is_told(place: Path, head: str) -> None:
    """A file that is not this user's, and a commit that would have to be written."""
    other, store = commit(place / "r", {"c.py": "def h(): pass\n"}), place / "s/store.sqlite"

    def refused(*names: str) -> None:
        with objects_of(place / "r") as objects:
            for name in names:
                with pytest.raises(StoreUnusable, match="may write this file and its folder"):
                    build(objects, name, store, workers=1)

    with objects_of(place / "r") as objects, pytest.raises(NotIndexed, match="build it first"):
        open_index(store, other, objects)
    (place / "s").chmod(0o555)
    for mode, names in ((0o000, (head, other)), (0o444, (other,))):
        store_file(store).chmod(mode)
        assert unprivileged(partial(refused, *names)) == 0


def test_reading_makes_no_store(place: Path, head: str) -> None:
    """Neither a file that is not there nor one in place of another version's."""
    with objects_of(place / "r") as objects:
        with pytest.raises(NotIndexed):
            open_index(place / "s/other.sqlite", head, objects)
        file = store_file(place / "s/store.sqlite")
        with closing(sqlite3.connect(file)) as tables:
            tables.execute("PRAGMA user_version = 1")
        with pytest.raises(NotIndexed):
            open_index(place / "s/store.sqlite", head, objects)
        with closing(sqlite3.connect(file)) as tables:
            assert tables.execute("SELECT count(*) FROM blobs").fetchone() == (2,)
    assert {path.name for path in (place / "s").iterdir()} == {file.name}
