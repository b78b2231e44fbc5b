"""Building the index of real commits: what is parsed, what is reused, what bad input does."""

import multiprocessing
import os
import resource
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.index.build import build
from pipeline.index.errors import IndexingFailed, NotIndexed, StoreUnusable, UnknownCommit
from pipeline.index.store import open_index, store_file
from pipeline.index.workers import end_spare
from tests.indexed import commit, commit_many, git, objects_of

PYTHON = "class A:\n    def run(self):\n        return helper()\n\ndef helper():\n    return 1\n"


def test_only_what_changed_is_parsed(tmp_path: Path) -> None:
    """The next commit parses its new blobs; one that only moves or removes files parses none."""
    files = {f"m{number}.py": f"def f{number}():\n    pass\n" for number in range(30)}
    first = commit(tmp_path / "r", files)
    second = commit(tmp_path / "r", {"m1.py": PYTHON, "copy.py": files["m2.py"]})
    third = commit(tmp_path / "r", {"m3.py": None, "sub/m3.py": files["m3.py"], "m4.py": None})
    store = tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        told: list[tuple[int, int]] = []
        stats = build(objects, first, store, lambda done, total: told.append((done, total)))
        assert (stats.files, stats.parsed, stats.reused) == (30, 30, 0)
        assert told[-1] == (30, 30)
        stats = build(objects, second, store)
        assert (stats.files, stats.parsed, stats.reused, stats.parsed_bytes) == (
            31,
            1,
            29,
            len(PYTHON),
        )
        assert build(objects, third, store).parsed == 0
        assert build(objects, first, store).parsed == 0
        with open_index(store, second, objects) as index:
            assert [unit.id for unit in index.units("m1.py")] == [
                "m1.py",
                "m1.py:A",
                "m1.py:A.run",
                "m1.py:helper",
            ]
            assert index.units("copy.py")[1].id == "copy.py:f2"
        with open_index(store, third, objects) as index:
            assert index.file("m4.py") is None
            assert index.units("sub/m3.py")[1].id == "sub/m3.py:f3"
        with open_index(store, first, objects) as index:
            assert index.units("m1.py")[1].id == "m1.py:f1"


def test_an_unknown_commit_leaves_no_trace(tmp_path: Path) -> None:
    """The store is not even made; a known commit that was not built is told apart."""
    head = commit(tmp_path / "r", {"a.py": PYTHON})
    with objects_of(tmp_path / "r") as objects:
        with pytest.raises(UnknownCommit, match="no commit 'nope'"):
            build(objects, "nope", tmp_path / "store.sqlite")
        assert [path.name for path in tmp_path.iterdir()] == ["r"]
        with pytest.raises(NotIndexed, match="not indexed yet"):
            open_index(tmp_path / "store.sqlite", head, objects)


@pytest.mark.parametrize("files", [{}, {"README": "text", "x.bin": b"\0\1"}])
def test_nothing_to_parse_gives_an_index(tmp_path: Path, files: dict[str, str]) -> None:
    """An empty tree, and one without a file of a known language."""
    head = commit(tmp_path / "r", files)
    with objects_of(tmp_path / "r") as objects:
        stats = build(objects, head, tmp_path / "store.sqlite")
        assert (stats.files, stats.parsed) == (len(files), 0)
        with open_index(tmp_path / "store.sqlite", head, objects) as index:
            assert [row.path for row in index.files()] == sorted(files)
            assert all(index.units(path)[0].id == path for path in files)


def test_a_hostile_tree_gives_a_usable_index(tmp_path: Path) -> None:
    """Odd names, links, submodules, pointers, traps for parsers: the sound file is still read."""
    lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    hostile: dict[str, str | bytes] = {
        "deep.py": "x = " + "(" * 100_000 + ")" * 100_000,
        "deep2.py": "[" * 200_000,
        "nest.py": "\n".join(" " * depth + "if x:" for depth in range(900)),
        "unary.py": "x = " + "-" * 500_000 + "1",
        "line.py": "x = '" + "a" * 2_000_000 + "'",
        "huge.py": b"#\n" * 2_500_000,
        "bytes.py": b"def f():\n    return '\xff\xfe'\n",
        "nul.py": b"def f():\n    \0\n",
        "lfs.py": lfs,
        "new\nline.py": PYTHON,
        "\udcff\udcfe.py": PYTHON + "# one\n",
        "empty.py": "",
        "cr.py": b"def a(): pass\rdef b(): pass\r\n",
        "broken.py": "def (:\n" + PYTHON,
    }
    folder = tmp_path / "r"
    commit(folder, {**hostile, "good.py": PYTHON + "# good\n"})
    (folder / "link.py").symlink_to("/etc/passwd")
    git(folder, "add", "-A")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub.py")
    git(folder, "commit", "-q", "-m", "odd")
    head, store = git(folder, "rev-parse", "HEAD"), tmp_path / "store.sqlite"
    with objects_of(folder) as objects:
        start = time.monotonic()
        build(objects, head, store)
        assert time.monotonic() - start < 60
        with open_index(store, head, objects) as index:
            assert {row.path for row in index.files()} == {*hostile, "good.py"}
            assert [unit.name for unit in index.units("good.py")[1:]] == ["A", "A.run", "helper"]
            for row in index.files():
                assert index.units(row.path)[0].id == row.path
                assert index.unit(index.units(row.path)[-1].id) == index.units(row.path)[-1]
            degraded = {row.path: row.degraded for row in index.files() if row.degraded}
            assert degraded["huge.py"] == "too large"
            assert degraded["lfs.py"] == "LFS pointer"
            assert degraded["nul.py"] == "binary"
            assert "bytes.py" not in degraded
            assert index.units("bytes.py")[1].name == "f"
            assert index.units("new\nline.py")[1].id == "new\nline.py:A"
            assert index.unit("\udcff\udcfe.py:A.run").path == "\udcff\udcfe.py"


def _many(folder: Path, count: int) -> None:
    files = {f"d{n % 50}/e{n % 7}/f{n}.py": f"def f{n}():\n    g{n}()\n" for n in range(count)}
    first = commit_many(folder / "r", files)
    git(folder / "r", "read-tree", "main")
    git(folder / "r", "update-index", "--force-remove", "d1/e1/f1.py")
    git(folder / "r", "commit", "-q", "-m", "one less")
    second = git(folder / "r", "rev-parse", "HEAD")
    store = folder / "store.sqlite"
    with objects_of(folder / "r") as objects:
        full = build(objects, first, store)
        again = build(objects, second, store)
        assert (full.parsed, again.parsed, again.files) == (count, 0, count - 1)
        with open_index(store, second, objects) as index:
            assert len(index.files()) == count - 1
            assert sum(len(parsed.calls) for _, parsed in index.all_parsed()) == count - 1
            assert index.folders()["d1/e1"].parent == "d1"
            assert index.folders()["d1"].parent == ""


def test_many_files_and_folders(tmp_path: Path) -> None:
    """Three thousand files in deep folders: the next commit parses none of them again."""
    _many(tmp_path, 3000)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_files(tmp_path: Path) -> None:
    """Neither this process nor its parsers need a gigabyte."""
    _many(tmp_path, 100_000)
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert (ours + (os.cpu_count() or 1) * theirs) < 1_000_000  # kilobytes


def _build_in_process(folder: str, head: str, store: str) -> None:
    with objects_of(Path(folder)) as objects:
        build(objects, head, Path(store), workers=1)


def test_several_processes_build_into_one_store(tmp_path: Path) -> None:
    """At once, the same commit and different ones: everything is there once."""
    heads = [
        commit(tmp_path / "r", {f"m{n}.py": f"def f{n}_{v}():\n    pass\n" for n in range(40)})
        for v in range(2)
    ]
    store = tmp_path / "store.sqlite"
    context = multiprocessing.get_context("spawn")
    working = [
        context.Process(target=_build_in_process, args=(str(tmp_path / "r"), head, str(store)))
        for head in [*heads, heads[0]]
    ]
    for process in working:
        process.start()
    for process in working:
        process.join(60)
        assert process.exitcode == 0
    with sqlite3.connect(store_file(store)) as found:
        assert found.execute("SELECT count(*), count(DISTINCT blob) FROM blobs").fetchone() == (
            80,
            80,
        )
        assert found.execute("SELECT count(*) FROM unit_fts").fetchone() == (160,)
    found.close()
    with objects_of(tmp_path / "r") as objects:
        for version, head in enumerate(heads):
            with open_index(store, head, objects) as index:
                assert index.units("m7.py")[1].name == f"f7_{version}"


def test_a_store_of_another_version_is_made_anew(tmp_path: Path) -> None:
    """What another version of the parser read is not believed."""
    head, store = commit(tmp_path / "r", {"a.py": PYTHON}), tmp_path / "store.sqlite"
    with objects_of(tmp_path / "r") as objects:
        build(objects, head, store)
        with sqlite3.connect(store_file(store)) as found:
            found.execute("PRAGMA user_version = 1")
        found.close()
        assert build(objects, head, store).parsed == 1


@pytest.mark.parametrize("content", [b"this is no database, whatever it is called", b"x" * 100_000])
def test_a_foreign_file_is_told_and_kept(tmp_path: Path, content: bytes) -> None:
    """Nothing is overwritten; the message says what to do."""
    head, store = commit(tmp_path / "r", {"a.py": PYTHON}), tmp_path / "store.sqlite"
    store_file(store).write_bytes(content)
    with objects_of(tmp_path / "r") as objects:
        with pytest.raises(StoreUnusable, match="remove the file"):
            build(objects, head, store)
        with pytest.raises(StoreUnusable):
            open_index(store, head, objects)
    assert store_file(store).read_bytes() == content


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A file where a folder is needed, a folder where the file should be."""
    head = commit(tmp_path / "r", {"a.py": PYTHON})
    (tmp_path / "file").write_text("")
    with objects_of(tmp_path / "r") as objects:
        store_file(tmp_path / "store.sqlite").mkdir()
        for store in (tmp_path / "file/store.sqlite", tmp_path / "store.sqlite"):
            with pytest.raises(StoreUnusable):
                build(objects, head, store)


def test_an_interrupted_build_keeps_what_was_parsed(tmp_path: Path) -> None:
    """The next one parses the rest; no process of the first is left."""
    files = {f"m{number}.py": f"def f{number}():\n    pass\n" for number in range(450)}
    head, store = commit(tmp_path / "r", files), tmp_path / "store.sqlite"

    def stop(done: int, _total: int) -> None:
        if done >= 200:
            raise KeyboardInterrupt

    with objects_of(tmp_path / "r") as objects:
        with pytest.raises(KeyboardInterrupt):
            build(objects, head, store, stop, workers=1)
        assert _children() == []
        stats = build(objects, head, store, workers=1)
    assert (stats.parsed, stats.reused) == (250, 200)


def _children() -> list[str]:
    command = ["ps", "-o", "args=", "--ppid", str(os.getpid())]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line for line in listing.splitlines() if "pipeline.index.worker" in line]


def test_parsers_that_cannot_start_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken installation must not turn every file into a degraded one."""
    head = commit(tmp_path / "r", {"a.py": PYTHON})
    with objects_of(tmp_path / "r") as objects:
        end_spare()
        monkeypatch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(IndexingFailed, match="do not start"):
            build(objects, head, tmp_path / "store.sqlite")
        monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
        with pytest.raises(IndexingFailed, match="could be started"):
            build(objects, head, tmp_path / "store.sqlite")
        monkeypatch.undo()
        assert build(objects, head, tmp_path / "store.sqlite").degraded == 0
