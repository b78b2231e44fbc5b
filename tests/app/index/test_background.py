"""The index of a run, which must never hold one up."""

import asyncio
import time
from pathlib import Path

import pytest

from app.github.source import local_source
from app.index.background import run_index
from app.index.opening import store_of
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


async def test_a_run_goes_on_without(tmp_path: Path) -> None:
    """When the store cannot be used there is no index, and no error."""
    commit(tmp_path / "r", {"a.py": "def f(): pass\n"})
    with local_source(tmp_path / "r") as source:
        store = store_of(tmp_path / "data", source.mirror)
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
