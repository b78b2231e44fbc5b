"""The index of a run, which must never hold one up."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.github.source import local_source
from app.index.background import run_index
from app.index.opening import build_and_open, store_of
from pipeline.index.errors import StoreUnusable
from pipeline.index.graph import build_graph
from pipeline.index.graph.packing import version
from pipeline.index.rank import prepare
from pipeline.index.rank.rank import rank
from pipeline.index.store import Index, store_file
from tests.indexed import commit


async def test_it_is_built_beside_other_work(tmp_path: Path) -> None:
    """All who ask get the same index, also after one of them was cancelled."""
    commit(tmp_path / "r", {"a.py": "def f(): pass\n"})
    with local_source(tmp_path / "r") as source:
        async with run_index(tmp_path / "data", source) as index:
            impatient = asyncio.create_task(index.opened())
            await asyncio.sleep(0)
            impatient.cancel()
            first, second = await asyncio.gather(index.opened(), index.opened())
            assert first is not None
            assert first is second
            assert first.units("a.py")[1].id == "a.py:f"


async def test_graph_and_ranking_are_made_ready_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks first finds both; meanwhile the event loop goes on."""
    commit(tmp_path / "r", {f"m{n}.py": f"def f{n}():\n    g{n + 1}()\n" for n in range(300)})
    longest, last = 0.0, time.monotonic()

    async def beat() -> None:
        nonlocal longest, last
        while True:
            await asyncio.sleep(0.005)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()

    beating = asyncio.create_task(beat())
    with local_source(tmp_path / "r") as source:
        async with run_index(tmp_path / "data", source) as running:
            index = await running.opened()
            assert index is not None
            assert index.kept(version(), index.commit) is not None
            monkeypatch.setattr(prepare, "prepare", None)  # to be called once more would fail
            assert prepare.prepared(index).arrays.paths == tuple(
                sorted(f"m{n}.py" for n in range(300))
            )
    beating.cancel()
    assert longest < 0.5


async def test_what_cannot_be_made_ready_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is there all the same, and who needs the rest is told."""
    commit(tmp_path / "r", {"a.py": "def f(): pass\n"})
    real = Index.keep

    def keep(index: Index, kind: str, values: Mapping[str, bytes]) -> None:
        raise StoreUnusable("disk full")

    with local_source(tmp_path / "r") as source:
        monkeypatch.setattr(Index, "keep", keep)
        async with run_index(tmp_path / "data", source) as running:
            index = await running.opened()
            assert index is not None
            assert index.units("a.py")[1].id == "a.py:f"
            with pytest.raises(StoreUnusable):
                build_graph(index)
            monkeypatch.setattr(Index, "keep", real)
            assert rank(index, "f fails", "").files[0].id == "a.py"


async def test_a_run_that_ends_stops_what_is_being_made_ready(tmp_path: Path) -> None:
    """The index is closed; the graph of the next run is whole."""
    commit(tmp_path / "r", {f"m{n}.py": f"def f{n}():\n    g{n + 1}()\n" for n in range(300)})
    with local_source(tmp_path / "r") as source:
        build_and_open(tmp_path / "data", source)[0].close()
        for _ in range(3):
            async with run_index(tmp_path / "data", source):
                await asyncio.sleep(0.02)
        async with run_index(tmp_path / "data", source) as running:
            index = await running.opened()
            assert index is not None
            assert len(build_graph(index).ids) >= 600


async def test_a_run_goes_on_without(tmp_path: Path) -> None:
    """When the store cannot be used there is no index, and no error."""
    commit(tmp_path / "r", {"a.py": "def f(): pass\n"})
    with local_source(tmp_path / "r") as source:
        store = store_file(store_of(tmp_path / "data", source.mirror))
        store.parent.mkdir(parents=True)
        store.write_bytes(b"no database at all, but something else")
        async with run_index(tmp_path / "data", source) as index:
            assert await index.opened() is None


async def test_a_run_that_ends_stops_the_build(tmp_path: Path) -> None:
    """Whether it fails or not: the next run finds what was parsed."""
    commit(tmp_path / "r", {f"m{n}.py": f"def f{n}(): pass\n" for n in range(500)})
    with local_source(tmp_path / "r") as source:
        start = time.monotonic()
        with pytest.raises(RuntimeError):
            async with run_index(tmp_path / "data", source):
                raise RuntimeError
        assert time.monotonic() - start < 30
        async with run_index(tmp_path / "data", source) as index:
            found = await index.opened()
            assert found is not None
            assert len(found.files()) == 500
