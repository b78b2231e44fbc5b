"""Past commits speak for the files they changed; later ones and large ones do not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.index.build import build
from pipeline.index.rank.history import History, history, referred, similar
from pipeline.index.rank.tokens import query
from pipeline.index.store import Index, open_index, store_file
from tests.indexed import commit, objects_of

PATHS = ("a.py", "b.py")


@contextmanager
def opened(folder: Path, *commits: str) -> Iterator[Index]:
    """The last of the commits, after the history of each was read in turn."""
    with objects_of(folder / "r") as objects:
        for each in commits:
            build(objects, each, folder / "store", workers=1)
            with open_index(folder / "store", each, objects) as index:
                history(index, PATHS)
        with open_index(folder / "store", commits[-1], objects) as index:
            yield index


@pytest.fixture
def three(tmp_path: Path) -> list[str]:
    """Three commits: one file each, then both."""
    return [
        commit(tmp_path / "r", {"a.py": "1"}, "Fixed #12 -- Made cookies expire"),
        commit(tmp_path / "r", {"b.py": "1"}, "Sort invoices"),
        commit(tmp_path / "r", {"a.py": "2", "b.py": "2"}, "Rename all"),
    ]


def test_similar(tmp_path: Path, three: list[str]) -> None:
    """The file whose commit reads like the issue gets the most."""
    with opened(tmp_path, three[-1]) as index:
        past = history(index, PATHS)
    values = similar(past, query("cookie expires too early", ""), 2)
    assert values[0] > values[1] == 0


def test_referred(tmp_path: Path, three: list[str]) -> None:
    """A number in a subject and the start of a hash lead to the commit's files."""
    with opened(tmp_path, three[-1]) as index:
        past = history(index, PATHS)
    assert list(referred(past, {"12"}, 2)) == [1, 0]
    assert list(referred(past, {three[1][:8]}, 2)) == [0, 1]
    assert list(referred(past, {"1", "99"}, 2)) == [0, 0]


def test_only_ancestors(tmp_path: Path, three: list[str]) -> None:
    """What was read for a later commit does not count for an earlier one."""
    with opened(tmp_path, three[2], three[0]) as index:
        assert history(index, PATHS).ids == (three[0],)


def _plain(past: History) -> tuple[object, ...]:
    return past.ids, past.subjects, past.at.tolist(), past.files.tolist(), past.recent.tolist()


def test_step_by_step(tmp_path: Path, three: list[str]) -> None:
    """Read commit by commit it is the same as read at once."""
    with opened(tmp_path, *three) as index:
        steps = _plain(history(index, PATHS))
    store_file(tmp_path / "store").unlink()
    with opened(tmp_path, three[-1]) as index:
        assert _plain(history(index, PATHS)) == steps


def test_no_candidate_changed(tmp_path: Path) -> None:
    """A history that touched no candidate is empty."""
    head = commit(tmp_path / "r", {"README": "x"})
    with opened(tmp_path, head) as index:
        past = history(index, PATHS)
    assert not similar(past, {1: 1.0}, 2).any()
    assert list(past.recent) == [0, 0]
