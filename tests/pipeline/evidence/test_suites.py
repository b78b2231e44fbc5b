"""Suites that take long: the nearest tests first, or only as many as there is time for."""

from dataclasses import replace

import pytest

from pipeline.choose.vote import vote
from pipeline.evidence import suites
from pipeline.evidence.verify import verify_pool
from pipeline.services import RunConfig
from sandbox.base import Environment, TestRun
from tests.pipeline.evidence.small_repository import FILES, MakeSetting, candidate
from tests.pipeline.evidence.test_verify import BREAKS, MEAN, TOTAL, shop

FAR = "import shop\n\ndef test_far():\n    assert shop.total([]) is None\n"
WITH_FAR = {**FILES, "other/test_words.py": FAR}


def slow(environment: Environment, seconds: float = 100.0) -> Environment:
    """The environment, as if its suite took that long."""
    assert environment.baseline is not None
    return replace(environment, baseline=replace(environment.baseline, duration_s=seconds))


async def test_a_suite_over_its_budget_is_run_in_part(bench: MakeSetting) -> None:
    """Tests that were not run are neither passed nor lost, and the evidence says how many."""
    setting = bench(WITH_FAR)
    setting.config = RunConfig(test_budget_s=0.05)
    pool = [candidate("G1", shop(MEAN)), candidate("G2", shop(BREAKS))]
    environment = slow(await setting.environment())
    evidence, _ = await verify_pool(setting.services(), environment, pool)
    seen = evidence["G1"]
    assert (seen.regression_ran, seen.regression_passed, seen.not_run, seen.lost) == (
        True,
        3,
        1,
        (),
    )
    assert "3 of 4 tests were run, nearest to the change first" in seen.note
    assert not seen.skipped
    assert evidence["G2"].lost == (
        "tests/test_shop.py::Shop::test_nothing",
        "tests/test_shop.py::Shop::test_total",
    )
    tested = {target for each in setting.sandbox.opened for target in each.tested}
    assert () not in tested
    assert vote(pool, evidence, (), has_suite=True).winner == "G1"


@pytest.mark.parametrize(("text", "runs"), [(TOTAL, 1), (MEAN, 2)])
async def test_who_loses_a_near_test_is_not_run_further(
    bench: MakeSetting, monkeypatch: pytest.MonkeyPatch, text: str, runs: int
) -> None:
    """The others get all of the suite."""
    monkeypatch.setattr(suites, "NEAR_FIRST_S", 0.0)
    setting = bench(WITH_FAR)
    environment = slow(await setting.environment(), 4.0)
    evidence, _ = await verify_pool(setting.services(), environment, [candidate("G1", shop(text))])
    seen = evidence["G1"]
    whole = [each for each in setting.sandbox.opened if () in each.tested]
    assert len(whole) == runs - 1
    if runs == 1:
        assert seen.lost == ("tests/test_shop.py::Shop::test_nothing",)
        assert (seen.regression_passed, seen.not_run) == (2, 1)
        assert "near to the change" in seen.skipped
    else:
        assert (seen.regression_passed, seen.not_run, seen.skipped) == (4, 0, "")


async def test_a_suite_that_cannot_be_run_in_parts_is_run_whole(bench: MakeSetting) -> None:
    """A budget that nothing fits into must not turn into "nothing was lost"."""
    setting = bench(WITH_FAR)
    setting.config = RunConfig(test_budget_s=1.0)
    plan = replace(setting.sandbox.plan, runner="exit_code", test="exit 1")
    passed = TestRun({"suite": "pass"}, 0, 100.0, timed_out=False, structured=False, output="")
    setting.sandbox.plan = plan
    environment = Environment("folder", plan, passed, passed, 0.0, "")
    evidence, _ = await verify_pool(setting.services(), environment, [candidate("G1", shop(TOTAL))])
    assert (evidence["G1"].lost, evidence["G1"].not_run) == (("suite",), 0)
