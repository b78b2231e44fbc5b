"""Votes of a contest: labels by lot, and when more of them would change nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.contest.tally import is_decided, labelled
from pipeline.values import ContestVote

NAMES = ("G1", "L1.1", "L1.2", "S1", "S2")


def votes(chosen: str) -> list[ContestVote]:
    """One vote per letter; "." is one that was dropped."""
    return [ContestVote("" if each == "." else each, "low", "") for each in chosen]


@pytest.mark.parametrize(
    ("given_so_far", "decided"),
    [
        ("", False),
        ("a", False),
        ("aa", False),  # 2 against 0 with 3 to come: bbb would turn it
        ("aaa", True),
        ("aab", False),
        ("aabb", False),
        ("aaba", True),  # 3 against 1 with 1 to come
        ("..", False),
        ("..a", False),
        ("..aa", True),  # 2 against 0 with 1 to come: dropped votes are spent
        ("abcab", True),
        (".....", True),
    ],
)
def test_it_stops_when_the_lead_is_larger_than_what_remains(
    given_so_far: str, decided: bool
) -> None:
    """Of five votes; what was dropped counts for nobody and is not asked again."""
    assert is_decided(votes(given_so_far), 5) is decided


@given(st.text("abc.", max_size=5), st.text("abc.", max_size=5))
def test_once_decided_no_further_votes_change_the_leader(seen: str, more: str) -> None:
    """Whatever the remaining selectors would say, the same candidate leads."""
    if not is_decided(votes(seen), 5) or len(seen) == 5:
        return
    whole = (seen + more)[:5]
    best = max("abc", key=seen.count)
    assert all(whole.count(best) > whole.count(other) for other in "abc" if other != best)


def test_labels_are_drawn_by_lot_and_the_same_again() -> None:
    """Order of the pool and process do not matter; votes differ in their order."""
    first = labelled(NAMES, "run-7", 1)
    assert first == labelled(tuple(reversed(NAMES)), "run-7", 1)
    assert sorted(first.values()) == sorted(NAMES)
    assert list(first) == ["A", "B", "C", "D", "E"]
    assert len({tuple(labelled(NAMES, "run-7", n).values()) for n in range(1, 6)}) > 1
    # written down, so that another version of the lot is noticed: journals hold what it drew
    assert list(first.values()) == ["L1.1", "G1", "S2", "S1", "L1.2"]
