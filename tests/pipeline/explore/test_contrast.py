"""The contrast rule over ⟨R, E, M, C⟩."""

import pytest

from pipeline.explore.contrast import facts, too_close
from pipeline.model.verdicts import Contrast, Relation
from pipeline.values import Change, Plan, Solution


def entry(earlier: str, **relations: Relation) -> Contrast:
    """A comparison in which everything not named is the same."""
    dimensions: dict[str, Relation] = {
        "root_cause": "same",
        "expected_behaviour": "same",
        "strategy": "same",
        "context": "same",
        **relations,
    }
    return Contrast(earlier, reasons="", **dimensions)


def plan(strategy: str, path: str = "a.py") -> Plan:
    """A plan with nothing but a strategy and one edit point."""
    return Plan("s", Solution("r", "e", strategy, ()), (Change(path, "w"),))


@pytest.mark.parametrize(
    ("compared", "accepted"),
    [
        (entry("G1", strategy="different", root_cause="different"), True),
        (entry("G1", strategy="different", context="different"), True),
        (entry("G1", strategy="different", expected_behaviour="different"), True),
        (entry("G1", strategy="different"), False),
        (entry("G1", strategy="different", root_cause="refines"), False),
        (entry("G1", strategy="refines", root_cause="different", context="different"), False),
    ],
)
def test_strategy_and_one_more_dimension_must_differ(compared: Contrast, accepted: bool) -> None:
    """M different plus one of R, E, C is accepted; anything less is sent back."""
    found = too_close(plan("copy the values"), {"G1": plan("share one object")}, [compared])
    assert (not found) is accepted


@pytest.mark.parametrize("same", ["root_cause", "expected_behaviour", "strategy", "context"])
def test_the_strict_rule_wants_all_four(same: str) -> None:
    """One dimension that is not different is enough to be sent back, and is named."""
    names: tuple[str, ...] = ("root_cause", "expected_behaviour", "strategy", "context")
    relations: dict[str, Relation] = dict.fromkeys(names, "different")
    earlier, new = {"G1": plan("share one object")}, plan("copy the values")
    assert too_close(new, earlier, [entry("G1", **relations)], "all4") == ()
    (finding,) = too_close(new, earlier, [entry("G1", **{**relations, same: "refines"})], "all4")
    assert same.replace("_", " ") in finding


def test_the_mechanical_facts_are_recorded_for_each_earlier_solution() -> None:
    """Shared edit points and words are measured also where the model says nothing."""
    earlier = {"G1": plan("share one object"), "G2": plan("share another object", "b.py")}
    found = facts(plan("share one list"), earlier, [entry("G1", strategy="refines")])
    assert found == (
        "Against G1: root cause same, expected behaviour same, strategy refines, context same; "
        "100% of the edit points are shared, 50% of the strategies' words.",
        "Against G2: not compared; 0% of the edit points are shared, 20% of the strategies' words.",
    )


def test_a_near_duplicate_strategy_fails_whatever_the_model_says() -> None:
    """Reordered words with the same tokens are the same strategy."""
    compared = entry("G1", strategy="different", root_cause="different")
    found = too_close(plan("share one object"), {"G1": plan("One object: share!")}, [compared])
    assert found == ("The strategy repeats that of G1 almost word for word.",)


def test_every_earlier_solution_counts() -> None:
    """Being unlike G2 does not help a plan that is like G1."""
    earlier = {"G1": plan("x y z"), "G2": plan("u v w")}
    entries = [entry("G1"), entry("G2", strategy="different", context="different")]
    (finding,) = too_close(plan("share one object"), earlier, entries)
    assert "G1" in finding
    assert "100%" in finding
