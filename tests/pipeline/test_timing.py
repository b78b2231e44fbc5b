"""Which items a run waited for, by when they began and ended."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.timing import Span, critical_path, spans_in, told

RUN = (
    Span("environment/environment", 0, 5),
    Span("global/G1", 5, 20),
    Span("global/G2", 20, 30),
    Span("local/L1.1", 30, 40),
    Span("local/L2.1", 30, 45),
    Span("local/L1.2", 40, 44),
    Span("synthesis/S1", 45, 60),
    Span("code/G1", 60, 70),
    Span("code/G2", 60, 90),
    Span("code/S1", 70, 95),
    Span("verify/G1", 95, 99),
    Span("verify/S1", 95, 120),
    Span("vote/decision", 120, 120),
)


def test_the_chain_of_a_run() -> None:
    """The slower branch, the coder that waited for a place behind a fast one, the slow check."""
    assert [each.item for each in critical_path(RUN)] == [
        *("environment/environment", "global/G1", "global/G2", "local/L2.1", "synthesis/S1"),
        *("code/G1", "code/S1", "verify/S1", "vote/decision"),
    ]


@pytest.mark.parametrize(
    ("first", "second", "other"),
    [("global/G1", "global/G2", "local/L9.1"), ("local/L1.1", "local/L1.2", "local/L2.1")],
)
def test_a_sequence_follows_itself(first: str, second: str, other: str) -> None:
    """Not what happened to end a moment later."""
    chain = critical_path([Span(first, 0, 9), Span(other, 0, 9.9), Span(second, 10, 20)])
    assert [each.item for each in chain] == [first, second]


SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=20).map(
    lambda rows: [Span(f"code/X{n}", at, at + took) for n, (at, took) in enumerate(rows)]
)


@given(SPANS)
def test_no_chain_is_longer_than_the_run(spans: list[Span]) -> None:
    """Its items follow each other without overlap, and the last one ends the run."""
    chain = critical_path(spans)
    assert all(one.end <= other.start for one, other in pairwise(chain))
    assert chain[-1].end == max(each.end for each in spans)
    assert sum(each.seconds for each in chain) <= chain[-1].end - min(each.start for each in spans)


@given(SPANS)
def test_the_order_of_items_does_not_matter(spans: list[Span]) -> None:
    """A ledger lists them in another order than a file."""
    assert critical_path(spans[::-1]) == critical_path(spans)


def test_a_journal_without_times_has_no_chain() -> None:
    """Journals of before are read as they are; what was not finished is left out."""
    old = [{"event": "start", "item": "global/G1"}, {"event": "finish", "item": "global/G1"}]
    open_ = [{"event": "start", "item": "global/G2", "at": 1.0}]
    assert spans_in([*old, *open_]) == ()
    assert critical_path(()) == ()
    assert told(()) == ""


def test_only_the_last_attempt_counts() -> None:
    """Between an attempt that was lost and the next one nobody worked."""
    events = [
        {"event": "start", "item": "global/G1", "at": 1.0},
        {"event": "start", "item": "global/G1", "at": 100.0},
        {"event": "finish", "item": "global/G1", "at": 105.5},
    ]
    assert told(spans_in(events)) == (
        "Critical path: global/G1 5.5 s; 5.5 s of 5.5 s. All 1 items took 5.5 s."
    )


def test_a_long_chain_is_told_by_stage() -> None:
    """Each stage with the number of its items."""
    spans = [Span(f"code/X{n}", n * 60, n * 60 + 60) for n in range(14)]
    assert told(spans).startswith("Critical path: code ×14 14 min; 14 min of 14 min.")
