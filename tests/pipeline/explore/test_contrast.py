"""The contrast rule over ⟨R, E, M, C⟩."""

import pytest

from pipeline.explore.contrast import too_close
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
