"""What is kept of a choice until its outcome is known."""

from dataclasses import replace
from typing import Any

import pytest

from pipeline.choose.choice import Near, choice_of
from pipeline.choose.vote import vote
from pipeline.values import Candidate, Decision, Edit, Evidence, Plan, PolicyVerdict, Solution

PLAN = Plan("", Solution("", "", "", ()), ())


def evidence(name: str, key: str, symbols: str) -> Evidence:
    """Evidence of a candidate that passed everything; its edit has pieces of its own."""
    edit = Edit(key, ("a.py",), tuple(symbols.split()), ((key, 1),))
    return Evidence(name, PolicyVerdict(), True, True, edit, 4, regression_ran=True)


def decided(*seen: Evidence, **more: Any) -> Decision:
    """The decision over candidates of lineages of their own."""
    candidates = tuple(Candidate(each.candidate, "global", (), PLAN) for each in seen)
    table = {each.candidate: each for each in seen}
    ballot = replace(vote(candidates, table, [], has_suite=True), **more)
    return Decision("patch", "", candidates, table, ballot, (), (), "none", "", "")


def test_the_groups_and_the_first_two_are_kept() -> None:
    """The winner's own group first; means over all others, edits and definitions apart."""
    pool = (evidence("G1", "a", "f"), evidence("G2", "a", "f"), evidence("G3", "b", "f g"))
    decision = decided(*pool, evidence("G4", "c", "h"))
    found = choice_of(decision)
    assert found is not None
    assert found.confidence == decision.ballot.confidence
    assert found.groups == (2, 1, 1)
    assert found.winner == Near(edit=0.333333, symbols=0.5, files=1.0)
    assert found.runner_up == Near(edit=0.0, symbols=0.333333, files=1.0)


def test_one_alone_has_no_runner_up() -> None:
    """Nor has a pool in which all made one change."""
    alone = choice_of(decided(evidence("G1", "a", "f")))
    assert alone is not None
    assert (alone.winner, alone.runner_up) == (Near(0.0, 0.0, 0.0), None)
    same = choice_of(decided(evidence("G1", "a", "f"), evidence("G2", "a", "f")))
    assert same is not None
    assert same.runner_up is None


@pytest.mark.parametrize("missing", ["winner", "confidence"])
def test_where_nothing_was_chosen_nothing_is_kept(missing: str) -> None:
    """Neither without a winner nor for a decision of an older version."""
    assert choice_of(decided(evidence("G1", "a", "f"), **{missing: None})) is None
