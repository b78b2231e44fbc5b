"""One rate for everybody: bursts are bounded and pauses hold."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model.pace import LocalPace, Rate


@given(st.floats(1, 600), st.lists(st.floats(0, 30), min_size=1, max_size=40))
def test_no_window_has_more_calls_than_the_rate_allows(
    per_minute: float, gaps: list[float]
) -> None:
    """Whoever waits as told starts at most a burst more than the rate in any stretch of time."""
    now, rate = 0.0, Rate(per_minute)
    pace = LocalPace(rate, clock=lambda: now)
    starts = []
    for gap in gaps:
        now += gap
        starts.append(now + asyncio.run(pace.turn()))
    for first, begin in enumerate(starts):
        for count, end in enumerate(starts[first:], 1):
            allowed = (end - begin + rate.burst_s) / rate.interval_s + 1
            assert count <= allowed + 1e-6


async def test_without_a_rate_only_pauses_count() -> None:
    """Calls start at once until the provider asks for a pause, and after it."""
    now = 100.0
    pace = LocalPace(Rate(), clock=lambda: now)
    assert [await pace.turn() for _ in range(50)] == [0.0] * 50
    await pace.hold(5.0)
    assert await pace.turn() == pytest.approx(5.0)
    now += 2.0
    assert await pace.turn() == pytest.approx(3.0)
    now += 3.0
    assert await pace.turn() == 0.0
