"""A worker ended without warning in any stage costs time, never a second pull request."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests import small
from tests.installation import Prism, installed

# Where the worker is held when it is killed: one address for each stage with model calls.
HELD = {
    "global": "global/G2/1",
    "local": "local/L1.2/guide",
    "synthesis": "synthesis/S2/judge",
    "code": "code/L2.2/3",
    "verify": "verify/exclusions/exclusions",
}


@pytest.mark.parametrize("stage", HELD)
async def test_killed_in_a_stage_the_run_goes_on_where_it_was(tmp_path: Path, stage: str) -> None:
    """After kill -9 and a restart: one pull request, no call of a finished item twice."""
    async with installed(tmp_path, small.script(), worker=False) as prism:
        await prism.model("POST", "hold", {"address": HELD[stage]})
        worker = prism.start_worker()
        prism.label()
        await prism.until(lambda: _arrived(prism, HELD[stage]))
        finished = await _finished(prism)
        before = await prism.calls()
        prism.processes.kill(worker)
        await prism.model("POST", "release", {"address": HELD[stage]})
        prism.start_worker()
        run = await prism.ended()

        assert run.state == "done", run.outcome
        assert run.crash_count == 1
        assert len(prism.pulls) == 1
        assert len(prism.comments) == 1
        after = (await prism.calls())[len(before) :]
        assert {_item(call) for call in after} & finished == set()
        _check_each_attempt_once(await prism.calls())


async def test_killed_while_preparing_the_repository_it_is_prepared_again(tmp_path: Path) -> None:
    """Before the first model call nothing is lost but time."""
    async with installed(tmp_path, small.script(), worker=False) as prism:
        worker = prism.start_worker()
        prism.label()

        async def preparing() -> bool:
            run = await prism.run()
            return run is not None and bool(await prism.items(run.id))

        await prism.until(preparing)
        prism.processes.kill(worker)
        assert await prism.calls() == []
        prism.start_worker()
        run = await prism.ended()

        assert (run.state, run.crash_count) == ("done", 1), run.outcome
        assert len(prism.pulls) == 1
        _check_each_attempt_once(await prism.calls())


@pytest.mark.parametrize("effect", ["git/refs", "pulls$"])
async def test_killed_while_publishing_nothing_is_published_twice(
    tmp_path: Path, effect: str
) -> None:
    """Killed after the branch or the pull request was made, the next worker finds it."""
    async with installed(tmp_path, small.script(), worker=False) as prism:
        prism.hub.faults.add("POST", effect, 0, delay_s=3.0)
        worker = prism.start_worker()
        prism.label()

        async def asked() -> bool:
            path = effect.rstrip("$")
            return any(
                each["method"] == "POST" and each["path"].endswith(path)
                for each in prism.hub.requests
            )

        await prism.until(asked)
        prism.processes.kill(worker)
        prism.start_worker()
        run = await prism.ended()

        assert run.state == "done", run.outcome
        assert len(prism.pulls) == 1
        assert len(prism.comments) == 1


async def test_a_stopped_worker_gives_its_run_back(tmp_path: Path) -> None:
    """SIGTERM is no crash: the next worker goes on at once and the count stays 0."""
    async with installed(tmp_path, small.script(), worker=False) as prism:
        await prism.model("POST", "hold", {"address": "global/G3/0"})
        worker = prism.start_worker()
        prism.label()
        await prism.until(lambda: _arrived(prism, "global/G3/0"))
        prism.processes.stop(worker)
        await prism.model("POST", "release", {"address": "global/G3/0"})
        prism.start_worker()
        run = await prism.ended()

        assert (run.state, run.crash_count) == ("done", 0), run.outcome
        assert len(prism.pulls) == 1


async def _arrived(prism: Prism, address: str) -> bool:
    return any(call["address"] == address for call in await prism.calls())


async def _finished(prism: Prism) -> set[str]:
    """Items that were finished, as their calls name them: stage/item without the turn."""
    run = await prism.run()
    assert run is not None
    items = await prism.items(run.id)
    return {
        f"{each.stage}/{each.name.removeprefix('code:')}"
        for each in items
        if each.status == "finished"
    }


def _item(call: dict[str, Any]) -> str:
    stage, item, _ = call["address"].split("/")
    return f"{stage}/{item}"


def _check_each_attempt_once(calls: list[dict[str, Any]]) -> None:
    seen = Counter((call["address"], call["attempt"]) for call in calls)
    assert [key for key, count in seen.items() if count > 1] == []
