"""Where parts come from, and the tree of candidates."""

from dataclasses import replace

import pytest

from app.messages.view import exploration, origins
from pipeline.values import Change
from tests.app.messages.conftest import candidate, make


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
