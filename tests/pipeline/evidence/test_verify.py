"""Candidates of a small real repository, verified in real workspaces by real runners."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.choose.vote import vote
from pipeline.evidence.verify import verify_pool
from pipeline.values import Candidate, Evidence, Exclusion, Reproduced
from tests.pipeline.evidence.small_repository import (
    FILES,
    MakeSetting,
    Setting,
    candidate,
    make_patch,
)

SHOP = FILES["shop.py"]
# The whole fix, one half each, and one that breaks a test.
TOTAL = SHOP.replace("else None", "else 0")
MEAN = SHOP.replace("return sum(items) / len(items)", "return sum(items) / len(items or [1])")
WHOLE = TOTAL.replace("return sum(items) / len(items)", "return sum(items) / len(items or [1])")
BREAKS = WHOLE.replace("sum(items) if items", "sum(items) + 1 if items")

SHOWS_TOTAL = "import shop\n\ndef test_total():\n    assert shop.total([]) == 0\n"
SHOWS_MEAN = "import shop\n\ndef test_mean():\n    assert shop.mean([]) == 0\n"
ASKED = Exclusion("tests/test_shop.py::Shop::test_nothing", "should be 0", "asserts None")


def shop(text: str) -> str:
    """The patch to another shop.py."""
    return make_patch(FILES, {"shop.py": text})


async def verified(
    setting: Setting, pool: Sequence[Candidate], exclusions: Sequence[Exclusion] = (ASKED,)
) -> tuple[dict[str, Evidence], tuple[Reproduced, ...]]:
    """Evidence and reproductions of a pool, from a fresh process's point of view."""
    return await verify_pool(setting.services(), await setting.environment(), pool, exclusions)


async def test_a_whole_pool(bench: MakeSetting) -> None:
    """Halves, the whole and a breaking one get the evidence that lets only the whole win."""
    pool = [
        candidate("S1", shop(WHOLE)),
        candidate("G1", shop(TOTAL), {"tests/test_g1.py": SHOWS_TOTAL}),
        candidate("G2", shop(MEAN), {"tests/test_g2.py": SHOWS_MEAN}),
        candidate("L1.1", shop(BREAKS)),
    ]
    evidence, reproductions = await verified(bench(), pool)
    assert list(evidence) == ["G1", "G2", "L1.1", "S1"]
    assert [each.id for each in reproductions] == ["G1:tests/test_g1.py", "G2:tests/test_g2.py"]
    seen = {name: list(each.reproductions.values()) for name, each in evidence.items()}
    assert seen == {
        "G1": ["pass", "fail"],
        "G2": ["fail", "pass"],
        "L1.1": ["pass", "pass"],
        "S1": ["pass", "pass"],
    }
    assert evidence["L1.1"].lost == ("tests/test_shop.py::Shop::test_total",)
    assert all(each.excluded == (ASKED.test,) for each in evidence.values())
    ran = {name: (each.regression_ran, each.not_run) for name, each in evidence.items()}
    assert ran == {
        "G1": (False, 2),  # a reproduction beat it already
        "G2": (False, 2),
        "L1.1": (True, 0),
        "S1": (True, 0),
    }
    assert "fails a reproduction" in evidence["G1"].skipped
    assert (evidence["S1"].regression_passed, evidence["S1"].lost) == (2, ())
    assert evidence["S1"].changed_lines == 4
    ballot = vote(pool, evidence, reproductions, has_suite=True)
    assert ballot.winner == "S1"
    assert [each.candidate for each in ballot.gates if each.ok] == ["S1"]
    said = {each.candidate: each.reasons for each in ballot.gates}
    assert "fails a reproduction" in said["G1"][0]
    assert "suite was not run" in said["G1"][1]


async def test_without_the_exclusion_the_test_is_lost(bench: MakeSetting) -> None:
    """Nothing but a named exclusion excuses a test that no longer passes."""
    evidence, _ = await verified(bench(), [candidate("G1", shop(TOTAL))], ())
    assert evidence["G1"].lost == (ASKED.test,)
    assert evidence["G1"].excluded == ()


@pytest.mark.parametrize(
    ("patch", "applies", "parses", "word"),
    [
        ("", False, False, "empty"),
        (make_patch({}, {".github/workflows/x.yml": "a\n"}), False, False, ".github"),
        (make_patch({"shop.py": "other\n"}, {"shop.py": "x\n"}), False, False, "fit"),
        (shop("def total(:\n"), True, False, "parse"),
        (shop("# a comment\n" + SHOP), True, True, ""),
    ],
)
async def test_what_cannot_win_is_not_run(
    bench: MakeSetting, patch: str, applies: bool, parses: bool, word: str
) -> None:
    """Refused, unfit, broken and empty patches cost no workspace and pass no test."""
    setting = bench()
    evidence, _ = await verified(setting, [candidate("G1", patch)])
    seen = evidence["G1"]
    assert (seen.applies, seen.parses, seen.regression_ran) == (applies, parses, False)
    assert word in seen.note
    assert setting.sandbox.opened == []
    assert not vote([candidate("G1", patch)], evidence, (), has_suite=False).winner


async def test_equal_patches_are_run_once(bench: MakeSetting) -> None:
    """Three candidates with one program share one workspace and get equal evidence."""
    setting = bench()
    texts = {"S1": WHOLE, "G1": "# a comment\n" + WHOLE, "L1.1": WHOLE.replace(" else", "  else")}
    pool = [candidate(name, shop(text)) for name, text in texts.items()]
    evidence, _ = await verified(setting, pool)
    assert len(setting.sandbox.opened) == 1
    tested = [
        (each.regression_ran, each.regression_passed, each.lost) for each in evidence.values()
    ]
    assert tested == [(True, 2, ())] * 3
    assert [each.candidate for each in evidence.values()] == ["G1", "L1.1", "S1"]


async def test_finished_items_are_read_back(bench: MakeSetting) -> None:
    """A second process with the same journal runs nothing and sees the same."""
    first, pool = bench(), [candidate("G1", shop(WHOLE), {"tests/test_g1.py": SHOWS_TOTAL})]
    before = await verified(first, pool)
    second = bench()
    assert await verified(second, pool) == before
    assert second.sandbox.opened == []
    items = {json.loads(line).get("item") for line in first.journal.read_text().splitlines()}
    assert {each.partition(":")[0] for each in items} == {
        "verify/reproduction",
        "verify/test",
        "verify/G1",
    }
    assert second.progress.said[-1] == ("verify", 1, 1)


async def test_a_missing_report_is_not_a_pass(bench: MakeSetting) -> None:
    """A candidate that ends the runner before it reports has no verdict and loses the gate."""
    ends = "import os\n\nos._exit(0)\n" + TOTAL
    pool = [candidate("G1", shop(ends), {"tests/test_g1.py": SHOWS_TOTAL})]
    evidence, reproductions = await verified(bench(), pool)
    assert reproductions
    assert evidence["G1"].reproductions == {"G1:tests/test_g1.py": "missing"}
    assert evidence["G1"].regression_passed == 0
    assert not vote(pool, evidence, reproductions, has_suite=True).gates[0].ok


async def test_a_suite_that_hangs_has_no_verdict(bench: MakeSetting) -> None:
    """A time-out is noted, and neither suite nor reproduction counts as passed."""
    hangs = TOTAL.replace("    return sum(", "    while items:\n        pass\n    return sum(", 1)
    pool = [
        candidate("G1", shop(hangs), {"tests/test_g1.py": SHOWS_TOTAL}),
        candidate("G2", shop(TOTAL)),
    ]
    evidence, _ = await verified(bench(timeout_s=5.0), pool)
    assert not evidence["G1"].regression_ran
    assert "did not end in time" in evidence["G1"].note
    assert evidence["G1"].reproductions == {"G1:tests/test_g1.py": "pass"}


def counting(folder: Path, condition: str) -> dict[str, str]:
    """The repository with a test whose result depends on how many `runs` it had before."""
    flaky = (
        f"import pathlib\n\ncount = pathlib.Path({str(folder / 'runs')!r})\n\n"
        "def test_flaky():\n    runs = len(count.read_text()) if count.exists() else 0\n"
        f"    count.write_text('x' * (runs + 1))\n    assert {condition}\n"
    )
    return {**FILES, "tests/test_flaky.py": flaky}


async def test_a_test_that_passes_one_of_two_base_runs_does_not_count(
    bench: MakeSetting, tmp_path: Path
) -> None:
    """It fails ever after, and no candidate is blamed for it."""
    setting = bench(counting(tmp_path, "runs < 1"))
    assert not any("flaky" in test for test in (await setting.environment()).stable_passes)
    evidence, _ = await verified(setting, [candidate("G1", make_patch(FILES, {"shop.py": BREAKS}))])
    assert evidence["G1"].lost == ("tests/test_shop.py::Shop::test_total",)
    assert "flaky" not in evidence["G1"].note


async def test_a_flaky_test_is_not_lost(bench: MakeSetting, tmp_path: Path) -> None:
    """A test that fails once and passes alone is noted; one that fails again is lost."""
    setting = bench(counting(tmp_path, "runs != 2"))
    patch = make_patch(FILES, {"shop.py": BREAKS})
    evidence, _ = await verified(setting, [candidate("G1", patch)])
    assert evidence["G1"].lost == ("tests/test_shop.py::Shop::test_total",)
    assert "test_flaky" in evidence["G1"].note


async def test_a_lost_workspace_is_tried_once_more(bench: MakeSetting) -> None:
    """One loss is made good; two leave evidence that passes nothing, with the cause."""
    setting = bench()
    environment = await setting.environment()
    pool = [candidate("G1", shop(WHOLE))]
    setting.sandbox.to_lose = 1
    evidence, _ = await verify_pool(setting.services(), environment, pool, (ASKED,))
    assert evidence["G1"].regression_ran
    setting.journal.unlink()
    setting.sandbox.to_lose = 2
    evidence, _ = await verify_pool(setting.services(), environment, pool, (ASKED,))
    assert not evidence["G1"].regression_ran
    assert "went away" in evidence["G1"].note


async def test_reproductions_do_not_see_each_other(bench: MakeSetting) -> None:
    """The tree is put back between runs, also after a test that writes into it."""
    litter = SHOWS_TOTAL.replace("    assert", "    open('shop.py', 'w').write('')\n    assert")
    pool = [
        candidate("G1", shop(WHOLE), {"tests/test_g1.py": litter}),
        candidate("G2", shop(WHOLE), {"tests/test_g2.py": SHOWS_MEAN}),
    ]
    evidence, reproductions = await verified(bench(), pool)
    assert len(reproductions) == 2
    assert evidence["G1"].reproductions["G2:tests/test_g2.py"] == "pass"


async def test_a_repository_without_tests(bench: MakeSetting) -> None:
    """No suite and no reproduction: the vote alone decides, unless tests are required."""
    setting = bench({"shop.py": SHOP})
    pool = [candidate("G1", make_patch({"shop.py": SHOP}, {"shop.py": TOTAL}))]
    evidence, reproductions = await verified(setting, pool)
    assert not evidence["G1"].regression_ran
    assert vote(pool, evidence, reproductions, has_suite=False).winner == "G1"
    strict = vote(pool, evidence, reproductions, has_suite=False, require_tests=True)
    assert strict.winner is None
