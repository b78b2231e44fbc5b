"""A pool that grows while it is verified: what is known stays, what is new runs on everybody."""

from pipeline.choose.vote import vote
from pipeline.evidence.verify import verify_pool
from pipeline.journal import read_events
from pipeline.replay import stored_in
from pipeline.values import Candidate, Evidence, Reproduced
from tests.pipeline.evidence.small_repository import (
    FILES,
    MakeSetting,
    Setting,
    candidate,
    make_patch,
)
from tests.pipeline.evidence.test_verify import (
    ASKED,
    MEAN,
    SHOWS_MEAN,
    SHOWS_TOTAL,
    TOTAL,
    WHOLE,
    shop,
)


async def verified(
    setting: Setting, *pool: Candidate
) -> tuple[dict[str, Evidence], tuple[Reproduced, ...]]:
    """Evidence and reproductions, from a fresh process's point of view."""
    return await verify_pool(setting.services(), await setting.environment(), pool, (ASKED,))


HALF = candidate("S1", shop(TOTAL), {"tests/test_s1.py": SHOWS_TOTAL})
OTHER = candidate("S2", shop(TOTAL + "\n\ndef spare():\n    return 0\n"))
FULL = candidate("G1", shop(WHOLE), {"tests/test_g1.py": SHOWS_MEAN})
SECOND = candidate("G2", shop(WHOLE + "\n\ndef more():\n    return 0\n"))


async def test_new_reproductions_run_on_old_candidates(bench: MakeSetting) -> None:
    """What agreed at first is beaten by the test of a later one; nothing runs twice.

    Not after a restart either, and a replay, which takes the last of each candidate in the
    journal, finds what the vote saw.
    """
    setting = bench()
    first, _ = await verified(setting, HALF, OTHER)
    assert all(seen.regression_ran for seen in first.values())
    opened = len(setting.sandbox.opened)
    evidence, reproductions = await verified(setting, HALF, OTHER, FULL, SECOND)
    # one to validate the new test; it on four candidates; the old one on the new two; two suites
    assert len(setting.sandbox.opened) - opened == 1 + 4 + 2 + 2
    assert {each.reproduction.author for each in reproductions} == {"G1", "S1"}
    assert evidence["S1"].reproductions == {
        "G1:tests/test_g1.py": "fail",
        "S1:tests/test_s1.py": "pass",
    }
    assert evidence["S1"].skipped
    ballot = vote((HALF, OTHER, FULL, SECOND), evidence, reproductions, has_suite=True)
    assert ballot.winner == "G1"
    again = bench()
    assert (await verified(again, HALF, OTHER))[0] == first
    assert (await verified(again, HALF, OTHER, FULL, SECOND))[0] == evidence
    assert again.sandbox.opened == []
    outputs = stored_in(read_events(setting.journal.read_text())).outputs
    last = {out["candidate"]: out["skipped"] for out in outputs.values() if "policy" in out}
    assert last == {name: seen.skipped for name, seen in evidence.items()}
    assert all(len(name.partition("/")[2]) <= 64 for name in outputs)


async def test_a_test_keeps_its_first_author(bench: MakeSetting) -> None:
    """The same text of a candidate that comes later, and sorts before, is a second opinion."""
    setting = bench()
    _, before = await verified(setting, HALF)
    late = candidate("G1", shop(WHOLE), {"tests/test_other.py": SHOWS_TOTAL})
    evidence, after = await verified(setting, HALF, late)
    assert after == before
    assert evidence["G1"].reproductions == {"S1:tests/test_s1.py": "pass"}
    assert evidence["G1"].regression_ran


async def test_who_was_beaten_may_come_back(bench: MakeSetting) -> None:
    """A candidate whose test nobody else passed has its suite run once somebody does."""
    setting = bench()
    alone = candidate("S1", shop(MEAN), {"tests/test_s1.py": SHOWS_MEAN})
    evidence, _ = await verified(setting, alone)
    assert not evidence["S1"].regression_ran
    assert "nobody but its author" in evidence["S1"].skipped
    evidence, _ = await verified(setting, alone, SECOND)
    assert evidence["S1"].regression_ran
    assert not evidence["S1"].skipped


async def test_exclusions_that_come_later_count(bench: MakeSetting) -> None:
    """A test that is left out since the pool grew is no longer lost by an old candidate."""
    setting = bench()
    pool = [candidate("G1", make_patch(FILES, {"shop.py": TOTAL}))]
    services, environment = setting.services(), await setting.environment()
    before, _ = await verify_pool(services, environment, pool)
    assert before["G1"].lost == (ASKED.test,)
    after, _ = await verify_pool(services, environment, pool, (ASKED,))
    assert (after["G1"].lost, after["G1"].regression_passed) == ((), 2)
    assert after["G1"].excluded == (ASKED.test,)
