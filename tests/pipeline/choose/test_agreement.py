"""Lineages, clusters, confidence, and when the rest of a pool need not be run."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.choose.calibration import (
    MIN_OUTCOMES,
    SHIPPED,
    Outcome,
    brier,
    calibrate,
    constant,
    fit,
    held_out,
    probability,
)
from pipeline.choose.cluster import cluster
from pipeline.choose.confidence import band, confidence
from pipeline.choose.gate import counted
from pipeline.choose.lineage import lineages
from pipeline.choose.settle import settled
from pipeline.choose.vote import vote
from pipeline.values import (
    Candidate,
    CheckStatus,
    Contest,
    ContestVote,
    Edit,
    Evidence,
    Plan,
    PolicyVerdict,
    Reproduced,
    Reproduction,
    Solution,
    Stage,
    VoteRule,
)

PLAN = Plan("", Solution("", "", "", ()), ())
STAGES: dict[str, Stage] = {"G": "global", "L": "local", "S": "synthesis"}
TEST = Reproduced("G9:t.py", Reproduction("t.py", "", "G9"), ("t.py::test",))


def candidate(name: str, *parents: str) -> Candidate:
    """A candidate of which stage and parents matter."""
    return Candidate(name, STAGES[name[0]], parents, PLAN)


def seen(name: str, key: str, symbols: str = "", test: CheckStatus = "missing") -> Evidence:
    """Evidence with an edit of the given definitions, and a result on the one test."""
    edit = Edit(key, ("a.py",), tuple(symbols.split()), ((key, 1),))
    return Evidence(
        name,
        PolicyVerdict(),
        True,
        True,
        edit,
        4,
        regression_ran=True,
        reproductions={TEST.id: test},
    )


def table(*evidence: Evidence) -> tuple[list[Candidate], dict[str, Evidence]]:
    """Candidates without parents, and evidence by id."""
    return [candidate(each.candidate) for each in evidence], {e.candidate: e for e in evidence}


def test_lineages_follow_independent_decisions() -> None:
    """Paths and first branches are their own; a second branch and a synthesis are not."""
    found = lineages(
        [
            candidate("G1"),
            candidate("L1.1", "G1"),
            candidate("L1.2", "G1"),
            candidate("S1", "G1", "L1.2"),
            candidate("S2", "S1", "G2"),
            candidate("S3"),
        ]
    )
    assert found == {
        "G1": ("G1",),
        "L1.1": ("L1.1",),
        "L1.2": ("L1.1",),
        "S1": ("G1", "L1.1"),
        "S2": ("G1", "G2", "L1.1"),
        "S3": ("S3",),
    }


def test_without_tests_those_who_change_the_same_definitions_stand_together() -> None:
    """A vote on the location; another set of definitions, or none known, stands apart."""
    pool = table(
        seen("G1", "a", "a.py:f"),
        seen("G2", "b", "a.py:f"),
        seen("G3", "c", "a.py:f a.py:g"),
        seen("G4", "d"),
        seen("G5", "e"),
    )
    assert cluster(*pool) == (("G1", "G2"), ("G3",), ("G4",), ("G5",))


def test_where_tests_split_the_pool_behaviour_counts() -> None:
    """The same results and a common definition are one cluster; a missing result merges nothing."""
    candidates, evidence = table(
        seen("G1", "a", "a.py:f", "pass"),
        seen("G2", "b", "a.py:f a.py:g", "pass"),
        seen("G3", "c", "a.py:f", "fail"),
        seen("G4", "d", "a.py:h", "pass"),
        seen("G5", "e", "a.py:f"),
    )
    found = cluster(candidates, evidence, counted(evidence, [TEST]))
    assert found == (("G1", "G2"), ("G3",), ("G4",), ("G5",))


def test_the_vote_looks_at_agreement_in_part() -> None:
    """All different: the one whose place most others share wins, and nobody has to be asked."""
    evidence = [seen(f"G{n}", f"k{n}", place) for n, place in enumerate(["f", "f", "f g", "h"], 1)]
    ballot = vote(*table(*evidence), [], has_suite=True)
    assert ballot.winner in {"G1", "G2"}
    assert ballot.scores["G1"] > ballot.scores["G3"] > ballot.scores["G4"]
    assert ballot.confidence is not None
    assert (ballot.confidence.band, ballot.confidence.lineages) == ("weak", 1)


def test_who_may_not_win_may_vote() -> None:
    """A patch that breaks a test still says where the fix belongs."""
    broken = [replace(seen(f"G{n}", "x", "f"), lost=("t::x",)) for n in (3, 4)]
    ballot = vote(*table(seen("G1", "a", "h"), seen("G2", "b", "f"), *broken), [], has_suite=True)
    assert ballot.winner == "G2"


@pytest.mark.parametrize(
    ("lineages_", "valid", "tested", "expected"),
    [
        (1, 12, False, "weak"),
        (2, 12, False, "fair"),
        (3, 12, False, "strong"),
        (3, 5, False, "fair"),
        (1, 2, False, "weak"),
        (1, 12, True, "fair"),
        (2, 12, True, "strong"),
        (5, 12, True, "strong"),
    ],
)
def test_bands(lineages_: int, valid: int, tested: bool, expected: str) -> None:
    """Lineages first; a pool mostly invalid is a step down, a test passed a step up."""
    assert band(lineages_, valid, 12, tested=tested) == expected


def test_a_probability_needs_outcomes_of_ones_own() -> None:
    """The shipped values give none; those fitted here do."""
    bare = confidence(["G1"], {}, valid=1, total=2, tested=False)
    told = confidence(["G1"], {}, valid=1, total=2, tested=False, table=SHIPPED)
    assert bare.probability is None
    assert told.probability == probability(SHIPPED, 1.0, 0.5)


drawn = st.builds(Outcome, st.floats(0, 6), st.floats(0, 1), st.booleans())


@given(st.lists(drawn, max_size=MIN_OUTCOMES - 1))
def test_too_few_outcomes_give_no_calibration(outcomes: list[Outcome]) -> None:
    """Below fifty there is none."""
    assert calibrate(outcomes) is None


@settings(max_examples=40, deadline=None)
@given(st.lists(drawn, min_size=MIN_OUTCOMES, max_size=90))
def test_calibration_never_does_worse_than_the_base_rate(outcomes: list[Outcome]) -> None:
    """On the outcomes it was made of it is no worse than saying the share of right ones."""
    found = calibrate(outcomes)
    assert found is not None
    share = sum(each.right for each in outcomes) / len(outcomes)
    plain = sum((share - each.right) ** 2 for each in outcomes) / len(outcomes)
    assert brier(found, outcomes) <= plain + 0.001
    assert found.outcomes == len(outcomes)


def test_agreement_that_says_nothing_gives_the_plain_share() -> None:
    """On outcomes that have nothing to do with it, a fit loses on those it was not made of."""
    dice = random.Random(14)
    outcomes = [Outcome(dice.uniform(1, 4), dice.random(), dice.random() < 0.6) for _ in range(60)]
    fitted, plain = held_out(outcomes)
    assert fitted > plain
    assert brier(fit(outcomes), outcomes) < brier(constant(outcomes), outcomes)
    assert calibrate(outcomes) == constant(outcomes)


@settings(max_examples=40, deadline=None)
@given(st.lists(drawn, min_size=MIN_OUTCOMES, max_size=90))
def test_what_is_shown_won_on_outcomes_it_was_not_made_of(outcomes: list[Outcome]) -> None:
    """Five parts, each judged by the other four, whatever the outcomes are."""
    fitted, plain = held_out(outcomes)
    wanted = fit(outcomes) if fitted < plain else constant(outcomes)
    assert calibrate(outcomes) == wanted


def test_calibration_finds_what_made_the_outcomes() -> None:
    """Outcomes drawn from a formula give its probabilities back, far from the shipped ones."""
    dice = random.Random(7)
    outcomes = []
    for _ in range(3_000):
        eff, share = dice.uniform(1, 4), dice.uniform(0.4, 1)
        right = dice.random() < probability(replace(SHIPPED, intercept=0.0), eff, share)
        outcomes.append(Outcome(eff, share, right))
    found = calibrate(outcomes)
    assert found is not None
    assert probability(found, 2.0, 0.8) == pytest.approx(
        probability(replace(SHIPPED, intercept=0.0), 2.0, 0.8), abs=0.03
    )


def why_settled(
    candidates: list[Candidate],
    evidence: dict[str, Evidence],
    tests: list[Reproduced],
    remaining: int,
    rule: VoteRule = "soft",
) -> str:
    """Why a run with a suite is settled by the ballot over this pool."""
    ballot = vote(candidates, evidence, tests, has_suite=True, rule=rule)
    return settled(ballot, evidence, has_suite=True, remaining=remaining)


def test_two_lineages_with_all_evidence_settle_a_run() -> None:
    """One lineage, a missing test or an open tie does not."""
    two = table(seen("G1", "a", "f", "pass"), seen("G2", "a", "f", "pass"))
    assert "2 separate" in why_settled(*two, [TEST], 3)
    assert why_settled(*two, [], 3) == ""
    alone = table(seen("G1", "a", "f", "pass"), seen("G2", "b", "f", "pass"))
    assert why_settled(*alone, [TEST], 3) == ""
    branches = [candidate("L1.1", "G1"), candidate("L1.2", "G1")]
    evidence = {each.id: replace(two[1]["G1"], candidate=each.id) for each in branches}
    assert why_settled(branches, evidence, [TEST], 3) == ""


def test_a_lead_that_cannot_be_caught_settles_a_plain_count() -> None:
    """Three against none with two left; not with three left."""
    pool = table(*(seen(f"G{n}", "a", "f") for n in (1, 2, 3)))
    assert why_settled(*pool, [], 2, "majority")
    assert why_settled(*pool, [], 3, "majority") == ""
    assert why_settled(*pool, [], 2) == ""


def ballots(*sizes: int, rule: str, contest: Contest | None = None) -> tuple[str | None, int]:
    """Winner, and how many are tied, among groups of the given sizes."""
    evidence = [
        seen(f"G{group}{member}", f"k{group}")
        for group, size in enumerate(sizes, 1)
        for member in range(size)
    ]
    evidence = [replace(each, edit=Edit(each.key)) for each in evidence]
    found = vote(*table(*evidence), [], has_suite=True, rule=rule, contest=contest)  # type: ignore[arg-type]
    return found.winner, len(found.tie)


@pytest.mark.parametrize("rule", ["soft", "majority"])
def test_golden_votes(rule: str) -> None:
    """3/2/1 is decided; 2/2 and all singles are for a contest; an empty pool abstains."""
    assert ballots(3, 2, 1, rule=rule) == ("G10", 0)
    assert ballots(2, 2, rule=rule) == ("G10", 2)
    assert ballots(1, 1, 1, rule=rule) == ("G10", 3)
    assert ballots(rule=rule) == (None, 0)
    assert ballots(1, rule=rule) == ("G10", 0)


@pytest.mark.parametrize("rule", ["soft", "majority"])
def test_a_contest_decides_a_tie_and_nothing_else(rule: str) -> None:
    """Votes for the tied count; without a valid one the rest of the rule does."""
    chosen = [ContestVote(name, "high", "") for name in ("G20", "G20", "G10", "", "G99")]
    assert ballots(2, 2, rule=rule, contest=Contest(tuple(chosen))) == ("G20", 0)
    assert ballots(3, 2, rule=rule, contest=Contest(tuple(chosen))) == ("G10", 0)
    assert ballots(2, 2, rule=rule, contest=Contest(tuple(chosen[3:]))) == ("G10", 0)
