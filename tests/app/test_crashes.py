"""A worker ended without warning in any stage costs time, never a second pull request."""

from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from app.ledger.runs import Run
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


async def test_killed_in_every_exploring_stage_the_run_goes_on(tmp_path: Path) -> None:
    """After kill -9 and a restart, four times: one pull request, no finished item's call again."""
    async with installed(tmp_path, small.script(), worker=False) as prism:
        worker = prism.start_worker()
        await prism.model("POST", "hold", {"address": HELD["global"]})
        prism.label()
        kills = []
        for stage, following in pairwise(["global", "local", "synthesis", "code", ""]):
            kills.append(await _kill_at(prism, worker, HELD[stage], HELD.get(following, "")))
            worker = prism.start_worker()
        run = await prism.ended()

        await _check_one_result(prism, run, crashes=4)
        for calls_before, finished in kills:
            after = (await prism.calls())[calls_before:]
            assert {_item(call) for call in after} & finished == set()


async def test_killed_around_the_model_stages_nothing_happens_twice(tmp_path: Path) -> None:
    """Killed while preparing, while verifying, and after branch or pull request were made."""
    async with installed(tmp_path, small.script(), worker=False) as prism:
        for effect in ("git/refs", "pulls$"):
            prism.hub.faults.add("POST", effect, 0, delay_s=3.0)
        await prism.model("POST", "hold", {"address": HELD["verify"]})
        worker = prism.start_worker()
        prism.label()
        await prism.until(lambda: _preparing(prism))
        prism.processes.kill(worker)
        assert await prism.calls() == []  # before the first call nothing is lost but time
        calls_before, finished = await _kill_at(prism, prism.start_worker(), HELD["verify"])
        for path in ("git/refs", "pulls"):
            worker = prism.start_worker()
            await prism.until(partial(_asked, prism, path))
            prism.processes.kill(worker)
        prism.start_worker()
        run = await prism.ended()

        await _check_one_result(prism, run, crashes=2)  # and up to two more while publishing
        after = (await prism.calls())[calls_before:]
        assert {_item(call) for call in after} & finished == set()


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


async def _kill_at(
    prism: Prism, worker: str, address: str, following: str = ""
) -> tuple[int, set[str]]:
    """Kill at a held call; returns how many calls there were and the items finished by then.

    The call is let go, and the next one held in its place.
    """
    await prism.until(lambda: _arrived(prism, address))
    finished = await _finished(prism)
    calls = len(await prism.calls())
    prism.processes.kill(worker)
    if following:
        await prism.model("POST", "hold", {"address": following})
    await prism.model("POST", "release", {"address": address})
    return calls, finished


async def _check_one_result(prism: Prism, run: Run, crashes: int) -> None:
    assert run.state == "done", run.outcome
    assert run.crash_count >= crashes
    assert len(prism.pulls) == 1
    assert len(prism.comments) == 1
    _check_each_attempt_once(await prism.calls())


async def _preparing(prism: Prism) -> bool:
    run = await prism.run()
    return run is not None and bool(await prism.items(run.id))


async def _asked(prism: Prism, path: str) -> bool:
    """Whether an effect was asked for by now."""
    return any(
        each["method"] == "POST" and each["path"].endswith(path) for each in prism.hub.requests
    )


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
