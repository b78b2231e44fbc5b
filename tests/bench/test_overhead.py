"""The overhead bench measures an agent that really does its turns and keeps what it did."""

import sys
from pathlib import Path

import pytest

from bench.overhead import RUN, TREE, ours, theirs
from bench.tree import make_repository
from pipeline.journal import read_events
from sandbox.base import EnvironmentPlan
from sandbox.process import ProcessSandbox


async def test_our_side_reserves_records_and_runs_every_turn(tmp_path: Path) -> None:
    """A turn that left something out would be measured as too cheap."""
    (tmp_path / "tree").mkdir()
    source = make_repository(tmp_path / "tree", "bench/overhead", TREE)
    sandbox = ProcessSandbox(data_dir=tmp_path / "data", allow=True)
    plan = EnvironmentPlan("python", (), "python -c pass", "exit_code", "bench")
    took = await ours(sandbox, await sandbox.prepare(source, plan, RUN), 6, tmp_path)
    assert took > 0
    text = (tmp_path / "run.jsonl").read_text()
    kinds = [event.get("kind", event["event"]) for event in read_events(text)]
    for kind in ("reserve", "settle", "call", "tool"):
        assert kinds.count(kind) == 6


async def test_a_peer_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Its side is never measured as nothing."""
    with pytest.raises(RuntimeError, match="did not do its turns"):
        await theirs(Path(sys.executable), "folder", 3, tmp_path)
