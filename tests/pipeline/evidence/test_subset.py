"""A suite that does not end: the tests nearest to the issue are the suite of that run."""

from dataclasses import replace
from pathlib import Path

from pipeline.choose.vote import vote
from pipeline.evidence.exclusions import limit
from pipeline.evidence.subset import nearest_subset
from pipeline.evidence.verify import verify_pool
from pipeline.notes import about_repository, baseline_note
from tests.indexed import indexed
from tests.pipeline.evidence.small_repository import FILES, MakeSetting, Setting, candidate
from tests.pipeline.evidence.test_near import Opened
from tests.pipeline.evidence.test_verify import BREAKS, TOTAL, shop

HANGS = "import time\n\n\ndef test_hang():\n    time.sleep(99)\n"
ISSUE = "total of nothing\nshop.total([]) should be 0, see tests/test_shop.py."


async def endless(bench: MakeSetting, files: dict[str, str]) -> Setting:
    """A setting whose base run was ended after a second and a half."""
    setting = bench({**FILES, **files}, timeout_s=1.5)
    setting.sandbox.base = await setting.environment()  # type: ignore[attr-defined]
    setting.sandbox.opened.clear()
    setting.sandbox.timeout_s = 5.0
    return setting


async def test_the_nearest_tests_judge_every_candidate(bench: MakeSetting, tmp_path: Path) -> None:
    """They are chosen by the issue and the index, run twice, and what loses one of them is out."""
    setting = await endless(bench, {"other/test_hang.py": HANGS})
    environment = setting.sandbox.base  # type: ignore[attr-defined]
    with indexed(tmp_path, setting.sandbox.files) as index:
        services = replace(setting.services(), index=Opened(index))  # type: ignore[arg-type]
        near = await nearest_subset(services, ISSUE, environment)
        assert near.targets == (("tests/test_shop.py",),)
        assert len(near.stable_passes) == 3
        assert [each.tested for each in setting.sandbox.opened] == [[near.targets[0]]] * 2
        pool = [
            candidate("G1", shop(TOTAL)),
            candidate("G2", shop(BREAKS)),
            candidate("L1.1", shop(TOTAL.replace("else 0", "else 0 or 0"))),
        ]
        evidence, reproductions = await verify_pool(services, near, pool)
    assert {name: seen.regression_ran for name, seen in evidence.items()} == dict.fromkeys(
        evidence, True
    )
    assert len(evidence["G2"].lost) > len(evidence["G1"].lost)
    assert limit(len(near.stable_passes)) == 1
    ballot = vote(pool, evidence, reproductions, has_suite=True)
    assert "breaks" in " ".join(next(g for g in ballot.gates if g.candidate == "G2").reasons)
    assert all((*each.tested,) != ((),) for each in setting.sandbox.opened)


async def test_it_is_said_to_people_and_agents(bench: MakeSetting) -> None:
    """Nobody takes a part for the whole."""
    setting = await endless(bench, {"tests/test_hang.py": HANGS})
    environment = setting.sandbox.base  # type: ignore[attr-defined]
    near = await nearest_subset(setting.services(), ISSUE, environment)
    said = "all tests do not end in time; in the one test file nearest to the issue 3 tests pass"
    assert said in baseline_note(near)
    assert said in about_repository(near)
    assert about_repository(near).endswith("Run single test files, never all.")
    assert "single" not in about_repository(replace(near, targets=()))


async def test_after_a_restart_nothing_runs_again(bench: MakeSetting) -> None:
    """The part and its two runs are in the journal."""
    setting = await endless(bench, {"tests/test_hang.py": HANGS})
    environment = setting.sandbox.base  # type: ignore[attr-defined]
    first = await nearest_subset(setting.services(), ISSUE, environment)
    setting.sandbox.opened.clear()
    assert await nearest_subset(setting.services(), ISSUE, environment) == first
    assert setting.sandbox.opened == []


async def test_a_file_that_hangs_is_passed_by(bench: MakeSetting) -> None:
    """The nearest file may be the one that never ends."""
    setting = await endless(bench, {"tests/test_hang.py": HANGS})
    setting.sandbox.timeout_s = 1.5
    environment = setting.sandbox.base  # type: ignore[attr-defined]
    issue = "It hangs\nSee tests/test_hang.py."
    near = await nearest_subset(setting.services(), issue, environment)
    assert near.targets == (("tests/test_shop.py",),)


async def test_where_nothing_ends_it_is_given_up(bench: MakeSetting) -> None:
    """After a few rounds; the environment has no suite then, as before."""
    setting = bench({f"tests/test_{n}.py": HANGS for n in range(9)}, timeout_s=0.3)
    environment = await setting.environment()
    setting.sandbox.opened.clear()
    assert await nearest_subset(setting.services(), "x\n", environment) == environment
    assert 2 <= len(setting.sandbox.opened) <= 5


async def test_a_suite_that_ends_is_left_alone(bench: MakeSetting) -> None:
    """Nothing is run for it, nor for one that has no verdict for another reason."""
    setting = bench()
    environment = await setting.environment()
    assert await nearest_subset(setting.services(), ISSUE, environment) is environment
    none = replace(environment, baseline=None, baseline_again=None)
    assert await nearest_subset(setting.services(), ISSUE, none) is none
