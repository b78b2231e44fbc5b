"""What a row of the vote says is true of every candidate that it stands for."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.messages.groups import agreement, dissent, group_rows
from app.messages.view import tests_in_words as words
from pipeline.values import Ballot, Cluster, Decision, Gate
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
    whole = words(decision.evidence["G1"], len(decision.reproductions))
    alike = 1 + others.count(False)
    if alike == len(others) + 1:
        assert row.tests == whole
    else:
        assert row.tests == f"G1: {whole} (the same for {alike} of {len(others) + 1})"


def test_who_lost_inside_the_winning_group_is_told() -> None:
    """A change that stands beside the winner's may still break a test."""
    decision = of_group([False, True, False, True])
    gates = (Gate("G2", ("It breaks a test.",)), Gate("G4", ("It breaks another.",)))
    decision = replace(decision, ballot=replace(decision.ballot, gates=gates))
    assert dissent(decision) == ("**A**: not G2, G4. G2: It breaks a test. G4: It breaks another.",)
    assert dissent(of_group([False, False])) == ()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.booleans())
def test_no_reason_is_said_of_another_candidate(lost: list[int], won: bool) -> None:
    """A reason stands alone only when it is that of all; else beside the names of its own."""
    decision = of_group([*([False] if won else []), *[True] * len(lost)], "G1" if won else "")
    gates = tuple(
        Gate(f"G{n}", (f"It breaks {number} of them.",)) for n, number in enumerate(lost, 1 + won)
    )
    decision = replace(decision, ballot=replace(decision.ballot, gates=gates))
    (said,) = dissent(decision)
    kinds = dict.fromkeys(f"It breaks {number} of them." for number in lost)
    if len(kinds) == 1:
        assert said.endswith(f". {next(iter(kinds))}")
        return
    told = [
        f"{', '.join(g.candidate for g in gates if g.reasons == (kind,))}: {kind}" for kind in kinds
    ]
    assert [whole in said for whole in told] == [n < 3 for n in range(len(told))]
    assert ("more reason" in said) is (len(told) > 3)


def test_the_heading_counts_the_group() -> None:
    """Not those that made the very same change, which is another number."""
    assert agreement(make()) == "3 of 5 candidates in the winning group"
