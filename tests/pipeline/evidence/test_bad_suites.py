"""Suites and pools as bad as they come: each ends in evidence with its reason, none in a pass."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pipeline.choose.vote import vote
from pipeline.evidence.bench import Bench
from pipeline.evidence.verify import verify, verify_pool
from pipeline.notes import baseline_note
from sandbox.base import Limits
from sandbox.environment.plan import make_plan
from sandbox.process import ProcessSandbox
from tests.pipeline.evidence.small_repository import FILES, MakeSetting, candidate, make_patch
from tests.pipeline.evidence.test_verify import BREAKS, SHOP, SHOWS_TOTAL, TOTAL, shop
from tests.sandbox.conftest import make_repository

FLOOD = "import sys\n\nfor _ in range(1024):\n    sys.stdout.write('x' * 1_048_576)\n" + SHOP


async def test_a_pool_in_which_everything_fails(bench: MakeSetting) -> None:
    """Nobody wins, and each has a reason of its own."""
    pool = [
        candidate("G1", shop(BREAKS)),
        candidate("G2", ""),
        candidate("G3", shop("def total(:\n")),
        candidate("L1.1", make_patch({}, {".github/workflows/x.yml": "a\n"})),
        candidate("L1.2", shop("# nothing\n" + SHOP)),
        candidate("L2.1", shop(TOTAL + "\n\ndef more():\n    return np.inf\n")),
        candidate("S1", shop("import os\n\nos._exit(0)\n" + TOTAL)),
    ]
    setting = bench()
    evidence, reproductions = await verify_pool(
        setting.services(), await setting.environment(), pool
    )
    ballot = vote(pool, evidence, reproductions, has_suite=True)
    assert ballot.winner is None
    said = {each.candidate: " ".join(each.reasons) for each in ballot.gates}
    expected = {
        "G1": "breaks 2 tests",
        "G2": "refuses it",
        "G3": "does not parse",
        "L1.1": "refuses it",
        "L1.2": "nothing but comments",
        "L2.1": "nothing defines: np (shop.py)",
        "S1": "gave no verdict on it: it left no report",
    }
    assert {name for name in expected if expected[name] in said[name]} == set(expected)


async def test_a_base_whose_suite_never_ends(bench: MakeSetting) -> None:
    """There is no suite then, which is said; reproductions still decide."""
    files = {**FILES, "tests/test_hang.py": "import time\n\ndef test_hang():\n    time.sleep(99)\n"}
    setting = bench(files, timeout_s=1.5)
    environment = await setting.environment()
    assert "did not end in" in baseline_note(environment)
    pool = [
        candidate("G1", shop(TOTAL), {"tests/test_g1.py": SHOWS_TOTAL}),
        candidate("G2", shop(TOTAL.replace("else 0", "else 0 or 0"))),
        candidate("S1", shop(SHOP + "\n\nspare = 0\n")),
    ]
    setting.sandbox.timeout_s = 30.0
    evidence, reproductions = await verify_pool(setting.services(), environment, pool)
    assert not any(seen.regression_ran or seen.skipped for seen in evidence.values())
    assert vote(pool, evidence, reproductions, has_suite=False).winner in {"G1", "G2"}
    strict = vote(pool, evidence, reproductions, has_suite=False, require_tests=True)
    assert strict.winner is None


@pytest.mark.parametrize(
    "more",
    [
        {"tests/test_absent.py": "import absent_package\n"},
        {"tests/test_a.py": "def test_a():\n    assert 0\n", "tox.ini": "[pytest]\naddopts = -x\n"},
        {"tests/test_a.py": "assert 0\n", "tests/test_b.py": "def (\n", "tests/c_test.py": "x\n"},
    ],
)
async def test_one_broken_test_file_hides_no_other(
    bench: MakeSetting, more: dict[str, str]
) -> None:
    """What cannot be imported or fails on the base leaves the rest of the suite as it is."""
    setting = bench({**FILES, **more})
    environment = await setting.environment()
    assert len(environment.stable_passes) == 3
    pool = [candidate("G1", shop(SHOP + "\n\nspare = 0\n")), candidate("G2", shop(BREAKS))]
    evidence, _ = await verify_pool(setting.services(), environment, pool)
    assert evidence["G1"].regression_ran
    assert evidence["G1"].lost == ()
    assert len(evidence["G2"].lost) == 2


async def test_a_patch_that_prints_a_gigabyte(tmp_path: Path) -> None:
    """The suite is ended, twice, and the evidence says so; what it printed is not kept."""
    source = await asyncio.to_thread(make_repository, tmp_path / "shop", FILES)
    backend = ProcessSandbox(
        data_dir=tmp_path / "data", allow=True, limits=Limits(test_timeout_s=60.0)
    )
    plan = replace(
        await make_plan(source), setup=(), runner="unittest", test="python -m unittest discover"
    )
    environment = await backend.prepare(source, plan, "flood")
    assert environment.stable_passes, environment.log
    opener = partial(backend.workspace, environment, "verify", "flood")
    patch = make_patch(FILES, {"shop.py": FLOOD})
    seen = await verify(candidate("G1", patch), Bench(source, environment, opener))
    assert not seen.regression_ran
    assert "printed without end" in seen.note
    assert len(seen.note) < 200


@pytest.mark.parametrize("tests", [{}, {"tests/test_none.py": "VALUE = 1\n"}])
async def test_no_suite_at_all(bench: MakeSetting, tests: dict[str, str]) -> None:
    """No tests, or files without one: the run says so and goes by the vote."""
    files = {"shop.py": SHOP, **tests}
    setting = bench(files)
    environment = await setting.environment()
    assert environment.stable_passes == frozenset()
    assert "no verdict" in baseline_note(environment)
    evidence, _ = await verify_pool(setting.services(), environment, [candidate("G1", shop(TOTAL))])
    seen = evidence["G1"]
    assert (seen.regression_ran, seen.skipped, seen.not_run) == (False, "", 0)
