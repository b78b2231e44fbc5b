"""Runs: one active per issue, one owner at a time, no write by an old one."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import budget, effects, items, runs
from app.ledger.errors import Fenced
from app.ledger.runs import MAX_CRASHES, Claim, NewRun
from app.ledger.tables import TERMINAL_STATES
from pipeline.services import CallAddress
from pipeline.values import Usage

MakeRun = Callable[..., NewRun]
ADDRESS = CallAddress("global", "G1", "0")


async def test_a_run_has_its_branch_from_the_beginning(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """The first generation is queued, owned by nobody, on a branch that never changes."""
    created = await runs.create(ledger, new_run())
    assert created.is_new
    assert created.run.branch == "prism/issue-3"
    assert (created.run.state, created.run.generation, created.run.epoch) == ("queued", 1, 0)
    assert await runs.get(ledger, created.run.id) == created.run
    assert await runs.get(ledger, "r-none") is None


async def test_one_issue_has_one_active_run(ledger: AsyncEngine, new_run: MakeRun) -> None:
    """Ten different requests at once make one run; the others are told of it."""
    asked = [runs.create(ledger, new_run(f"d-{number}")) for number in range(10)]
    created = await asyncio.gather(*asked)
    assert sum(answer.is_new for answer in created) == 1
    assert len({answer.run.id for answer in created}) == 1


async def test_a_delivery_makes_one_run_for_ever(ledger: AsyncEngine, new_run: MakeRun) -> None:
    """Admitted again after its run has ended, a delivery does not start a second one."""
    first = await runs.create(ledger, new_run("d-1"))
    claim = await _claimed(ledger, first.run.id)
    await runs.finish(ledger, first.run.id, claim.epoch, "done", "Pull request #4.")
    again = await runs.create(ledger, new_run("d-1"))
    assert not again.is_new
    assert (again.run.id, again.run.state) == (first.run.id, "done")


async def test_a_rerun_is_a_generation_on_its_own_branch(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """After the end of a run the next request gets the next number."""
    for number, branch in ((1, "prism/issue-3"), (2, "prism/issue-3-2"), (3, "prism/issue-3-3")):
        created = await runs.create(ledger, new_run(f"d-{number}"))
        assert (created.run.generation, created.run.branch) == (number, branch)
        claim = await _claimed(ledger, created.run.id)
        await runs.finish(ledger, created.run.id, claim.epoch, "no_fix", "Nothing convinced.")
    latest = await runs.latest_for_issue(ledger, 7, 2**40, 3)
    assert latest is not None
    assert latest.generation == 3
    assert await runs.latest_for_issue(ledger, 8, 2**40, 3) is None


async def test_issues_do_not_stand_in_each_others_way(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """Single flight is per issue."""
    first = await runs.create(ledger, new_run("d-1", issue_number=1))
    second = await runs.create(ledger, new_run("d-2", issue_number=2))
    assert first.is_new
    assert second.is_new


async def test_a_new_installation_does_not_get_an_old_ones_run(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """When the App was installed anew, the run of the installation that is gone ends."""
    old = await runs.create(ledger, new_run("d-1"))
    new = await runs.create(ledger, replace(new_run("d-2"), installation_id=8))
    assert new.is_new
    assert new.run.branch == "prism/issue-3-2"
    ended = await runs.get(ledger, old.run.id)
    assert ended is not None
    assert ended.state == "cancelled"


async def test_of_many_claimers_one_wins(ledger: AsyncEngine, new_run: MakeRun) -> None:
    """A claim is one statement: the others get nothing while the lease lasts."""
    run_id = (await runs.create(ledger, new_run())).run.id
    claims = await asyncio.gather(
        *(runs.claim(ledger, run_id, f"worker-{number}", 60) for number in range(8))
    )
    won = [claim for claim in claims if claim is not None]
    assert [(claim.epoch, claim.run.state) for claim in won] == [(1, "running")]
    assert await runs.lapsed(ledger) == []


async def test_a_lapsed_lease_is_taken_over_and_counts_as_a_crash(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """The next owner has a higher epoch; the one before did not release, so it crashed."""
    run_id = (await runs.create(ledger, new_run())).run.id
    first = await _claimed(ledger, run_id, 0.05)
    await asyncio.sleep(0.1)
    assert await runs.lapsed(ledger) == [run_id]
    second = await _claimed(ledger, run_id)
    assert (first.epoch, second.epoch) == (1, 2)
    assert (first.run.crash_count, second.run.crash_count) == (0, 1)


async def test_a_released_run_is_claimed_at_once_and_has_not_crashed(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """A deploy gives runs back: twenty in a row leave the crash count alone."""
    for number in range(20):
        await runs.release(ledger, claim.run.id, claim.epoch)
        claim = await _claimed(ledger, claim.run.id)
        assert (claim.epoch, claim.run.crash_count) == (number + 2, 0)


async def test_a_run_that_waits_is_not_claimed_early(ledger: AsyncEngine, claim: Claim) -> None:
    """Released for later, it stays unclaimed until then."""
    await runs.release(ledger, claim.run.id, claim.epoch, wait_s=0.2)
    assert await runs.lapsed(ledger) == []
    assert await runs.claim(ledger, claim.run.id, "worker-2", 60) is None
    await asyncio.sleep(0.25)
    assert await runs.lapsed(ledger) == [claim.run.id]


async def test_a_heartbeat_keeps_the_lease_and_hears_of_a_cancel(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """It extends the lease from now on and says whether somebody asked to stop."""
    run_id = (await runs.create(ledger, new_run())).run.id
    claim = await _claimed(ledger, run_id, 0.2)
    for _ in range(3):
        await asyncio.sleep(0.1)
        assert await runs.heartbeat(ledger, run_id, claim.epoch, 0.2) is False
    assert await runs.request_cancel(ledger, run_id)
    assert await runs.heartbeat(ledger, run_id, claim.epoch, 60) is True


async def test_a_run_that_keeps_crashing_is_told_of_and_then_ended(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """After five crashes an owner only tells people; when that crashes as well, it is dead."""
    run_id = (await runs.create(ledger, new_run())).run.id
    exhausted = []
    while (claim := await runs.claim(ledger, run_id, "worker", 60)) is not None:
        exhausted.append(claim.is_exhausted)
        await runs.abandon(ledger, run_id, claim.epoch, wait_s=-1)
    assert exhausted == [False] * MAX_CRASHES + [True] * 3
    ended = await runs.get(ledger, run_id)
    assert ended is not None
    assert ended.state == "dead"


@pytest.mark.parametrize("state", TERMINAL_STATES)
async def test_a_terminal_state_is_final(ledger: AsyncEngine, claim: Claim, state: str) -> None:
    """Nothing wakes, claims, cancels or changes a run that has ended."""
    run_id = claim.run.id
    await runs.finish(ledger, run_id, claim.epoch, state, "It ended.")
    before = await runs.get(ledger, run_id)
    assert await runs.lapsed(ledger) == []
    assert await runs.claim(ledger, run_id, "worker-2", 60) is None
    assert not await runs.request_cancel(ledger, run_id)
    for write in _writes(ledger, run_id, claim.epoch):
        with pytest.raises(Fenced):
            await write()
    assert before == await runs.get(ledger, run_id)
    assert before is not None
    assert (before.state, before.outcome, before.is_active) == (state, "It ended.", False)


async def test_a_run_ends_only_in_a_terminal_state(ledger: AsyncEngine, claim: Claim) -> None:
    """A word that is no end is refused before anything is written."""
    with pytest.raises(ValueError, match="not a terminal state"):
        await runs.finish(ledger, claim.run.id, claim.epoch, "running", "x")
    with pytest.raises(ValueError, match="running or publishing"):
        await runs.set_stage(ledger, claim.run.id, claim.epoch, "vote", state="done")


async def test_an_old_owner_writes_nothing(ledger: AsyncEngine, claim: Claim) -> None:
    """A worker that slept through its lease finds every door closed, the new owner none."""
    run_id = claim.run.id
    await runs.abandon(ledger, run_id, claim.epoch, wait_s=-1)
    new = await _claimed(ledger, run_id)
    for write in _writes(ledger, run_id, claim.epoch):
        with pytest.raises(Fenced):
            await write()
    for write in _writes(ledger, run_id, new.epoch):
        await write()


async def test_who_has_released_writes_nothing(ledger: AsyncEngine, claim: Claim) -> None:
    """Giving a run back ends ownership although nobody took it yet."""
    await runs.release(ledger, claim.run.id, claim.epoch)
    for write in _writes(ledger, claim.run.id, claim.epoch):
        with pytest.raises(Fenced):
            await write()


async def test_admission_writes_effects_until_the_first_claim(
    ledger: AsyncEngine, new_run: MakeRun
) -> None:
    """Epoch 0 announces the status comment; once a worker owns the run, it may not any more."""
    run_id = (await runs.create(ledger, new_run())).run.id
    await effects.intend(ledger, run_id, 0, "status_comment", "h")
    await effects.done(ledger, run_id, 0, "status_comment", "1", "https://example.com/1")
    await _claimed(ledger, run_id)
    with pytest.raises(Fenced):
        await effects.done(ledger, run_id, 0, "status_comment", "2", "https://example.com/2")


async def test_a_run_says_where_it_stands(ledger: AsyncEngine, claim: Claim) -> None:
    """Its stage and that it publishes are in its row."""
    await runs.set_stage(ledger, claim.run.id, claim.epoch, "publish", state="publishing")
    run = await runs.get(ledger, claim.run.id)
    assert run is not None
    assert (run.state, run.stage) == ("publishing", "publish")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(st.sampled_from(["claim", "release", "crash", "finish", "cancel"]), max_size=14)
)
async def test_laws_of_ownership(ledger: AsyncEngine, new_run: MakeRun, steps: list[str]) -> None:
    """In any order of events epochs only grow, and only the last owner ends a run, once."""
    number = next(_numbers)
    run_id = (await runs.create(ledger, new_run(f"law-{number}", number))).run.id
    claims: list[Claim] = []
    ended = False
    for step in steps:
        if step == "claim":
            claim = await runs.claim(ledger, run_id, "worker", 60)
            assert claim is None or not (ended or claim.epoch <= len(claims))
            claims += [claim] if claim is not None else []
        elif step == "cancel":
            assert await runs.request_cancel(ledger, run_id) is not ended
        elif claims:
            for old in claims[:-1]:
                with pytest.raises(Fenced):
                    await runs.finish(ledger, run_id, old.epoch, "failed", "zombie")
            ended = await _owner_does(ledger, claims[-1], step) or ended
    run = await runs.get(ledger, run_id)
    assert run is not None
    assert run.epoch == len(claims)
    assert (run.state == "done") is ended


_numbers = itertools.count(1)  # one database for all examples: an issue for each


async def _owner_does(ledger: AsyncEngine, claim: Claim, step: str) -> bool:
    """The last owner's step; True when the run ended by it."""
    acts: dict[str, Callable[[], Awaitable[None]]] = {
        "release": lambda: runs.release(ledger, claim.run.id, claim.epoch),
        "crash": lambda: runs.abandon(ledger, claim.run.id, claim.epoch, -1),
        "finish": lambda: runs.finish(ledger, claim.run.id, claim.epoch, "done", "ok"),
    }
    try:
        await acts[step]()
    except Fenced:
        return False
    return step == "finish"


async def _claimed(ledger: AsyncEngine, run_id: str, lease_s: float = 60) -> Claim:
    claim = await runs.claim(ledger, run_id, "worker", lease_s)
    assert claim is not None
    return claim


def _writes(ledger: AsyncEngine, run_id: str, epoch: int) -> list[Callable[[], Awaitable[object]]]:
    """Every kind of write an owner makes, in an order in which a live owner can make them."""
    journal = items.SqlJournal(ledger, run_id, epoch)
    money = budget.SqlBudget(ledger, run_id, epoch)

    async def settle() -> None:
        await money.settle(await money.reserve(ADDRESS, "h", 0.1), Usage(cost_usd=0.1), "end_turn")

    return [
        lambda: journal.start("global", "G1"),
        lambda: journal.finish("global", "G1", {"a": 1}),
        lambda: money.reserve(ADDRESS, "h", 0.1),
        settle,
        lambda: effects.intend(ledger, run_id, epoch, "branch", "h"),
        lambda: effects.done(ledger, run_id, epoch, "branch", "1", "u"),
        lambda: runs.set_stage(ledger, run_id, epoch, "global"),
        lambda: runs.heartbeat(ledger, run_id, epoch, 60),
        lambda: runs.release(ledger, run_id, epoch),
    ]
