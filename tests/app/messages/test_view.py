"""What the tables say is true of every candidate that they stand for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.messages import view
from app.messages.view import agreement, exploration, group_rows, origins
from pipeline.values import Ballot, Change, Cluster, Decision
from tests.app.messages.conftest import candidate, evidence, make

LOSES = ("tests/t.py::test_a",)


def of_group(lost: list[bool], winner: str = "G1") -> Decision:
    """A decision with one group whose members lose a test or do not; the winner is one of them."""
    names = tuple(f"G{n}" for n in range(1, len(lost) + 1))
    seen = {
        name: evidence(name, lost=LOSES if loses else ())
        for name, loses in zip(names, lost, strict=True)
    }
    passed = tuple(name for name in names if not seen[name].lost)
    ballot = Ballot((Cluster("A", names, len(names), passed),), (), winner, "rule")
    candidates = tuple(candidate(name, "x", "diff") for name in names)
    return replace(make(), candidates=candidates, evidence=seen, ballot=ballot)


@given(st.lists(st.booleans(), max_size=9))
def test_a_row_says_for_how_many_it_holds(others: list[bool]) -> None:
    """The shown result is the winner's; the number tells who shares it, none is said for all."""
    decision = of_group([False, *others])
    (row,) = group_rows(decision)
    whole = view.tests_in_words(decision.evidence["G1"], len(decision.reproductions))
    alike = 1 + others.count(False)
    if alike == len(others) + 1:
        assert row.tests == whole
    else:
        assert row.tests == f"G1: {whole} ({alike} of {len(others) + 1} so)"


def test_the_heading_counts_the_group() -> None:
    """Not those that made the very same change, which is another number."""
    assert agreement(make()) == "3 of 5 candidates in the winning group"


@pytest.mark.parametrize("name", ["L1.1", "S1"])
def test_a_winner_made_from_another_plan_says_what_it_took(name: str) -> None:
    """A variant keeps the explanation; what its parent would have done stands beside it."""
    decision = make()
    plan = replace(candidate(name, "x").plan, changes=(Change("a.py", "x", "f", "x", (name,)),))
    found = replace(candidate(name, "x"), parents=("G1",), plan=plan)
    rest = tuple(each for each in decision.candidates if each.id != name)
    ballot = replace(decision.ballot, winner=name)
    (told,) = origins(replace(decision, candidates=(found, *rest), ballot=ballot))
    parent = next(each for each in rest if each.id == "G1")
    assert parent.plan.summary in told
    assert ("repaired in another way" in told) == (name == "L1.1")


def test_a_cut_cause_shows_that_it_is_cut() -> None:
    """No sentence ends in the middle of a word as if that were all of it."""
    long = candidate("G1", "long words " * 60, "diff")
    line = exploration(replace(make(), candidates=(long,))).splitlines()[1]
    assert line.endswith("long …")
    assert len(line) < 200
