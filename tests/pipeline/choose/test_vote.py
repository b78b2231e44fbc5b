"""Who may win and who does."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.choose.calibration import Calibration
from pipeline.choose.gate import counted, gate
from pipeline.choose.order import natural
from pipeline.choose.vote import NOBODY, cluster, vote
from pipeline.values import (
    NO_EDIT,
    Candidate,
    CheckStatus,
    Edit,
    Evidence,
    Plan,
    PolicyVerdict,
    Reproduced,
    Reproduction,
    Solution,
    Stage,
)

PLAN = Plan("", Solution("", "", "", ()), ())
STAGES: Mapping[str, Stage] = {"G": "global", "L": "local", "S": "synthesis"}


def candidate(name: str) -> Candidate:
    """A candidate of which only name and stage matter."""
    return Candidate(name, STAGES[name[0]], (), PLAN)


def seen(name: str, key: str = "k", **more: object) -> Evidence:
    """Evidence of a candidate that passed everything there is."""
    fields = {"regression_ran": True, "changed_lines": 4, **more}
    return replace(Evidence(name, PolicyVerdict(), True, True, Edit(key)), **fields)  # type: ignore[arg-type]


def written(author: str) -> Reproduced:
    """A validated reproduction."""
    return Reproduced(f"{author}:t.py", Reproduction("t.py", author, author), ("t.py::test",))


def pool(*evidence: Evidence) -> tuple[list[Candidate], dict[str, Evidence]]:
    """Candidates and evidence as `vote` takes them."""
    return [candidate(each.candidate) for each in evidence], {e.candidate: e for e in evidence}


def passing(name: str, by: str, key: str = "k", **more: CheckStatus) -> Evidence:
    """Evidence with `pass` on the reproductions whose authors `by` lists."""
    statuses = {f"{author}:t.py": "pass" for author in by.split()}
    return seen(name, key, reproductions={**statuses, **{f"{a}:t.py": s for a, s in more.items()}})


def reasons(
    *evidence: Evidence, by: str = "", has_suite: bool = True, require_tests: bool = False
) -> dict[str, tuple[str, ...]]:
    """The gate's reasons by candidate."""
    candidates, table = pool(*evidence)
    gates = gate(
        candidates,
        table,
        [written(author) for author in by.split()],
        has_suite=has_suite,
        require_tests=require_tests,
    )
    return {each.candidate: each.reasons for each in gates}


def test_ids_have_a_natural_order() -> None:
    """Global, local, synthesis; numbers as numbers; anything else last."""
    names = ["S1", "L1.10", "x", "G2", "L1.2", "G10", "L2.1", "G1"]
    assert sorted(names, key=natural) == ["G1", "G2", "G10", "L1.2", "L1.10", "L2.1", "S1", "x"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"policy": PolicyVerdict(("a.py: no.",))}, "policy"),
        ({"applies": False, "edit": NO_EDIT}, "apply"),
        ({"parses": False}, "parse"),
        ({"undefined": ("np (a.py)", "pd (a.py)")}, "nothing defines: np (a.py), pd (a.py)."),
        ({"edit": NO_EDIT}, "comments"),
        ({"regression_ran": False}, "no verdict"),
        ({"regression_ran": False, "note": "The suite printed without end."}, "without end"),
        (
            {"regression_ran": False, "skipped": "it fails a reproduction"},
            "it fails a reproduction",
        ),
        ({"lost": ("t::a", "t::b")}, "2 tests"),
    ],
)
def test_each_clause_of_the_gate(change: dict[str, object], word: str) -> None:
    """One fact is enough to keep a candidate from winning, and the reason says which."""
    good, bad = seen("G1"), replace(seen("G2"), **change)  # type: ignore[arg-type]
    found = reasons(good, bad)
    assert found["G1"] == ()
    assert len(found["G2"]) == 1
    assert word in found["G2"][0]


def test_a_held_patch_may_win() -> None:
    """A finding that waits for a person does not lose the work."""
    assert reasons(seen("G1", policy=PolicyVerdict((), ("setup.py: changes a script.",)))) == {
        "G1": ()
    }


def test_no_suite_is_no_obstacle_unless_tests_are_required() -> None:
    """Without any test that passes on the base the suite's clause is dropped, or everything."""
    quiet = seen("G1", regression_ran=False)
    assert reasons(quiet, has_suite=False) == {"G1": ()}
    assert "ask for one" in reasons(quiet, has_suite=False, require_tests=True)["G1"][0]


def test_a_missing_report_is_never_a_pass() -> None:
    """A candidate whose reproduction or suite gave nothing does not stand beside one that ran."""
    found = reasons(
        passing("G1", "G3", G2="pass"),
        passing("G2", "G2 G3", "k2"),
        passing("G3", "G3", "k3", G2="missing"),
        passing("S1", "", "k4", G2="missing", G3="missing"),
        by="G2 G3",
    )
    assert found["G1"] == found["G2"] == ()
    assert "1 of 2" in found["G3"][0]
    assert "passes no reproduction" in found["S1"][0]


def test_without_evidence_nobody_passes() -> None:
    """A candidate that was never verified may not win."""
    candidates, _ = pool(seen("G1"))
    assert not gate(candidates, {}, [], has_suite=False)[0].ok


@pytest.mark.parametrize("status", ["fail", "error", "timeout"])
def test_failing_a_counted_reproduction_never_wins(status: CheckStatus) -> None:
    """Half of a fix passes one reproduction and fails the other: the whole fix alone may win."""
    found = reasons(
        passing("G1", "G1", G2=status),
        passing("G2", "G2", "k2", G1=status),
        passing("S1", "G1 G2", "k3"),
        by="G1 G2",
    )
    assert found["S1"] == ()
    assert "(by G2)" in found["G1"][0]
    assert "(by G1)" in found["G2"][0]


def test_nobody_wins_when_each_one_fails_a_counted_reproduction() -> None:
    """Only wholes are published: two halves that witness each other's other half abstain."""
    found = reasons(
        passing("G1", "G1 S1", G2="fail"),
        passing("G2", "G2", "k2", G1="fail", S1="fail"),
        passing("L1.1", "G1 S1", "k3", G2="fail"),
        passing("S1", "G2", "k4", G1="fail", S1="pass"),
        by="G1 G2 S1",
    )
    assert all(found.values())


def test_a_reproduction_that_only_its_author_passes_is_not_counted() -> None:
    """Failing it costs nothing while another one is counted, and nobody has to pass it."""
    evidence = (
        passing("G1", "G1 S1", G2="fail"),
        passing("G2", "G1 G2 S1"),
        passing("S1", "G1 S1", G2="fail"),
    )
    assert reasons(*evidence, by="G1 G2 S1") == {"G1": (), "G2": (), "S1": ()}
    _, table = pool(*evidence)
    assert [each.id for each in counted(table, map(written, ("S1", "G2", "G1")))] == [
        "G1:t.py",
        "S1:t.py",
    ]


def test_when_only_authors_pass_nobody_may_win() -> None:
    """Validated but uncounted reproductions keep the clause: the run abstains."""
    found = reasons(passing("G1", "G1", G2="fail"), passing("G2", "G2", "k", G1="fail"), by="G1 G2")
    assert all("anybody but its author" in why for [why] in found.values())


def test_without_any_validated_reproduction_the_clause_is_dropped() -> None:
    """Then suite and vote decide."""
    assert reasons(seen("G1"), seen("G2")) == {"G1": (), "G2": ()}


def test_witnesses_need_not_be_able_to_win() -> None:
    """A candidate that breaks the suite still says that a reproduction can be passed."""
    breaker = replace(passing("G2", "G1"), lost=("t::x",))
    found = reasons(passing("S1", "G1", "k2"), breaker, seen("G1", "k3"), by="G1")
    assert found["S1"] == ()
    assert found["G2"]


def test_clusters_are_equal_keys_and_empty_keys_stand_alone() -> None:
    """Nothing is merged but the same change."""
    candidates, table = pool(seen("S1", "a"), seen("G1", "a"), seen("G2", ""), seen("L1.1", ""))
    assert cluster(candidates, table) == (("G1", "S1"), ("G2",), ("L1.1",))


def decide(*evidence: Evidence, by: str = "") -> tuple[str | None, list[int], str]:
    """Winner, votes in the table's order, rule."""
    candidates, table = pool(*evidence)
    ballot = vote(candidates, table, [written(a) for a in by.split()], has_suite=True)
    assert sum(group.votes for group in ballot.clusters) == len(candidates)
    return ballot.winner, [group.votes for group in ballot.clusters], ballot.rule


def test_three_two_one() -> None:
    """The largest group wins, and the rule says by how much."""
    winner, votes, rule = decide(
        *(seen(name, "a") for name in ("G1", "L1.1", "S1")),
        *(seen(name, "b") for name in ("G2", "L2.1")),
        seen("G3", "c"),
    )
    assert (winner, votes) == ("S1", [3, 2, 1])
    assert "3 of 6" in rule


def test_all_groups_are_shown_and_only_gated_ones_win() -> None:
    """Four that break a test lose to one that does not, and stand in the table with their votes."""
    broken = [seen(f"G{n}", "a", lost=("t::x",)) for n in range(1, 5)]
    candidates, table = pool(*broken, seen("S1", "b"))
    ballot = vote(candidates, table, [], has_suite=True)
    assert ballot.winner == "S1"
    assert [(c.label, c.votes, c.gated) for c in ballot.clusters] == [
        ("A", 1, ("S1",)),
        ("B", 4, ()),
    ]
    assert "only group" in ballot.rule


@pytest.mark.parametrize(
    ("one", "other", "winner", "word"),
    [
        (seen("G1"), seen("S1", "b"), "S1", "synthesis"),
        (seen("G1", changed_lines=9), seen("G2", "b", changed_lines=2), "G2", "fewer lines"),
        (seen("L1.10", "b"), seen("L1.2"), "L1.2", "lowest id"),
    ],
)
def test_ties_go_down_the_list(one: Evidence, other: Evidence, winner: str, word: str) -> None:
    """Equal votes and tests: a synthesis, then fewer changed lines, then the lowest id."""
    found, _, rule = decide(one, other)
    assert found == winner
    assert word in rule


def test_own_tests_are_no_cross_tests() -> None:
    """An author gains nothing from passing what it wrote itself."""
    author, reader = passing("G1", "G1 S9"), passing("G2", "G1 S9", "b")
    found, _, rule = decide(author, reader, by="G1 S9")
    assert found == "G2"
    assert "(2 against 1)" in rule


def test_within_the_group_the_same_rest_decides() -> None:
    """Cross tests, synthesis, fewer lines, lowest id; members outside the gate are passed over."""
    assert decide(seen("G1"), seen("S1"), seen("S2"))[0] == "S1"
    assert decide(seen("G1", changed_lines=1), seen("G2", changed_lines=3))[0] == "G1"
    assert decide(seen("S1", lost=("t::x",)), seen("G1"), seen("G2"))[0] == "G1"


def test_nobody_wins_an_empty_or_failed_pool() -> None:
    """Abstaining is a result: all groups are still in the table."""
    assert decide() == (None, [], NOBODY)
    assert decide(seen("G1", lost=("t::x",)), seen("G2", "")) == (None, [1, 1], NOBODY)


statuses = st.sampled_from(["pass", "fail", "error", "timeout", "missing"])
names = st.sampled_from(["G1", "G2", "G3", "L1.1", "L2.1", "L2.2", "S1", "S2"])
authors = st.sampled_from(["G1", "G2", "S1", "S9"])
evidences = st.builds(
    lambda name, key, lines, lost, ran, results: seen(
        name,
        key,
        changed_lines=lines,
        lost=("t::x",) if lost else (),
        regression_ran=ran,
        reproductions={f"{author}:t.py": status for author, status in results.items()},
    ),
    names,
    st.sampled_from(["a", "b", "c", ""]),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.dictionaries(authors, statuses),
)
pools = st.lists(evidences, max_size=8, unique_by=lambda each: each.candidate)


@given(pools, st.lists(authors, unique=True), st.booleans(), st.randoms(use_true_random=False))
def test_the_ballot_does_not_depend_on_order(
    evidence: list[Evidence], by: list[str], has_suite: bool, dice: random.Random
) -> None:
    """Shuffling candidates, evidence and reproductions gives the very same ballot."""
    candidates, table = pool(*evidence)
    ballot = vote(candidates, table, [written(a) for a in by], has_suite=has_suite)
    for each in (candidates, evidence, by):
        dice.shuffle(each)
    again = {each.candidate: each for each in evidence}
    assert vote(candidates, again, [written(a) for a in by], has_suite=has_suite) == ballot


numbers = st.floats(-9, 9)


@given(pools, st.lists(authors, unique=True), st.builds(Calibration, numbers, numbers, numbers))
def test_a_calibration_changes_what_is_said_and_nothing_else(
    evidence: list[Evidence], by: list[str], calibration: Calibration
) -> None:
    """Winner, rule, groups and scores are those of the same vote without one."""
    candidates, table = pool(*evidence)
    tests = [written(author) for author in by]
    bare = vote(candidates, table, tests, has_suite=True)
    told = vote(candidates, table, tests, has_suite=True, table=calibration)
    assert replace(told, confidence=bare.confidence) == bare
    if bare.winner is not None:
        assert told.confidence is not None
        assert 0 < (told.confidence.probability or 0) < 1


@given(pools, st.lists(authors, unique=True), st.booleans())
def test_the_winner_is_always_one_that_may_win(
    evidence: list[Evidence], by: list[str], has_suite: bool
) -> None:
    """Somebody wins exactly when a gate is open; votes sum up; the winner's group comes first."""
    candidates, table = pool(*evidence)
    tests = [written(a) for a in by]
    ballot = vote(candidates, table, tests, has_suite=has_suite, rule="majority")
    soft = vote(candidates, table, tests, has_suite=has_suite)
    assert (soft.winner is None) == (ballot.winner is None)
    assert soft.winner is None or soft.winner in soft.clusters[0].gated
    open_gates = {each.candidate for each in ballot.gates if each.ok}
    assert (ballot.winner is None) == (not open_gates)
    assert sum(group.votes for group in ballot.clusters) == len(candidates)
    if ballot.winner is not None:
        assert ballot.winner in open_gates & set(ballot.clusters[0].gated)
        most = max(group.votes for group in ballot.clusters if group.gated)
        assert ballot.clusters[0].votes == most


@given(pools, st.lists(authors, unique=True, min_size=1))
def test_missing_never_helps(evidence: list[Evidence], by: list[str]) -> None:
    """Turning every missing result into nothing at all changes no gate."""
    candidates, table = pool(*evidence)
    bare = {
        name: replace(
            each, reproductions={k: v for k, v in each.reproductions.items() if v != "missing"}
        )
        for name, each in table.items()
    }
    tests = [written(author) for author in by]
    assert gate(candidates, table, tests, has_suite=True) == gate(
        candidates, bare, tests, has_suite=True
    )
