"""Played runs follow the product's rules: efforts differ in coders, not in what counts."""

import pytest

from bench.task_effort import FIXES, Known, Played, play, table
from pipeline.choose.edit import Edit
from pipeline.values import Evidence, PolicyVerdict, Reproduced, Reproduction

TEST = Reproduced("G1:t.py", Reproduction("t.py", "x", "G1"), ("t.py::test_x",))


def seen(key: str, status: str, lost: tuple[str, ...] = ()) -> Evidence:
    """Evidence of a patch whose suite ran."""
    return Evidence(
        key,
        PolicyVerdict(),
        True,
        True,
        edit=Edit(key, ("a.py",), (f"a.py:{key}",)),
        changed_lines=2,
        regression_ran=True,
        regression_passed=3 - len(lost),
        lost=lost,
        reproductions={TEST.id: status},  # type: ignore[dict-item]
    )


def played(*wrong: Evidence) -> dict[tuple[str, int], Played]:
    """A task whose fix passes the reproduction, by effort and number of fixes."""
    evidence = (seen("fix", "pass"), *wrong)
    patches = tuple(each.candidate for each in evidence)
    task = Known("t", patches, evidence, (TEST,), has_suite=True)
    return {(each.effort, each.fixes): each for each in play([task], 40)}


@pytest.mark.parametrize("fixes", FIXES)
def test_the_fix_wins_with_fewer_coders(fixes: int) -> None:
    """Stopping when nothing is missing loses no right choice; lean may lack the evidence."""
    found = played(seen("half", "fail"), seen("broken", "pass", ("t.py::test_old",)))
    full, adaptive = found["full", fixes], found["adaptive", fixes]
    assert (full.coders, full.right, full.wrong) == (12.0, 100.0, 0.0)
    assert adaptive.right == 100.0
    assert 3.0 < adaptive.coders < 12.0
    assert found["lean", fixes].coders == 3.0
    assert found["lean", fixes].right < 100.0


def test_more_fixes_need_fewer_coders() -> None:
    """Two lineages that agree come sooner."""
    found = played(seen("half", "fail"))
    coders = [found["full, stopping early", fixes].coders for fixes in FIXES]
    assert coders == sorted(coders, reverse=True)
    assert len(table(list(found.values())).splitlines()) == 2 + len(found)
