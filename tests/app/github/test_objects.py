"""Trees, contents and ancestors of real repositories, whatever their names and histories hold."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.github.mirror import Mirror, local_mirror
from app.github.objects import MAX_PATHS, MirrorObjects
from pipeline.index.errors import ObjectMissing, UnknownCommit

WHO = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]


def run(folder: Path, *command: str) -> str:
    """One git command of the test's own."""
    done = subprocess.run(["git", *WHO, *command], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def commit(folder: Path, message: str) -> str:
    """Commit everything in the folder."""
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "--allow-empty", "-m", message)
    return run(folder, "rev-parse", "HEAD")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty repository without a commit."""
    run(tmp_path, "init", "-q", "-b", "main", "r")
    return tmp_path / "r"


@pytest.fixture
def objects(folder: Path) -> Iterator[MirrorObjects]:
    """Its objects, through a mirror that borrows them."""
    with local_mirror(folder) as mirror:
        yield MirrorObjects(mirror)


def test_every_kind_of_entry_is_listed(folder: Path, objects: MirrorObjects) -> None:
    """Names of any bytes come back whole; links and submodules are told apart, none followed."""
    odd = ["a b", "line\nend", "tab\tname", 'quote"', "\udcff\udcfe.py", "ü/ß.py", "-n", ":x"]
    for name in odd:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode("utf-8", "surrogateescape"))
    (folder / "link").symlink_to("/etc/passwd")
    run(folder, "add", "-A")
    run(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    run(folder, "commit", "-q", "-m", "all")
    head = run(folder, "rev-parse", "HEAD")
    tree = objects.tree(head)
    assert [entry.path for entry in tree] == sorted([*odd, "link", "sub"])
    assert {entry.path: entry.kind for entry in tree if entry.kind != "file"} == {
        "link": "symlink",
        "sub": "submodule",
    }
    files = [entry for entry in tree if entry.kind == "file"]
    contents = dict(objects.blobs([entry.blob for entry in files]))
    for entry in files:
        assert contents[entry.blob] == entry.path.encode("utf-8", "surrogateescape")
        assert entry.size == len(contents[entry.blob])


def test_contents_come_in_the_order_asked_for(folder: Path, objects: MirrorObjects) -> None:
    """Repeated, empty, binary and large ones too, more than are asked for at once."""
    for number in range(700):
        (folder / f"{number}.bin").write_bytes(b"\n\0 blob 3\n" * (number % 7))
    (folder / "large").write_bytes(bytes(3_000_000))
    ids = [entry.blob for entry in objects.tree(commit(folder, "x"))]
    wanted = [*ids, *reversed(ids)]
    found = list(objects.blobs(iter(wanted)))
    assert [blob for blob, _ in found] == wanted
    assert {len(data) for _, data in found} == {0, 10, 20, 30, 40, 50, 60, 3_000_000}
    assert list(objects.blobs([])) == []


def test_a_reader_may_go_away(folder: Path, objects: MirrorObjects) -> None:
    """No git process stays behind a reader that took only the first content."""
    (folder / "a").write_bytes(bytes(500_000))
    (folder / "b").write_text("b")
    reading = objects.blobs([entry.blob for entry in objects.tree(commit(folder, "x"))])
    assert len(next(reading)[1]) == 500_000
    reading.close()  # a process left running would be a ResourceWarning, which is an error here


@pytest.mark.parametrize(
    "name", ["nope", "0" * 40, "", "--all", "HEAD:a", "HEAD\n", "a\0b", "^HEAD"]
)
def test_what_is_no_commit_is_told(folder: Path, objects: MirrorObjects, name: str) -> None:
    """By every question that takes a commit."""
    (folder / "a").write_text("a")
    commit(folder, "x")
    for ask in (objects.resolve, objects.tree, lambda n: list(objects.history(n, 1))):
        with pytest.raises(UnknownCommit, match="has no commit"):
            ask(name)


def test_a_missing_object_is_told(folder: Path, objects: MirrorObjects) -> None:
    """After those that are there."""
    (folder / "a").write_text("a")
    (entry,) = objects.tree(commit(folder, "x"))
    reading = objects.blobs([entry.blob, "0" * 40])
    assert next(reading) == (entry.blob, b"a")
    with pytest.raises(ObjectMissing, match="0000"):
        next(reading)


def test_history_tells_messages_and_paths(folder: Path, objects: MirrorObjects) -> None:
    """Newest first, no merges, empty commits with no path, and any bytes in messages and names."""
    (folder / "one").write_text("1")
    first = commit(folder, "First\n\nBody \x01 ü\n\n" + "f" * 40)
    empty = commit(folder, "Nothing")
    run(folder, "checkout", "-q", "-b", "side")
    (folder / "two\nlines\udcff").write_text("2")
    side = commit(folder, "Side")
    run(folder, "checkout", "-q", "main")
    (folder / "three").write_text("3")
    (folder / "one").unlink()
    last = commit(folder, "Last")
    run(folder, "merge", "-q", "--no-edit", "side")
    found = {info.id: info for info in objects.history(run(folder, "rev-parse", "HEAD"), 100)}
    assert set(found) == {first, empty, side, last}
    assert found[first].message == "First\n\nBody \x01 ü\n\n" + "f" * 40
    assert found[first].paths == ("one",)
    assert found[empty].paths == ()
    assert found[side].paths == ("two\nlines\udcff",)
    assert found[last].paths == ("one", "three")
    assert found[first].time > 1_500_000_000
    assert [info.id for info in objects.history(last, 2)] == [last, empty]
    assert list(objects.history(last, 0)) == []


def test_a_commit_of_very_many_files_is_cut(folder: Path, objects: MirrorObjects) -> None:
    """What touches everything points nowhere, and must not fill the memory."""
    for number in range(MAX_PATHS + 5):
        (folder / f"{number}").write_text("")
    (info,) = objects.history(commit(folder, "All"), 5)
    assert len(info.paths) == MAX_PATHS


def test_an_empty_tree_has_no_entries(folder: Path, objects: MirrorObjects) -> None:
    """An empty commit can be listed; a repository without commits has no HEAD."""
    with pytest.raises(UnknownCommit):
        objects.tree("HEAD")
    assert objects.tree(commit(folder, "Nothing")) == []


def test_no_repository_is_no_commit(tmp_path: Path) -> None:
    """A mirror that was removed meanwhile is told like an unknown commit."""
    with pytest.raises(UnknownCommit):
        MirrorObjects(Mirror(tmp_path / "gone.git", "gone")).resolve("HEAD")
