"""The branching point of a local exploration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.explore.branch import WEIGHTS, branch_point, costs, repair_order, share_valid


def test_the_worked_example() -> None:
    """L = 4 with the permutation [2, 1, 3, 0, 4] gives the published costs and s* = 2."""
    assert costs([2, 1, 3, 0, 4], 4) == (1.75, 1.00, 0.50, 0.75, 1.00)
    assert branch_point([2, 1, 3, 0, 4], 4) == 2
    assert branch_point([2, 1, 3, 0, 4], 4, weight_context=0.3, weight_convergence=0.7) == 2


def test_the_last_step_is_never_a_branching_point() -> None:
    """s4 is cheapest of all in [1, 4, 2, 3, 0], but it only re-words the plan: s1 wins."""
    assert costs([1, 4, 2, 3, 0], 4) == (2.00, 0.75, 1.00, 1.00, 0.25)
    assert branch_point([1, 4, 2, 3, 0], 4) == 1


def test_the_presets_weigh_differently() -> None:
    """The paper's takes the late step that ranks second, the authors' code the first in rank."""
    order = [1, 3, 2, 0, 4]
    assert {name: branch_point(order, 4, (), *pair) for name, pair in WEIGHTS.items()} == {
        "page": 3,
        "code": 1,
    }


def test_ties_go_to_the_earlier_step() -> None:
    """With the identity as order every step costs the same, so the least committed one wins."""
    assert set(costs(range(5), 4)) == {1.0}
    assert branch_point(list(range(5)), 4) == 1


@pytest.mark.parametrize(
    ("order", "last", "repaired"),
    [
        ([2, 2, 9], 2, (2, 0, 1)),
        ([], 3, (0, 1, 2, 3)),
        ([-1, 3], 3, (3, 0, 1, 2)),
    ],
)
def test_bad_permutations_are_repaired(
    order: list[int], last: int, repaired: tuple[int, ...]
) -> None:
    """Unknown and repeated indices are dropped, missing ones follow in ascending order."""
    assert repair_order(order, last) == repaired


@pytest.mark.parametrize("last", [0, 1])
def test_short_trajectories_have_no_branching_point(last: int) -> None:
    """With less than two steps there is nothing to keep that is not the whole plan."""
    assert branch_point(list(range(last + 1)), last) is None


def test_a_used_point_is_left_out_until_nothing_else_remains() -> None:
    """The second branch of a parent leaves elsewhere; with one eligible step it may repeat."""
    assert branch_point([2, 1, 3, 0, 4], 4, used={2}) == 3
    assert branch_point([1, 0, 2], 2, used={1}) == 1


@given(st.lists(st.integers(-3, 12)), st.integers(2, 9))
def test_any_answer_gives_an_eligible_step_of_least_cost(order: list[int], last: int) -> None:
    """Whatever the model answers, s* is eligible and no eligible step is cheaper."""
    step = branch_point(order, last)
    f = costs(order, last)
    assert step is not None
    assert 1 <= step < last
    assert f[step] == min(f[1:last])
    assert sorted(repair_order(order, last)) == list(range(last + 1))
    assert 0 <= share_valid(order, last) <= 1
