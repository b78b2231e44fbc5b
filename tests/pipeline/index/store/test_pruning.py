"""A store that does not grow for ever, whoever works with it meanwhile."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.github.objects import MirrorObjects
from pipeline.index.build import build
from pipeline.index.errors import NotIndexed, StoreUnusable
from pipeline.index.graph import build_graph
from pipeline.index.rank import kept
from pipeline.index.rank.history import history
from pipeline.index.rank.rank import rank
from pipeline.index.search import CodeSearch
from pipeline.index.store import open_index, pruning, schema, store_file
from tests.indexed import commit, objects_of


@contextmanager
def asked(store: Path) -> Iterator[sqlite3.Connection]:
    """The store's tables."""
    with closing(sqlite3.connect(store_file(store))) as found, found:
        yield found


def commits(folder: Path, count: int) -> list[str]:
    """Commits that each replace one of two files."""
    first = {"same.py": "def same(): pass\n", "a.py": "def f(): pass\n"}
    return [
        commit(folder, {**first, "a.py": f"def f{number}():\n    same()\n"})
        for number in range(count)
    ]


def built(objects: MirrorObjects, store: Path, heads: list[str]) -> None:
    """Build commits one after the other, each used later than those before, all ready to rank."""
    for at, head in enumerate(heads):
        build(objects, head, store, workers=1)
        with open_index(store, head, objects) as index:
            build_graph(index)
            rank(index, "f", "")
        with asked(store) as tables:
            tables.execute("UPDATE commits SET used = ? WHERE name = ?", (1000.0 + at, head))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three commits are kept, and pruning begins at the sixth."""
    monkeypatch.setattr(pruning, "KEPT_COMMITS", 3)
    monkeypatch.setattr(pruning, "SPARE_COMMITS", 2)


@pytest.mark.usefixtures("few")
def test_what_no_kept_commit_has_goes(tmp_path: Path) -> None:
    """Its units, counts and graph too; what is kept is whole, what went can be built again."""
    heads, store = commits(tmp_path / "r", 12), tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        built(objects, store, heads[:11])
        build(objects, heads[0], store, workers=1)  # the 12th list, a second time
        with asked(store) as tables:
            names = [name for (name,) in tables.execute("SELECT name FROM commits")]
            blobs = tables.execute("SELECT count(*) FROM blobs").fetchone()[0]
            assert len(names) <= 5
            assert blobs < 12
            assert tables.execute(
                "SELECT count(*) FROM units WHERE row NOT IN (SELECT id FROM blobs)"
            ).fetchone() == (0,)
            graphs = tables.execute("SELECT key FROM kept WHERE kind GLOB 'graph-*'").fetchall()
            assert {name for (name,) in graphs} <= {*names}
            counts = tables.execute("SELECT count(*) FROM kept WHERE kind GLOB 'rank.blob.*'")
            assert counts.fetchone()[0] <= blobs
        for name in [*names, heads[3]]:
            number = heads.index(name)
            build(objects, name, store, workers=1)
            with open_index(store, name, objects) as index:
                search = CodeSearch(index, build_graph(index))
                assert [hit.id for hit in search.find_code_def(f"f{number}").hits] == [
                    f"a.py:f{number}"
                ]
                assert [hit.id for hit in search.find_code_content("same").hits] == [
                    f"a.py:f{number}",
                    "same.py:same",
                ]
                assert rank(index, f"f{number} fails", "").files[0].id == "a.py"


@pytest.mark.usefixtures("few")
def test_past_commits_do_not_pile_up(tmp_path: Path) -> None:
    """What ranking keeps of them goes with commits, and is whole when it is read again."""
    heads, store = commits(tmp_path / "r", 6), tmp_path / "store.sqlite"
    past = "SELECT count(*) FROM kept WHERE kind IN (?, ?)"
    with objects_of(tmp_path / "r") as objects:
        built(objects, store, heads[:5])
        with asked(store) as tables:
            assert tables.execute(past, (kept.COMMIT, kept.HISTORY)).fetchone() == (10,)
        build(objects, heads[5], store, workers=1)
        with asked(store) as tables:
            assert tables.execute(past, (kept.COMMIT, kept.HISTORY)).fetchone() == (0,)
        with open_index(store, heads[5], objects) as index:
            assert history(index, ["a.py"]).ids == tuple(reversed(heads))


@pytest.mark.usefixtures("few")
def test_the_commits_last_used_stay(tmp_path: Path) -> None:
    """Use counts, not age: an old release that is worked on is not parsed again and again."""
    heads, store = commits(tmp_path / "r", 7), tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        built(objects, store, heads[:5])
        assert build(objects, heads[0], store, workers=1).parsed == 0
        build(objects, heads[5], store, workers=1)
        with asked(store) as tables:
            kept = {name for (name,) in tables.execute("SELECT name FROM commits")}
        assert kept == {heads[0], heads[4], heads[5]}
        with pytest.raises(NotIndexed):
            open_index(store, heads[1], objects)


@pytest.mark.usefixtures("few")
def test_who_reads_meanwhile_never_gets_something_else(tmp_path: Path) -> None:
    """An open commit that went says so; the blobs of one that is being built are parsed again."""
    heads, store = commits(tmp_path / "r", 12), tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        built(objects, store, heads[:1])
        with open_index(store, heads[0], objects) as index:
            built(objects, store, heads[1:])
            assert index.units("same.py")[1].name == "same"
            with pytest.raises(StoreUnusable, match="build it again"):
                index.units("a.py")
            found = index.rows("SELECT name FROM units JOIN here USING (row)")
            assert "f0" not in {name for (name,) in found}
            assert not {f"f{n}" for n in range(1, 12)} & {name for (name,) in found}
            search = CodeSearch(index, None)
            for ask in (
                lambda: build_graph(index),
                lambda: list(index.all_parsed()),
                lambda: search.find_code_def("f0"),
                lambda: search.find_code_content("nothing_like_it"),
                lambda: rank(index, "f0", ""),
            ):
                with pytest.raises(StoreUnusable, match="build it again"):
                    ask()
        build(objects, heads[0], store, workers=1)
        with open_index(store, heads[0], objects) as index:
            inside = build_graph(index).neighbours("a.py", ("contains",), "out", 1)
            assert [edge.target for edge in inside] == ["a.py:f0"]


def test_a_build_parses_again_what_was_pruned_under_it(tmp_path: Path) -> None:
    """Another process may remove a blob between the look at the store and the list of files."""
    first, second = commits(tmp_path / "r", 2)
    store = tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        build(objects, first, store, workers=1)

        told: list[int] = []

        def prune(done: int, _total: int) -> None:
            told.append(done)
            if len(told) == 1:
                with asked(store) as tables:
                    tables.execute("DELETE FROM units")
                    tables.execute("DELETE FROM blobs")

        assert build(objects, second, store, prune, workers=1).parsed == 3
        with open_index(store, second, objects) as index:
            assert index.units("same.py")[1].name == "same"
            assert index.units("a.py")[1].name == "f1"


def test_two_versions_work_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one store: neither sees the other's rows, each finds its own again."""
    (head,) = commits(tmp_path / "r", 1)
    store = tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        older = schema.version
        assert build(objects, head, store, workers=1).parsed == 2
        with open_index(store, head, objects) as old:
            monkeypatch.setattr(schema, "version", lambda: older() ^ 1)
            assert build(objects, head, store, workers=1).parsed == 2
            with open_index(store, head, objects) as new, asked(store) as tables:
                tables.execute("UPDATE units SET name = 'newer'")
                tables.commit()
                monkeypatch.setattr(schema, "version", older)
                old.keep("x", {"k": b"old"})
                assert new.kept("x", "k") is None
                assert old.units("a.py")[1].name == "f0"
                names = old.rows("SELECT DISTINCT units.name FROM units JOIN here USING (row)")
                assert ("newer",) not in names
        assert build(objects, head, store, workers=1).parsed == 0


def test_stores_of_other_versions_go_when_nobody_writes_them(tmp_path: Path) -> None:
    """After a week, with what SQLite keeps beside them; files of other names stay."""
    first, second = commits(tmp_path / "r", 2)
    store, old = tmp_path / "store.sqlite", time.time() - 8 * 86_400
    stale = ["store.00c0ffe.sqlite", "store.00c0ffe.sqlite-wal", "store.00c0ffe.sqlite-shm"]
    kept = ["store.00beef0.sqlite", "store.00fade0.sqlite", "store.00fade0.sqlite-wal"]
    other = ["store.sqlite", "other.00c0ffe.sqlite", "store.mine.sqlite", "xstore.00c0ffe.sqlite"]
    for name in [*stale, *kept, *other]:
        (tmp_path / name).write_bytes(b"")
        if name not in {"store.00beef0.sqlite", "store.00fade0.sqlite-wal"}:
            os.utime(tmp_path / name, (old, old))
    with objects_of(tmp_path / "r") as objects:
        build(objects, first, store, workers=1)
        os.utime(store_file(store), (old, old))
        build(objects, second, store, workers=1)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"r", store_file(store).name, *kept, *other}
