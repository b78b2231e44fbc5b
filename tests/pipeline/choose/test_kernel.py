"""How near patches are, and what the soft vote makes of it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.choose.kernel import similarity, soft_scores
from pipeline.choose.lineage import effective, independent
from pipeline.values import Edit

names = st.sampled_from(["a", "b", "c", "d"])
edits = st.builds(
    lambda key, files, symbols, pieces: Edit(
        key, tuple(sorted(files)), tuple(sorted(symbols)), tuple(sorted(pieces.items()))
    ),
    names,
    st.sets(names, min_size=1),
    st.sets(names),
    st.dictionaries(names, st.integers(1, 3)),
)
letters = st.sampled_from(["A", "B", "C"])


@given(edits, edits)
def test_similarity_is_symmetric_and_between_nothing_and_all(one: Edit, other: Edit) -> None:
    """Equal keys are 1; nothing shared at all is 0."""
    value = similarity(one, other)
    assert 0 <= value <= 1
    assert value == pytest.approx(similarity(other, one))
    assert similarity(one, one) == 1


def test_each_third_counts() -> None:
    """Half the edit, one of two definitions, the same file: the mean of the three."""
    one = Edit("k1", ("f",), ("f:a", "f:b"), (("x", 2), ("y", 1)))
    other = Edit("k2", ("f",), ("f:a",), (("x", 1), ("y", 2)))
    assert similarity(one, other) == pytest.approx((2 / 4 + 1 / 2 + 1) / 3)


def test_unknown_definitions_take_no_part() -> None:
    """Where a language cannot be read, edit and files alone are compared."""
    one, other = Edit("k1", ("f",), (), (("x", 1),)), Edit("k2", ("f",), ("f:a",), (("x", 1),))
    assert similarity(one, other) == 1


@given(st.lists(st.tuples(edits, letters), max_size=5), st.permutations(["A", "B", "C"]))
def test_scores_depend_on_neither_order_nor_names(
    pool: list[tuple[Edit, str]], renamed: Sequence[str]
) -> None:
    """Shuffled candidates and lineages of other names have the scores they had."""
    ids = [str(number) for number in range(len(pool))]
    new = dict(zip("ABC", renamed, strict=True))

    def alike(a: str, b: str) -> float:
        return similarity(pool[int(a)][0], pool[int(b)][0])

    found = soft_scores(ids, alike, {i: (pool[int(i)][1],) for i in ids})
    again = soft_scores(ids[::-1], alike, {i: (new[pool[int(i)][1]],) for i in ids})
    assert again == pytest.approx(found)


def test_agreement_of_ones_own_kind_counts_half() -> None:
    """Two twins of one lineage lose to two equals of different ones."""
    alike = {("a", "b"): 1.0, ("c", "d"): 1.0}
    found = soft_scores(
        list("abcd"),
        lambda x, y: alike.get((x, y), 0.0),
        {"a": ("A",), "b": ("A",), "c": ("C",), "d": ("D",)},
    )
    assert found["a"] == pytest.approx(0.5 / 2.5)
    assert found["c"] == pytest.approx(1 / 3)
    assert soft_scores(["a"], lambda x, y: 1.0, {}) == {"a": 0.0}


@given(st.lists(st.sets(letters, min_size=1).map(sorted), max_size=6))
def test_lineages_are_counted_by_candidates_that_speak_for_them(owned: list[list[str]]) -> None:
    """Never more than candidates, never more than lineages, and more candidates never fewer."""
    count = independent(owned)
    assert count <= min(len(owned), len({name for each in owned for name in each}))
    assert count >= independent(owned[1:])
    assert effective(owned) <= len(owned) + 1e-9


def test_a_synthesis_does_not_stand_for_two() -> None:
    """Made from two it is one voice; beside one of its parents it speaks for the other."""
    assert independent([("G1", "G2")]) == 1
    assert independent([("G1", "G2"), ("G1",)]) == 2
    assert effective([("G1",), ("G1",), ("G2",)]) == pytest.approx(2**0.5 + 1)
