"""Weight goes along names that few define, and neither appears nor gets lost."""

import numpy as np
import pytest

from pipeline.index.rank.tokens import number
from pipeline.index.rank.walk import links, walk


def _used(*names: str) -> np.ndarray:
    return np.array([number("=" + name) for name in names], np.uint32)


def test_reaches_what_the_seed_names() -> None:
    """A unit that is named by the seed gets weight, one that nobody names gets none."""
    graph = links(np.array([0]), _used("total"), {"run": (0,), "total": (1,), "other": (2,)}, 3)
    near, reached = walk(graph, np.array([1.0, 0.0, 0.0]))
    assert near[0] > near[1] > near[2] == 0
    assert reached[1] > 0


def test_common_names_are_no_edges() -> None:
    """A name that seven units define leads nowhere."""
    units = tuple(range(1, 8))
    graph = links(np.array([0]), _used("get"), {"get": units}, 8)
    assert not len(graph.sources)


def test_a_unit_is_no_neighbour_of_itself() -> None:
    """Recursion is no edge."""
    assert not len(links(np.array([0]), _used("f"), {"f": (0,)}, 1).sources)


def test_weight_is_kept() -> None:
    """In a ring no weight is lost, and none is made."""
    names = ["a", "b", "c"]
    graph = links(
        np.arange(3), _used("b", "c", "a"), {each: (at,) for at, each in enumerate(names)}, 3
    )
    near, _ = walk(graph, np.array([1.0, 0.5, 0.0]))
    assert near.sum() == pytest.approx(1.0)


def test_nothing_to_start_from() -> None:
    """Without seeds there is nothing, and no division by zero."""
    near, reached = walk(links(np.arange(0), _used(), {}, 2), np.zeros(2))
    assert not near.any()
    assert not reached.any()


def test_only_unknown_names() -> None:
    """Names that nobody defines are no edges."""
    assert not len(links(np.array([0]), _used("print"), {"f": (0,)}, 1).sources)
