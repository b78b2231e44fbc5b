"""Which turns are a circle, and that nothing else is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.agent.stuck import LONGEST, MAX_WARNINGS, Warned, circle_in
from pipeline.agent.transcript import Turn


def turn(call: Any = None, result: str = "", *, is_error: bool = False, told: str = "") -> Turn:
    """One call and its result; words only when `call` is None."""
    if call is None:
        return Turn(({"type": "text", "text": "Hm."},), ({"type": "text", "text": "Call one."},))
    block = {"type": "tool_use", "id": "t", "name": "shell", "input": {"command": call}}
    seen = {"type": "tool_result", "tool_use_id": "t", "content": result}
    text = [{"type": "text", "text": told}] if told else []
    return Turn((block,), ({**seen, "is_error": True} if is_error else seen, *text))


A, B, WORDS = turn("a", "1"), turn("b", "2"), turn()
STEPS = st.lists(
    st.builds(
        turn, st.sampled_from([None, "a", "b"]), st.sampled_from("12"), is_error=st.booleans()
    )
)


@pytest.mark.parametrize(
    ("turns", "seen"),
    [
        ([A] * 4, "the same call had the same result"),
        ([A] * 3, ""),
        ([A, A, B, A, A], ""),
        ([turn("a", str(n)) for n in range(9)], ""),
        ([turn(n, "no", is_error=True) for n in "abc"], "the same error"),
        ([turn(n, "no", is_error=True) for n in "ab"], ""),
        ([turn(n, "fine") for n in "abc"], ""),
        ([WORDS] * 3, "3 answers in a row called no tool"),
        ([WORDS, A, WORDS, WORDS], ""),
        ([A, B] * 3, "the same two steps"),
        ([B, A, B, A, B], ""),
        ([A, B, A, B, A, turn("b", "3")], ""),
        ([A, A, A, turn("a", "1", told="Only 5 turns are left.")], "the same call"),
    ],
)
def test_the_patterns(turns: list[Turn], seen: str) -> None:
    """Each of them at its length, and not one step before."""
    assert circle_in(turns).startswith(seen)
    assert bool(circle_in(turns)) is bool(seen)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2 passed in 0.01s", "2 passed in 12.7s", True),
        ("at 10:00:01,5 ok", "at 23:59:59 ok", True),
        ("<A object at 0x7f01>", "<A object at 0x7fff>", True),
        ("2 passed in 0.01s", "3 passed in 0.01s", False),
        ("step 1 of 9", "step 2 of 9", False),
    ],
)
def test_noise_does_not_hide_a_circle(one: str, other: str, *, same: bool) -> None:
    """The second run of a test takes another time; a count that moves is progress."""
    turns = [turn("pytest", one), turn("pytest", other)] * 2
    assert bool(circle_in(turns)) is same


@given(STEPS, STEPS)
def test_only_the_end_counts(before: list[Turn], turns: list[Turn]) -> None:
    """What was long ago changes nothing."""
    last = turns[-LONGEST:]
    if len(last) == LONGEST:
        assert circle_in([*before, *last]) == circle_in(last)


@given(STEPS)
def test_a_new_result_of_a_new_call_is_never_a_circle(turns: list[Turn]) -> None:
    """One step that was not there before clears every pattern."""
    assert circle_in([*turns, turn("new", "never seen")]) == ""


@given(st.lists(st.sampled_from([A, B]), min_size=LONGEST, max_size=LONGEST), st.integers(1, 4))
def test_repeating_for_ever_is_always_seen(turns: list[Turn], period: int) -> None:
    """One or two steps over and over end up as a circle, wherever they began."""
    cycle = turns[: min(period, 2)]
    assert circle_in([*turns, *cycle * LONGEST]) != ""


@given(st.lists(st.integers(1, 9), min_size=1, max_size=80))
def test_warnings_are_few(gaps: list[int]) -> None:
    """However the circles come, the third warning is the last."""
    warned, at = Warned(), 0
    for gap in gaps:
        at += gap
        if not warned.is_final(at):
            warned = warned.again(at)
    assert 1 <= warned.count <= MAX_WARNINGS
